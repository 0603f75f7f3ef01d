#include "runtime/io/csv/unpack.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <memory>

#include "lang/diagnostic.h"
#include "runtime/io/os_error.h"

namespace gasell::csv {
namespace {

constexpr size_t kStep = 1 << 20;

[[noreturn]] void refuse_damaged(const std::filesystem::path& shown, const std::string& why) {
  throw Error("OSError", in_quotes(shown) + " is damaged: " + why, {}, Blame::environment);
}

}  // namespace

std::string unpack_gzip(std::string_view bytes, const std::filesystem::path& shown) {
  if (bytes.empty()) return {};
  if (!bytes.starts_with("\x1f\x8b")) {
    std::string start;
    for (const char c : bytes.substr(0, 2))
      start += c >= ' ' && c < 127 ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    throw Error("BadGzipFile", "Not a gzipped file (b'" + start + "')", "compression=None reads it as it is", Blame::environment);
  }
  std::string text;
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw Error("MemoryError", "zlib has no memory", {}, Blame::environment);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> close(&stream, inflateEnd);
  for (size_t at = 0;;) {
    if (stream.avail_in == 0) {
      const size_t step = std::min(bytes.size() - at, size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + at));
      stream.avail_in = static_cast<uInt>(step);
      at += step;
    }
    const size_t before = text.size();
    text.resize(before + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = kStep;
    const int result = inflate(&stream, Z_NO_FLUSH);
    text.resize(before + kStep - stream.avail_out);
    const bool read_all = stream.avail_in == 0 && at == bytes.size();
    if (result == Z_STREAM_END) {
      // Another member, or the end; zeros behind the last one are padding.
      while (stream.avail_in > 0 && *stream.next_in == 0) {
        ++stream.next_in;
        --stream.avail_in;
      }
      if (stream.avail_in == 0 && at == bytes.size()) return text;
      inflateReset(&stream);
    } else if (result == Z_BUF_ERROR || (result == Z_OK && read_all && stream.avail_out > 0)) {
      throw Error("EOFError", "Compressed file ended before the end-of-stream marker was reached", in_quotes(shown) + " is cut",
                  Blame::environment);
    } else if (result != Z_OK) {
      refuse_damaged(shown, stream.msg ? stream.msg : "zlib error " + std::to_string(result));
    }
  }
}

std::string unpack_zstd(std::string_view bytes, const std::filesystem::path& shown) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  std::string text;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t left = 0;
  while (in.pos < in.size || left != 0) {
    const size_t before = text.size(), read = in.pos;
    text.resize(before + kStep);
    ZSTD_outBuffer out{text.data() + before, kStep, 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    text.resize(before + out.pos);
    if (ZSTD_isError(left)) refuse_damaged(shown, ZSTD_getErrorName(left));
    if (in.pos == in.size && in.pos == read && out.pos < out.size) {
      if (left == 0) break;
      throw Error("EOFError", "Compressed file ended before the end-of-stream marker was reached", in_quotes(shown) + " is cut",
                  Blame::environment);
    }
  }
  return text;
}

std::string pack_gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error("MemoryError", "zlib has no memory", {}, Blame::environment);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> close(&stream, deflateEnd);
  std::string packed;
  size_t at = 0;
  for (int result = Z_OK; result != Z_STREAM_END;) {
    if (stream.avail_in == 0 && at < bytes.size()) {
      const size_t step = std::min(bytes.size() - at, size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + at));
      stream.avail_in = static_cast<uInt>(step);
      at += step;
    }
    const size_t before = packed.size();
    packed.resize(before + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + before);
    stream.avail_out = kStep;
    result = deflate(&stream, at == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    packed.resize(before + kStep - stream.avail_out);
  }
  return packed;
}

std::string pack_zstd(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

}  // namespace gasell::csv
