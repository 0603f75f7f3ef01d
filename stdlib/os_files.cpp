// What os, shutil and pathlib do with files: their state, links, modes, times, copies. os/core.gsl has the functions that scripts call.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "runtime/device/sandbox.h"
#include "runtime/session/bytes.h"
#include "runtime/session/file.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/objects.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

namespace fs = std::filesystem;
using Args = std::span<Value>;

const std::string& text_of(const Value& v) { return v.as<Str>()->value; }

int64_t nanoseconds(const timespec& t) { return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec; }

Value status(Interpreter& in, Args args) {
  const std::string& path = text_of(args[0]);
  require_readable(path);
  struct ::stat s{};
  if ((truth(in, args[1]) ? ::stat(path.c_str(), &s) : ::lstat(path.c_str(), &s)) != 0) raise_os_error(errno, path);
  std::vector<Value> parts;
  for (const int64_t part : {static_cast<int64_t>(s.st_mode), static_cast<int64_t>(s.st_ino), static_cast<int64_t>(s.st_dev),
                             static_cast<int64_t>(s.st_nlink), static_cast<int64_t>(s.st_uid), static_cast<int64_t>(s.st_gid),
                             static_cast<int64_t>(s.st_size), nanoseconds(s.st_atim), nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)})
    parts.push_back(Value::of(part));
  return make_tuple(std::move(parts));
}

Value entries(Interpreter& in, Args args) {
  const std::string& path = text_of(args[0]);
  require_readable(path);
  std::error_code error;
  std::vector<Value> found;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    poll(in);
    std::error_code unknown;  // a link to nothing is neither a folder nor a file
    const bool link = at->is_symlink(unknown);
    // Of a link that leads out of the sandbox, it is not told what is there.
    const bool told = !link || !current_sandbox() || current_sandbox()->may_open(at->path(), false);
    found.push_back(make_tuple({make_str(at->path().filename().string()), Value::of(told && at->is_directory(unknown)),
                                Value::of(told && at->is_regular_file(unknown)), Value::of(link)}));
  }
  if (error) raise_os_error(error.value(), path);
  return make_list(std::move(found));
}

void done(int result, const std::string& path) {
  if (result != 0) raise_os_error(errno, path);
}

/// In a sandbox no links are made: one that is moved may lead elsewhere than where it was checked.
void refuse_links(const std::string& path) {
  if (current_sandbox() && current_sandbox()->rules().confined) raise_os_error(EPERM, path);
}

Value make_symbolic_link(Interpreter&, Args args) {
  const std::string &target = text_of(args[0]), &path = text_of(args[1]);
  refuse_links(path);
  done(::symlink(target.c_str(), path.c_str()), path);
  return {};
}

Value make_hard_link(Interpreter&, Args args) {
  const std::string &target = text_of(args[0]), &path = text_of(args[1]);
  refuse_links(path);
  done(::link(target.c_str(), path.c_str()), path);
  return {};
}

Value read_link(Interpreter&, Args args) {
  const std::string& path = text_of(args[0]);
  require_readable(path);
  std::string target(4096, '\0');
  const auto size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) raise_os_error(errno, path);
  target.resize(static_cast<size_t>(size));
  return make_str(std::move(target));
}

Value change_mode(Interpreter& in, Args args) {
  const std::string& path = text_of(args[0]);
  require_writable(path);
  done(::chmod(path.c_str(), static_cast<mode_t>(to_index(in, args[1]))), path);
  return {};
}

Value set_times(Interpreter& in, Args args) {
  const std::string& path = text_of(args[0]);
  require_writable(path);
  timespec times[2];
  for (size_t i = 0; i < 2; ++i) {
    if (args[1 + i].is_none()) {
      times[i] = {0, UTIME_NOW};
    } else {
      const int64_t ns = to_index(in, args[1 + i]);
      const int64_t rest = (ns % 1'000'000'000 + 1'000'000'000) % 1'000'000'000;
      times[i] = {static_cast<time_t>((ns - rest) / 1'000'000'000), rest};
    }
  }
  done(::utimensat(AT_FDCWD, path.c_str(), times, 0), path);
  return {};
}

Value may_access(Interpreter& in, Args args) {
  const std::string& path = text_of(args[0]);
  require_readable(path);
  return Value::of(::access(path.c_str(), static_cast<int>(to_index(in, args[1]))) == 0);
}

Value cut(Interpreter& in, Args args) {
  const std::string& path = text_of(args[0]);
  require_writable(path);
  done(::truncate(path.c_str(), to_index(in, args[1])), path);
  return {};
}

Value copy_file(Interpreter&, Args args) {
  const std::string &from = text_of(args[0]), &to = text_of(args[1]);
  require_readable(from);
  require_writable(to);
  std::error_code error;
  // Opened one after the other, so that an error names the file that it is about.
  for (const auto& [path, flags] : {std::pair(&from, O_RDONLY), std::pair(&to, O_WRONLY | O_CREAT)}) {
    const int file = ::open(path->c_str(), flags | O_CLOEXEC, 0666);
    if (file < 0) raise_os_error(errno, *path);
    ::close(file);
  }
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) raise_os_error(error.value(), to);
  return {};
}

Value random_bytes(Interpreter& in, Args args) {
  require_environment("random numbers of the system");
  const int64_t size = to_index(in, args[0]);
  if (size < 0) raise("ValueError", "negative argument not allowed");
  require_memory(in, size);
  std::string bytes(static_cast<size_t>(size), '\0');
  for (size_t at = 0; at < bytes.size();) {
    const auto got = ::getrandom(bytes.data() + at, bytes.size() - at, 0);
    if (got < 0) raise_os_error(errno);
    at += static_cast<size_t>(got);
  }
  return make_bytes(std::move(bytes));
}

/// (columns, lines) of the terminal that the output goes to; (0, 0) where it goes elsewhere.
Value terminal_size(Interpreter&, Args) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  return make_tuple({Value::of(static_cast<int64_t>(size.ws_col)), Value::of(static_cast<int64_t>(size.ws_row))});
}

/// shutil's errors: library texts cannot derive a class from OSError.
const Type& shutil_error() {
  static const Type type{"Error", "shutil", exception_type("OSError"), {}, {}};
  return type;
}
const Type& same_file_error() {
  static const Type type{"SameFileError", "shutil", &shutil_error(), {}, {}};
  return type;
}

}  // namespace

Value make_os_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"status", "path, follow", status, "(mode, ino, dev, nlink, uid, gid, size, atime, mtime, ctime), the times in nanoseconds."},
      {"entries", "path", entries, "(name, is a folder, is a file, is a link) of what a folder holds."},
      {"symlink", "target, path", make_symbolic_link, "Makes a link that names a target."},
      {"link", "target, path", make_hard_link, "Gives a file another name."},
      {"readlink", "path", read_link, "What a link names."},
      {"chmod", "path, mode", change_mode, "Sets a file's mode."},
      {"utime", "path, atime, mtime", set_times, "Sets a file's times, in nanoseconds; None: now."},
      {"access", "path, mode", may_access, "Whether the process may do that."},
      {"truncate", "path, size", cut, "Cuts a file."},
      {"copy", "source, target", copy_file, "Copies what a file holds."},
      {"urandom", "size, /", random_bytes, "Random bytes of the system."},
      {"require_environment", "", [](Interpreter&, Args) { return require_environment("variables of the environment"), Value(); },
       "PermissionError in a sandbox that does not show the environment."},
      {"terminal_size", "", terminal_size, "(columns, lines) of the terminal."},
      {"fspath", "path", [](Interpreter& in, Args a) { return file_system_path(in, a[0]); }, "The text of a path."},
  };
  Value module = make_module("_os", table);
  set_member(module, "Error", type_object(shutil_error()));
  set_member(module, "SameFileError", type_object(same_file_error()));
  return module;
}

}  // namespace gasell
