#include "runtime/session/binary_file.h"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <memory>

#include "runtime/session/bytes.h"
#include "runtime/session/file.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/objects.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

class BinaryFile final : public Object {
 public:
  BinaryFile(std::string p, std::string m, std::FILE* handle, bool readable, bool writable)
      : path(std::move(p)), mode(std::move(m)), readable(readable), writable(writable), handle_(handle) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override { return "<_io." + type().name + " name=" + str_repr(path) + ">"; }
  Value iterate(Interpreter&) override {
    need_open();
    return Value::of(this);
  }
  std::optional<Value> next(Interpreter& in) override {
    std::string line = read_line(in, -1);
    if (line.empty()) return {};
    return make_bytes(std::move(line));
  }
  Value enter(Interpreter&) override {
    need_open();
    return Value::of(this);
  }
  bool exit(Interpreter&, const Value&) override {
    close();
    return false;
  }

  bool closed() const { return !handle_; }

  /// So many bytes at most; negative: all that is left.
  std::string read(Interpreter& in, int64_t size) {
    turn_to(Last::read);
    std::string out;
    constexpr size_t kPiece = 1 << 20;
    while (size < 0 || static_cast<int64_t>(out.size()) < size) {
      const size_t before = out.size(), wanted = size < 0 ? kPiece : std::min(kPiece, static_cast<size_t>(size) - before);
      require_memory(in, static_cast<int64_t>(before + wanted));
      out.resize(before + wanted);
      const size_t got = std::fread(out.data() + before, 1, wanted, handle_.get());
      out.resize(before + got);
      if (got < wanted) break;
      poll_now(in);
    }
    if (std::ferror(handle_.get())) raise_os_error(errno, path);
    return out;
  }

  std::string read_line(Interpreter& in, int64_t limit) {
    turn_to(Last::read);
    poll(in);
    std::string out;
    while (limit < 0 || static_cast<int64_t>(out.size()) < limit) {
      const int c = std::getc(handle_.get());
      if (c == EOF) break;
      out += static_cast<char>(c);
      if (c == '\n') break;
    }
    if (std::ferror(handle_.get())) raise_os_error(errno, path);
    return out;
  }

  void write(std::string_view bytes) {
    turn_to(Last::write);
    if (std::fwrite(bytes.data(), 1, bytes.size(), handle_.get()) != bytes.size()) raise_os_error(errno);
  }
  void flush() {
    need_open();
    if (writable && std::fflush(handle_.get()) != 0) raise_os_error(errno);
  }
  void close() {
    if (handle_ && std::fclose(handle_.release()) != 0) raise_os_error(errno);
  }
  int64_t seek(int64_t offset, int64_t whence) {
    need_open();
    if (whence < 0 || whence > 2) raise("ValueError", "invalid whence (" + std::to_string(whence) + ", should be 0, 1 or 2)");
    if (::fseeko(handle_.get(), offset, whence == 0 ? SEEK_SET : whence == 1 ? SEEK_CUR : SEEK_END) != 0) raise_os_error(errno);
    last_ = Last::none;
    return tell();
  }
  int64_t tell() {
    need_open();
    const int64_t at = ::ftello(handle_.get());
    if (at < 0) raise_os_error(errno);
    return at;
  }
  int64_t truncate(std::optional<int64_t> size) {
    if (!writable) raise_unsupported("truncate");
    flush();
    const int64_t wanted = size ? *size : tell();
    if (::ftruncate(::fileno(handle_.get()), wanted) != 0) raise_os_error(errno);
    return wanted;
  }

  const std::string path, mode;
  const bool readable, writable;

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  enum class Last : uint8_t { none, read, write };
  void need_open() const {
    if (!handle_) raise("ValueError", "I/O operation on closed file.");
  }
  void turn_to(Last operation) {
    need_open();
    if (operation == Last::read && !readable) raise_unsupported("read");
    if (operation == Last::write && !writable) raise_unsupported("write");
    if (last_ != Last::none && last_ != operation) std::fseek(handle_.get(), 0, SEEK_CUR);  // C asks for it between the two
    last_ = operation;
  }

  std::unique_ptr<std::FILE, Close> handle_;
  Last last_ = Last::none;
};

BinaryFile& file_of(Args args) { return *args[0].as<BinaryFile>(); }
int64_t size_argument(Interpreter& in, const Value& v) { return v.is_none() ? -1 : to_index(in, v); }

Value read_lines(Interpreter& in, Args args) {
  const int64_t hint = size_argument(in, args[1]);
  std::vector<Value> lines;
  int64_t total = 0;
  while (hint <= 0 || total < hint) {
    std::string line = file_of(args).read_line(in, -1);
    if (line.empty()) break;
    total += static_cast<int64_t>(line.size());
    lines.push_back(make_bytes(std::move(line)));
  }
  return make_list(std::move(lines));
}

Value write(Interpreter&, Args args) {
  const std::string_view bytes = need_bytes(args[1]);
  file_of(args).write(bytes);
  return Value::of(static_cast<int64_t>(bytes.size()));
}

Value write_lines(Interpreter& in, Args args) {
  const Value lines = iterate(in, args[1]);
  while (const auto line = next(in, lines)) file_of(args).write(need_bytes(*line));
  return {};
}

Value read_into(Interpreter& in, Args args) {
  auto* buffer = args[1].as<ByteArray>();
  if (!buffer) raise("TypeError", "readinto() argument must be read-write bytes-like object, not " + type_of(args[1]).name);
  const std::string bytes = file_of(args).read(in, static_cast<int64_t>(buffer->value.size()));
  buffer->value.replace(0, bytes.size(), bytes);
  return Value::of(static_cast<int64_t>(bytes.size()));
}

Type file_type_named(const char* name) {
  return {
      name,
      "_io",
      &object_type(),
      {{"read", "self, size=-1, /", [](Interpreter& in, Args a) { return make_bytes(file_of(a).read(in, size_argument(in, a[1]))); },
        "Up to size bytes, all by default."},
       {"readline", "self, size=-1, /",
        [](Interpreter& in, Args a) { return make_bytes(file_of(a).read_line(in, size_argument(in, a[1]))); },
        "The bytes up to the next line feed."},
       {"readlines", "self, hint=-1, /", read_lines, "The lines that are left, as a list."},
       {"readinto", "self, buffer, /", read_into, "Fills a bytearray; how many bytes."},
       {"write", "self, data, /", write, "Writes bytes; how many."},
       {"writelines", "self, lines, /", write_lines, "Writes the bytes of an iterable."},
       {"flush", "self, /", [](Interpreter&, Args a) { return file_of(a).flush(), Value(); }, "Hands on what was written to the system."},
       {"close", "self, /", [](Interpreter&, Args a) { return file_of(a).close(), Value(); },
        "Flushes and closes; OSError when the disk is full."},
       {"seek", "self, offset, whence=0, /",
        [](Interpreter& in, Args a) { return Value::of(file_of(a).seek(to_index(in, a[1]), to_index(in, a[2]))); },
        "Moves to a position from the beginning, from here (whence=1) or from the end (2)."},
       {"tell", "self, /", [](Interpreter&, Args a) { return Value::of(file_of(a).tell()); }, "The position."},
       {"truncate", "self, pos=None, /",
        [](Interpreter& in, Args a) {
          return Value::of(file_of(a).truncate(a[1].is_none() ? std::optional<int64_t>() : to_index(in, a[1])));
        },
        "Cuts the file at the position, or at pos."},
       {"readable", "self, /", [](Interpreter&, Args a) { return Value::of(file_of(a).readable); }, "Whether it can be read."},
       {"writable", "self, /", [](Interpreter&, Args a) { return Value::of(file_of(a).writable); }, "Whether it can be written."},
       {"seekable", "self, /", [](Interpreter&, Args) { return Value::of(true); }, "True."},
       {"isatty", "self, /", [](Interpreter&, Args) { return Value::of(false); }, "False."}},
      {{"closed", [](Interpreter&, const Value& f) { return Value::of(f.as<BinaryFile>()->closed()); }, nullptr, "Whether it is closed."},
       {"name", [](Interpreter&, const Value& f) { return make_str(f.as<BinaryFile>()->path); }, nullptr, "The path it was opened with."},
       {"mode", [](Interpreter&, const Value& f) { return make_str(f.as<BinaryFile>()->mode); }, nullptr, "The mode it was opened with."}}};
}

const Type& BinaryFile::type() const {
  static const Type reader = file_type_named("BufferedReader"), writer = file_type_named("BufferedWriter"),
                    both = file_type_named("BufferedRandom");
  return readable && writable ? both : readable ? reader : writer;
}

}  // namespace

Value make_binary_file(std::string path, std::string mode, std::FILE* handle, bool readable, bool writable) {
  // The mode as CPython tells it.
  const bool plus = mode.find('+') != mode.npos;
  const char kind = mode[mode.find_first_of("rwax")];
  std::string shown = plus ? (kind == 'x' ? "xb+" : kind == 'a' ? "ab+" : "rb+") : std::string(1, kind) + "b";
  return Value::make<BinaryFile>(std::move(path), std::move(shown), handle, readable, writable);
}

}  // namespace gasell
