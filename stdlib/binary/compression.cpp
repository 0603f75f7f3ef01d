// Deflate streams, over zlib; zlib/core.gsl is the module.
#include <zlib.h>

#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/bytes.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const Type& zlib_error() {
  static const Type made{"error", "zlib", exception_type("Exception"), {}, {}};
  return made;
}
[[noreturn]] void fail(int code, const char* message, std::string_view doing) {
  const char* words = message                  ? message
                      : code == Z_BUF_ERROR    ? "incomplete or truncated stream"
                      : code == Z_STREAM_ERROR ? "inconsistent stream state"
                      : code == Z_DATA_ERROR   ? "invalid input data"
                                               : nullptr;
  std::string text = fmt::format("Error {} {}", code, doing);
  if (words) text += fmt::format(": {}", words);
  throw Raised(Value::make<Exception>(zlib_error(), std::vector<Value>{make_str(std::move(text))}));
}

constexpr size_t kPiece = 1 << 18;
Bytef* input_of(std::string_view bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); }

class Compressor final : public Object {
 public:
  Compressor(int level, int wbits, int memory, int strategy) {
    const int code = deflateInit2(&stream_, level, Z_DEFLATED, wbits, memory, strategy);
    if (code == Z_STREAM_ERROR) raise("ValueError", "Invalid initialization option");
    if (code != Z_OK) fail(code, stream_.msg, "while creating compression object");
  }
  ~Compressor() override { deflateEnd(&stream_); }
  const Type& type() const override;

  std::string run(Interpreter& in, std::string_view bytes, int flush) {
    std::string out;
    do {  // zlib counts input in 32 bits
      const std::string_view part = bytes.substr(0, size_t{1} << 30);
      bytes.remove_prefix(part.size());
      stream_.next_in = input_of(part);
      stream_.avail_in = static_cast<uInt>(part.size());
      const int how = bytes.empty() ? flush : Z_NO_FLUSH;
      int code = Z_OK;
      do {
        const size_t before = out.size();
        require_memory(in, static_cast<int64_t>(before + kPiece));
        out.resize(before + kPiece);
        stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
        stream_.avail_out = kPiece;
        code = deflate(&stream_, how);
        out.resize(before + kPiece - stream_.avail_out);
        poll_now(in);
        if (code == Z_STREAM_ERROR) fail(code, stream_.msg, how == Z_FINISH ? "while finishing compression" : "while compressing data");
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
    return out;
  }

 private:
  z_stream stream_{};
};

class Decompressor final : public Object {
 public:
  explicit Decompressor(int wbits) {
    const int code = inflateInit2(&stream_, wbits);
    if (code == Z_STREAM_ERROR) raise("ValueError", "Invalid initialization option");
    if (code != Z_OK) fail(code, stream_.msg, "while creating decompression object");
  }
  ~Decompressor() override { inflateEnd(&stream_); }
  const Type& type() const override;

  /// At most so many bytes; 0: all there are. What was not used is in `tail` (the limit) or `behind` (the stream's end).
  std::string run(Interpreter& in, std::string_view bytes, size_t most) {
    std::string out;
    tail.clear();
    while (!ended) {
      const std::string_view part = bytes.substr(0, size_t{1} << 30);
      stream_.next_in = input_of(part);
      stream_.avail_in = static_cast<uInt>(part.size());
      const size_t before = out.size(), room = most ? std::min(kPiece, most - before) : kPiece;
      require_memory(in, static_cast<int64_t>(before + room));
      out.resize(before + room);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(room);
      const int code = inflate(&stream_, Z_SYNC_FLUSH);
      out.resize(before + room - stream_.avail_out);
      bytes.remove_prefix(part.size() - stream_.avail_in);
      poll_now(in);
      if (code == Z_STREAM_END) {
        ended = true;
        behind += bytes;
        return out;
      }
      if (code == Z_NEED_DICT || (code != Z_OK && code != Z_BUF_ERROR)) fail(code, stream_.msg, "while decompressing data");
      if (most && out.size() == most) {
        tail = bytes;
        return out;
      }
      if (bytes.empty() && stream_.avail_out > 0) return out;
    }
    behind += bytes;
    return out;
  }

  bool ended = false;
  std::string tail, behind;

 private:
  z_stream stream_{};
};

Value flush_compressor(Interpreter& in, Args a) {
  return make_bytes(a[0].as<Compressor>()->run(in, {}, is_missing(a[1]) ? Z_FINISH : static_cast<int>(to_index(in, a[1]))));
}
Value decompress_part(Interpreter& in, Args a) {
  const int64_t most = to_index(in, a[2]);
  if (most < 0) raise("ValueError", "max_length must be non-negative");
  return make_bytes(a[0].as<Decompressor>()->run(in, need_bytes(a[1]), static_cast<size_t>(most)));
}
Value flush_decompressor(Interpreter& in, Args a) {
  auto& d = *a[0].as<Decompressor>();
  return make_bytes(d.run(in, std::string(d.tail), 0));
}

const Type& Compressor::type() const {
  static const Type type{"Compress",
                         "zlib",
                         &object_type(),
                         {{"compress", "self, data, /",
                           [](Interpreter& in, Args a) { return make_bytes(a[0].as<Compressor>()->run(in, need_bytes(a[1]), Z_NO_FLUSH)); },
                           "Takes bytes; what is compressed of them so far."},
                          {"flush", "self, mode=missing, /", flush_compressor, "The rest."}},
                         {}};
  return type;
}
const Type& Decompressor::type() const {
  static const Type type{"Decompress",
                         "zlib",
                         &object_type(),
                         {{"decompress", "self, data, /, max_length=0", decompress_part, "Takes bytes; what they stand for."},
                          {"flush", "self, length=missing, /", flush_decompressor, "The rest."}},
                         {{"eof", [](Interpreter&, const Value& d) { return Value::of(d.as<Decompressor>()->ended); }, nullptr,
                           "Whether the stream has ended."},
                          {"unused_data", [](Interpreter&, const Value& d) { return make_bytes(d.as<Decompressor>()->behind); }, nullptr,
                           "Bytes behind the stream's end."},
                          {"unconsumed_tail", [](Interpreter&, const Value& d) { return make_bytes(d.as<Decompressor>()->tail); }, nullptr,
                           "Bytes that max_length left."}}};
  return type;
}

int int_of(Interpreter& in, const Value& v) { return static_cast<int>(std::clamp<int64_t>(to_index(in, v), INT32_MIN, INT32_MAX)); }

Value compress(Interpreter& in, Args a) {
  const int level = int_of(in, a[1]);
  if (level < -1 || level > 9) throw Raised(Value::make<Exception>(zlib_error(), std::vector<Value>{make_str("Bad compression level")}));
  return make_bytes(Compressor(level, int_of(in, a[2]), 8, Z_DEFAULT_STRATEGY).run(in, need_bytes(a[0]), Z_FINISH));
}

Value decompress(Interpreter& in, Args a) {
  Decompressor d(int_of(in, a[1]));
  std::string out = d.run(in, need_bytes(a[0]), 0);
  if (!d.ended) fail(Z_BUF_ERROR, nullptr, "while decompressing data");
  return make_bytes(std::move(out));
}

template <uLong (*f)(uLong, const Bytef*, z_size_t)>
Value checksum(Interpreter& in, Args a) {
  const std::string_view bytes = need_bytes(a[0]);
  const auto begin = static_cast<uLong>(to_index(in, a[1])) & 0xFFFFFFFF;
  return Value::of(static_cast<int64_t>(f(begin, input_of(bytes), bytes.size())));
}

}  // namespace

Value make_zlib_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"compress", "data, /, level=-1, wbits=15", compress, "Compressed bytes."},
      {"decompress", "data, /, wbits=15, bufsize=16384", decompress, "What compressed bytes stand for; zlib.error."},
      {"crc32", "data, value=0, /", checksum<crc32_z>, "The CRC-32 of bytes."},
      {"adler32", "data, value=1, /", checksum<adler32_z>, "The Adler-32 of bytes."},
      {"compressobj", "level=-1, method=8, wbits=15, memLevel=8, strategy=0",
       [](Interpreter& in, Args a) {
         return Value::make<Compressor>(int_of(in, a[0]), int_of(in, a[2]), int_of(in, a[3]), int_of(in, a[4]));
       },
       "Compresses part by part."},
      {"decompressobj", "wbits=15", [](Interpreter& in, Args a) { return Value::make<Decompressor>(int_of(in, a[0])); },
       "Decompresses part by part."},
  };
  Value module = make_module("_zlib", table);
  set_member(module, "error", type_object(zlib_error()));
  static const Type bad_file{"BadGzipFile", "gzip", exception_type("OSError"), {}, {}};  // library texts cannot derive a class from OSError
  set_member(module, "BadGzipFile", type_object(bad_file));
  return module;
}

}  // namespace gasell
