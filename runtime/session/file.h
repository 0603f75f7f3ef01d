// File objects: what open() returns, and the standard streams.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/session/objects.h"

namespace gasell {

/// Raises the OSError of a system error number: "[Errno 2] No such file or directory: 'x'".
[[noreturn]] void raise_os_error(int code, std::optional<std::string_view> path = {});

/// The text of a path, or bytes: those themselves, or what __fspath__() gives. TypeError.
Value file_system_path(Interpreter& in, const Value& path);
/// The same as text.
std::string path_text(Interpreter& in, const Value& path);

/// io.UnsupportedOperation: an OSError and a ValueError.
const Type& unsupported_operation();
[[noreturn]] void raise_unsupported(std::string message);

/// A text file, UTF-8. "\r\n" and "\r" are read as "\n" unless newline='' or another was asked for; "\n" is written as it is.
class File : public Object {
 public:
  File(std::string path, std::string mode, std::string encoding, std::FILE* handle, bool readable, bool writable, bool translate);
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  Value iterate(Interpreter&) override;
  std::optional<Value> next(Interpreter&) override;
  Value enter(Interpreter&) override;
  bool exit(Interpreter&, const Value&) override;

  bool closed() const { return !handle_; }
  /// Code points at most; negative: all that is left. UnicodeDecodeError where the bytes are no UTF-8.
  std::string read(int64_t size);
  std::string read_line(int64_t limit);
  void write(std::string_view text);
  void flush();
  void close();
  int64_t seek(int64_t offset, int whence);
  int64_t tell();
  bool readable() const { return readable_; }
  bool writable() const { return writable_; }

  const std::string path, mode, encoding;

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  enum class Last { none, read, write };
  void need_open() const;
  /// Checks that the file is open and allows it, and lets a read follow a write or the other way round.
  void turn_to(Last operation);
  int next_byte();

  std::unique_ptr<std::FILE, Close> handle_;
  bool readable_, writable_, translate_;
  Last last_ = Last::none;
};

/// open(path, mode), a BinaryFile where the mode has a b: `encoding` is only shown. FileNotFoundError, PermissionError, IsADirectoryError,
/// FileExistsError, ValueError for a wrong mode.
Value open_file(std::string_view path, std::string_view mode, std::string_view encoding, bool translate_newlines);

/// sys.stdout and sys.stderr (written through the interpreter and the process's stderr), sys.stdin (read through the interpreter).
enum class StandardStream { in, out, error };
Value make_standard_stream(StandardStream which);

}  // namespace gasell
