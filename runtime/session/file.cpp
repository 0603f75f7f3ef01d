#include "runtime/session/file.h"
#include "runtime/device/sandbox.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "runtime/session/binary_file.h"
#include "runtime/session/bytes.h"
#include "runtime/session/error_output.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/str.h"
#include "runtime/session/str_text.h"
#include "runtime/session/text_codec.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

File& file_of(Args args) { return *args[0].as<File>(); }

const char* os_error_name(int code) {
  switch (code) {
    case ENOENT: return "FileNotFoundError";
    case EACCES:
    case EPERM: return "PermissionError";
    case EISDIR: return "IsADirectoryError";
    case ENOTDIR: return "NotADirectoryError";
    case EEXIST: return "FileExistsError";
    case EPIPE: return "BrokenPipeError";
    case EINTR: return "InterruptedError";
    default: return "OSError";
  }
}

/// UnicodeDecodeError, in CPython's words, for text that is no UTF-8.
void need_utf8(std::string_view text) {
  if (is_ascii(text)) return;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (c.value != kBadCodePoint) {
      at += static_cast<size_t>(c.length);
      continue;
    }
    const auto lead = static_cast<unsigned char>(text[at]);
    const bool starts = lead >= 0xC2 && lead <= 0xF4;
    const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    const char* why = !starts ? "invalid start byte" : at + size > text.size() ? "unexpected end of data" : "invalid continuation byte";
    raise("UnicodeDecodeError", fmt::format("'utf-8' codec can't decode byte {:#04x} in position {}: {}", lead, at, why));
  }
}

int64_t size_argument(Interpreter& in, const Value& v) { return v.is_none() ? -1 : to_index(in, v); }

Value read(Interpreter& in, Args args) { return make_str(file_of(args).read(size_argument(in, args[1]))); }
Value read_line(Interpreter& in, Args args) { return make_str(file_of(args).read_line(size_argument(in, args[1]))); }

Value read_lines(Interpreter& in, Args args) {
  const int64_t hint = size_argument(in, args[1]);
  std::vector<Value> lines;
  int64_t total = 0;
  while (hint <= 0 || total < hint) {
    std::string line = file_of(args).read_line(-1);
    if (line.empty()) break;
    total += code_point_count(line);
    lines.push_back(make_str(std::move(line)));
  }
  return make_list(std::move(lines));
}

Value write(Interpreter&, Args args) {
  const std::string_view text = need_str(args[1], "write() argument must be str, not ");
  file_of(args).write(text);
  return Value::of(code_point_count(text));
}

Value write_lines(Interpreter& in, Args args) {
  const Value lines = iterate(in, args[1]);
  while (const auto line = next(in, lines)) file_of(args).write(need_str(*line, "write() argument must be str, not "));
  return {};
}

Value seek(Interpreter& in, Args args) {
  return Value::of(file_of(args).seek(to_index(in, args[1]), static_cast<int>(to_index(in, args[2]))));
}

class StreamObject final : public Object {
 public:
  explicit StreamObject(StandardStream which) : which_(which) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override {
    return std::string("<_io.TextIOWrapper name='") + name() + "' mode='" + (which_ == StandardStream::in ? "r" : "w") +
           "' encoding='utf-8'>";
  }
  const char* name() const { return which_ == StandardStream::in ? "<stdin>" : which_ == StandardStream::out ? "<stdout>" : "<stderr>"; }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter& in) override {
    std::string line = read_line(in);
    if (line.empty()) return std::nullopt;
    return make_str(std::move(line));
  }
  std::string read_line(Interpreter& in) {
    if (which_ != StandardStream::in) raise_unsupported("not readable");
    const auto line = in.read_line ? in.read_line("") : std::nullopt;
    return line ? *line + "\n" : "";
  }
  void write(Interpreter& in, std::string_view text) {
    if (which_ == StandardStream::in) raise_unsupported("not writable");
    if (which_ == StandardStream::out)
      in.write_out(text);
    else
      write_error(text);
  }

 private:
  StandardStream which_;
};

StreamObject& stream_of(Args args) { return *args[0].as<StreamObject>(); }

const Type& stream_type() {
  static const Type t{
      "TextIOWrapper",
      "_io",
      &object_type(),
      {{"write", "self, text, /",
        [](Interpreter& in, Args a) {
          const std::string_view text = need_str(a[1], "write() argument must be str, not ");
          stream_of(a).write(in, text);
          return Value::of(code_point_count(text));
        },
        "Writes text; the number of characters."},
       {"readline", "self, size=-1, /", [](Interpreter& in, Args a) { return make_str(stream_of(a).read_line(in)); }, "The next line."},
       {"read", "self, size=-1, /",
        [](Interpreter& in, Args a) {
          std::string all;
          for (std::string line; !(line = stream_of(a).read_line(in)).empty();) all += line;
          return make_str(std::move(all));
        },
        "All that is left."},
       {"readlines", "self, hint=-1, /",
        [](Interpreter& in, Args a) {
          std::vector<Value> lines;
          while (auto line = stream_of(a).next(in)) lines.push_back(std::move(*line));
          return make_list(std::move(lines));
        },
        "The lines that are left."},
       {"isatty", "self, /", [](Interpreter&, Args) { return Value::of(false); }, "False."},
       {"flush", "self, /",
        [](Interpreter&, Args) {
          std::fflush(stdout);
          return Value();
        },
        "Hands on what was written."}},
      {{"name", [](Interpreter&, const Value& s) { return make_str(s.as<StreamObject>()->name()); }, nullptr,
        "<stdin>, <stdout> or <stderr>."},
       {"closed", [](Interpreter&, const Value&) { return Value::of(false); }, nullptr, "False."},
       {"encoding", [](Interpreter&, const Value&) { return make_str("utf-8"); }, nullptr, "utf-8."}}};
  return t;
}
const Type& StreamObject::type() const { return stream_type(); }

}  // namespace

Value file_system_path(Interpreter& in, const Value& path) {
  if (path.as<Str>() || path.as<Bytes>()) return path;
  if (path.is_object() && !path.as<TypeObject>() && has_attribute(in, path, "__fspath__")) {
    const Value text = call(in, get_attribute(in, path, "__fspath__"), {});
    if (text.as<Str>() || text.as<Bytes>()) return text;
    raise("TypeError", fmt::format("expected {}.__fspath__() to return str or bytes, not {}", type_of(path).name, type_of(text).name));
  }
  raise("TypeError", "expected str, bytes or os.PathLike object, not " + type_of(path).name);
}

std::string path_text(Interpreter& in, const Value& path) {
  const Value text = file_system_path(in, path);
  const auto* bytes = text.as<Bytes>();
  return bytes ? decode_bytes(bytes->value, "utf-8", "surrogateescape") : text.as<Str>()->value;
}

const Type& unsupported_operation() {
  static const Type& type = []() -> const Type& {
    static Type made{"UnsupportedOperation", "io", exception_type("OSError"), {}, {}};
    made.second_base = exception_type("ValueError");
    register_exception(made);
    return made;
  }();
  return type;
}

void raise_unsupported(std::string message) {
  throw Raised(Value::make<Exception>(unsupported_operation(), std::vector<Value>{make_str(std::move(message))}));
}

void raise_os_error(int code, std::optional<std::string_view> path) {
  std::vector<Value> args{Value::of(code), make_str(std::strerror(code))};
  if (path) args.push_back(make_str(std::string(*path)));
  throw Raised(Value::make<Exception>(*exception_type(os_error_name(code)), std::move(args)));
}

File::File(std::string p, std::string m, std::string e, std::FILE* handle, bool readable, bool writable, bool translate)
    : path(std::move(p)),
      mode(std::move(m)),
      encoding(std::move(e)),
      handle_(handle),
      readable_(readable),
      writable_(writable),
      translate_(translate) {}

const Type& file_type() {
  static const Type t{
      "TextIOWrapper",
      "_io",
      &object_type(),
      {{"read", "self, size=-1, /", read, "Up to size characters, all by default."},
       {"readline", "self, size=-1, /", read_line, "The next line with its end; '' at the end of the file."},
       {"readlines", "self, hint=-1, /", read_lines, "The lines that are left, as a list."},
       {"write", "self, text, /", write, "Writes text; the number of characters."},
       {"writelines", "self, lines, /", write_lines, "Writes the strings of an iterable."},
       {"flush", "self, /", [](Interpreter&, Args a) { return file_of(a).flush(), Value(); }, "Hands on what was written to the system."},
       {"close", "self, /", [](Interpreter&, Args a) { return file_of(a).close(), Value(); },
        "Flushes and closes; OSError when the disk is full."},
       {"seek", "self, offset, whence=0, /", seek, "Moves to a position that tell() gave."},
       {"tell", "self, /", [](Interpreter&, Args a) { return Value::of(file_of(a).tell()); }, "The position."},
       {"readable", "self, /", [](Interpreter&, Args a) { return Value::of(file_of(a).readable()); }, "Whether it can be read."},
       {"writable", "self, /", [](Interpreter&, Args a) { return Value::of(file_of(a).writable()); }, "Whether it can be written."},
       {"seekable", "self, /", [](Interpreter&, Args) { return Value::of(true); }, "True."},
       {"isatty", "self, /", [](Interpreter&, Args) { return Value::of(false); }, "False."}},
      {{"closed", [](Interpreter&, const Value& f) { return Value::of(f.as<File>()->closed()); }, nullptr, "Whether it is closed."},
       {"name", [](Interpreter&, const Value& f) { return make_str(f.as<File>()->path); }, nullptr, "The path it was opened with."},
       {"mode", [](Interpreter&, const Value& f) { return make_str(f.as<File>()->mode); }, nullptr, "The mode it was opened with."},
       {"encoding", [](Interpreter&, const Value& f) { return make_str(f.as<File>()->encoding); }, nullptr, "How text is stored: UTF-8."}}};
  return t;
}

const Type& File::type() const { return file_type(); }
std::string File::repr(Interpreter&) {
  return "<_io.TextIOWrapper name=" + str_repr(path) + " mode=" + str_repr(mode) + " encoding=" + str_repr(encoding) + ">";
}

void File::need_open() const {
  if (!handle_) raise("ValueError", "I/O operation on closed file.");
}

Value File::iterate(Interpreter&) {
  need_open();
  return Value::of(this);
}

std::optional<Value> File::next(Interpreter&) {
  std::string line = read_line(-1);
  if (line.empty()) return std::nullopt;
  return make_str(std::move(line));
}

Value File::enter(Interpreter&) {
  need_open();
  return Value::of(this);
}

bool File::exit(Interpreter&, const Value&) {
  close();
  return false;
}

void File::turn_to(Last operation) {
  need_open();
  if (operation == Last::read && !readable_) raise_unsupported("not readable");
  if (operation == Last::write && !writable_) raise_unsupported("not writable");
  if (last_ != Last::none && last_ != operation) std::fseek(handle_.get(), 0, SEEK_CUR);  // C asks for it between the two
  last_ = operation;
}

int File::next_byte() {
  int c = std::getc(handle_.get());
  if (c == '\r' && translate_) {
    c = std::getc(handle_.get());
    if (c != '\n' && c != EOF) std::ungetc(c, handle_.get());
    c = '\n';
  }
  if (c == EOF && std::ferror(handle_.get())) raise_os_error(errno, path);
  return c;
}

std::string File::read(int64_t size) {
  turn_to(Last::read);
  std::string out;
  for (int64_t count = 0;;) {
    const int c = next_byte();
    if (c == EOF) break;
    if ((c & 0xC0) != 0x80 && count++ == size) {
      std::ungetc(c, handle_.get());
      break;
    }
    out += static_cast<char>(c);
  }
  need_utf8(out);
  return out;
}

std::string File::read_line(int64_t limit) {
  turn_to(Last::read);
  std::string out;
  for (int64_t count = 0; limit != 0;) {
    const int c = next_byte();
    if (c == EOF) break;
    if ((c & 0xC0) != 0x80 && count++ == limit) {
      std::ungetc(c, handle_.get());
      break;
    }
    out += static_cast<char>(c);
    if (c == '\n') break;
  }
  need_utf8(out);
  return out;
}

void File::write(std::string_view text) {
  turn_to(Last::write);
  if (std::fwrite(text.data(), 1, text.size(), handle_.get()) != text.size()) raise_os_error(errno);
}

void File::flush() {
  need_open();
  if (writable_ && std::fflush(handle_.get()) != 0) raise_os_error(errno);
}

void File::close() {
  if (handle_ && std::fclose(handle_.release()) != 0) raise_os_error(errno);
}

int64_t File::seek(int64_t offset, int whence) {
  need_open();
  if (whence < 0 || whence > 2) raise("ValueError", "invalid whence (" + std::to_string(whence) + ", should be 0, 1 or 2)");
  if (whence != 0 && offset != 0)
    raise_unsupported(whence == 1 ? "can't do nonzero cur-relative seeks" : "can't do nonzero end-relative seeks");
  if (offset < 0) raise("ValueError", "negative seek position " + std::to_string(offset));
  if (::fseeko(handle_.get(), offset, whence == 0 ? SEEK_SET : whence == 1 ? SEEK_CUR : SEEK_END) != 0) raise_os_error(errno);
  last_ = Last::none;
  return tell();
}

int64_t File::tell() {
  need_open();
  const int64_t at = ::ftello(handle_.get());
  if (at < 0) raise_os_error(errno);
  return at;
}

Value open_file(std::string_view path, std::string_view mode, std::string_view encoding, bool translate_newlines) {
  int kinds = 0;
  bool plus = false, text = false, binary = false;
  char kind = 0;
  for (size_t i = 0; i < mode.size(); ++i) {
    const char c = mode[i];
    if (std::string_view("rwax+tb").find(c) == std::string_view::npos || mode.find(c, i + 1) != mode.npos) {
      raise("ValueError", "invalid mode: '" + std::string(mode) + "'");
    }
    if (c == '+')
      plus = true;
    else if (c == 't')
      text = true;
    else if (c == 'b')
      binary = true;
    else
      kind = c, ++kinds;
  }
  if (text && binary) raise("ValueError", "can't have text and binary mode at once");
  if (kinds != 1) {
    raise("ValueError", kinds > 1 ? "must have exactly one of create/read/write/append mode"
                                  : "Must have exactly one of create/read/write/append mode and at most one plus");
  }
  const std::string file_path(path);
  if (kind == 'r' || plus) require_readable(file_path);
  if (kind != 'r' || plus) require_writable(file_path);
  struct ::stat info{};
  if (::stat(file_path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) raise_os_error(kind == 'x' ? EEXIST : EISDIR, path);
  std::string c_mode = kind == 'x' ? "wx" : std::string(1, kind);
  if (plus) c_mode.insert(1, "+");
  std::FILE* handle = std::fopen(file_path.c_str(), (c_mode + "e").c_str());
  if (!handle) raise_os_error(errno, path);
  if (binary) return make_binary_file(file_path, std::string(mode), handle, kind == 'r' || plus, kind != 'r' || plus);
  return Value::make<File>(file_path, std::string(mode), std::string(encoding), handle, kind == 'r' || plus, kind != 'r' || plus,
                           translate_newlines);
}

Value make_standard_stream(StandardStream which) { return Value::make<StreamObject>(which); }

}  // namespace gasell
