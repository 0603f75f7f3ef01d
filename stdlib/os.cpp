// os and os.path: files, directories, the environment.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "runtime/device/sandbox.h"
#include "runtime/session/dict.h"
#include "runtime/session/file.h"
#include "runtime/session/objects.h"
#include "stdlib/bindings.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"

extern char** environ;

namespace gasell {
namespace {

namespace fs = std::filesystem;
using Args = std::span<Value>;

std::string path_of(Interpreter& in, const Value& v) { return path_text(in, v); }

/// Paths of what is looked at, and of what is changed.
std::string readable(Interpreter& in, const Value& v) {
  std::string path = path_of(in, v);
  require_readable(path);
  return path;
}
std::string writable(Interpreter& in, const Value& v) {
  std::string path = path_of(in, v);
  require_writable(path);
  return path;
}

void check(const std::error_code& error, const std::string& path) {
  if (error) raise_os_error(error.value(), path);
}

// ---- os.path, on text alone ----

Value join(Interpreter& in, Args args) {
  std::string out = path_of(in, args[0]);
  for (const Value& v : args[1].as<Tuple>()->items) {
    const std::string part = path_of(in, v);
    if (part.starts_with('/'))
      out = part;
    else
      out += (out.empty() || out.ends_with('/') ? "" : "/") + part;
  }
  return make_str(std::move(out));
}

/// (head, tail): the tail is what stands behind the last slash.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t at = path.rfind('/') + 1;
  std::string head = path.substr(0, at);
  const size_t last = head.find_last_not_of('/');
  if (last != std::string::npos) head.resize(last + 1);
  return {head, path.substr(at)};
}

Value split(Interpreter& in, Args args) {
  auto [head, tail] = split_path(path_of(in, args[0]));
  return make_tuple({make_str(std::move(head)), make_str(std::move(tail))});
}

Value split_extension(Interpreter& in, Args args) {
  const std::string path = path_of(in, args[0]);
  const size_t name = path.rfind('/') + 1, dot = path.rfind('.');
  size_t first = name;
  while (first < path.size() && path[first] == '.') ++first;  // leading dots are no extension
  const size_t at = dot == std::string::npos || dot < first ? path.size() : dot;
  return make_tuple({make_str(path.substr(0, at)), make_str(path.substr(at))});
}

std::string normalized(const std::string& path) {
  if (path.empty()) return ".";
  const size_t slashes = path.starts_with("//") && !path.starts_with("///") ? 2 : path.starts_with('/') ? 1 : 0;
  std::vector<std::string> parts;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != ".." || (slashes == 0 && parts.empty()) || (!parts.empty() && parts.back() == ".."))
      parts.push_back(part);
    else if (!parts.empty())
      parts.pop_back();
  }
  std::string out(slashes, '/');
  for (size_t i = 0; i < parts.size(); ++i) out += (i ? "/" : "") + parts[i];
  return out.empty() ? "." : out;
}

std::string absolute_path(const std::string& path) {
  if (path.starts_with('/')) return normalized(path);
  require_environment("the working directory");
  return normalized(fs::current_path().string() + "/" + path);
}

Value expand_user(Interpreter& in, Args args) {
  const std::string path = path_of(in, args[0]);
  if (path.starts_with('~')) require_environment("the home directory");
  const char* home = std::getenv("HOME");
  if (home && (path == "~" || path.starts_with("~/"))) return make_str(home + path.substr(1));
  return args[0];
}

struct ::stat status_of(const std::string& path) {
  require_readable(path);
  struct ::stat info{};
  if (::stat(path.c_str(), &info) != 0) raise_os_error(errno, path);
  return info;
}

std::vector<NativeFunction> path_functions() {
  constexpr const char* kPath = "path, /";
  return {
      {"join", "a, /, *p", join, "Path parts with slashes between them."},
      {"split", kPath, split, "(directory, name)."},
      {"splitext", kPath, split_extension, "(path without extension, extension)."},
      {"basename", kPath, [](Interpreter& in, Args a) { return make_str(split_path(path_of(in, a[0])).second); },
       "The name behind the last slash."},
      {"dirname", kPath, [](Interpreter& in, Args a) { return make_str(split_path(path_of(in, a[0])).first); },
       "What stands before the name."},
      {"normpath", kPath, [](Interpreter& in, Args a) { return make_str(normalized(path_of(in, a[0]))); },
       "Without '.', '..' and doubled slashes."},
      {"abspath", kPath, [](Interpreter& in, Args a) { return make_str(absolute_path(path_of(in, a[0]))); }, "From the root, normalized."},
      {"realpath", kPath,
       [](Interpreter& in, Args a) { return make_str(fs::weakly_canonical(absolute_path(readable(in, a[0]))).string()); },
       "From the root, without symbolic links."},
      {"isabs", kPath, [](Interpreter& in, Args a) { return Value::of(path_of(in, a[0]).starts_with('/')); },
       "Whether it starts at the root."},
      {"expanduser", kPath, expand_user, "A leading ~ replaced by the home directory."},
      {"exists", kPath,
       [](Interpreter& in, Args a) {
         std::error_code e;
         return Value::of(fs::exists(readable(in, a[0]), e));
       },
       "Whether it is there."},
      {"isfile", kPath,
       [](Interpreter& in, Args a) {
         std::error_code e;
         return Value::of(fs::is_regular_file(readable(in, a[0]), e));
       },
       "Whether it is a file."},
      {"isdir", kPath,
       [](Interpreter& in, Args a) {
         std::error_code e;
         return Value::of(fs::is_directory(readable(in, a[0]), e));
       },
       "Whether it is a directory."},
      {"islink", kPath,
       [](Interpreter& in, Args a) {
         std::error_code e;
         return Value::of(fs::is_symlink(readable(in, a[0]), e));
       },
       "Whether it is a link."},
      {"getsize", kPath, [](Interpreter& in, Args a) { return Value::of(static_cast<int64_t>(status_of(path_of(in, a[0])).st_size)); },
       "Bytes of a file."},
      {"getmtime", kPath,
       [](Interpreter& in, Args a) {
         const auto t = status_of(path_of(in, a[0])).st_mtim;
         return Value::of(static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec));
       },
       "When it was changed, seconds since 1970."},
  };
}

// ---- os ----

Value list_directory(Interpreter& in, Args args) {
  const std::string path = args[0].is_none() ? "." : path_of(in, args[0]);
  require_readable(path);
  std::error_code error;
  std::vector<Value> names;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    names.push_back(make_str(at->path().filename().string()));
  check(error, path);
  return make_list(std::move(names));
}

Value change_directory(Interpreter& in, Args args) {
  require_environment("another working directory, which is the whole program's");
  const std::string path = path_of(in, args[0]);
  if (::chdir(path.c_str()) != 0) raise_os_error(errno, path);
  return {};
}

Value remove_file(Interpreter& in, Args args) {
  const std::string path = writable(in, args[0]);
  if (::unlink(path.c_str()) != 0) raise_os_error(errno, path);
  return {};
}

Value make_directory(Interpreter& in, Args args) {
  const std::string path = writable(in, args[0]);
  if (::mkdir(path.c_str(), static_cast<mode_t>(to_index(in, args[1]))) != 0) raise_os_error(errno, path);
  return {};
}

Value make_directories(Interpreter& in, Args args) {
  const std::string path = writable(in, args[0]);
  std::error_code error;
  if (fs::exists(path, error)) {
    if (!truth(in, args[2]) || !fs::is_directory(path, error)) raise_os_error(EEXIST, path);
    return {};
  }
  if (path.empty()) raise_os_error(ENOENT, path);
  fs::create_directories(path, error);
  check(error, path);
  return {};
}

Value remove_directory(Interpreter& in, Args args) {
  const std::string path = writable(in, args[0]);
  if (::rmdir(path.c_str()) != 0) raise_os_error(errno, path);
  return {};
}

Value rename_file(Interpreter& in, Args args) {
  if (::rename(writable(in, args[0]).c_str(), writable(in, args[1]).c_str()) == 0) return {};
  // The only OSError that names two files.
  const int code = errno;
  try {
    raise_os_error(code);
  } catch (const Raised& e) {
    auto& exception = *e.value.as<Exception>();
    exception.args[1] = make_str(str(in, exception.args[1]) + ": " + repr(in, args[0]) + " -> " + repr(in, args[1]));
    throw;
  }
}

Value working_directory(Interpreter&, Args) {
  require_environment("the working directory");
  return make_str(fs::current_path().string());
}

Value process_number(Interpreter&, Args) {
  require_environment("the number of the process");
  return Value::of(static_cast<int64_t>(::getpid()));
}

}  // namespace

Value make_os_path(Interpreter&) {
  static const std::vector<NativeFunction> table = path_functions();
  Value module = Value::make<LibraryModule>("os.path");
  for (const NativeFunction& f : table) set_member(module, f.name, Value::make<Builtin>(f));
  set_member(module, "sep", make_str("/"));
  return module;
}

Value make_os(Interpreter& in) {
  static const std::vector<NativeFunction> table = {
      {"getcwd", "", working_directory, "The working directory."},
      {"chdir", "path", change_directory, "Changes the working directory."},
      {"listdir", "path=None", list_directory, "The names in a directory, in no order."},
      {"remove", "path", remove_file, "Deletes a file."},
      {"unlink", "path", remove_file, "Deletes a file."},
      {"mkdir", "path, mode=511", make_directory, "Makes a directory."},
      {"makedirs", "name, mode=511, exist_ok=False", make_directories, "Makes a directory and those above it."},
      {"rmdir", "path", remove_directory, "Deletes an empty directory."},
      {"rename", "src, dst", rename_file, "Renames a file."},
      {"replace", "src, dst", rename_file, "Renames a file over another."},
      {"getpid", "", process_number, "The number of this process."},
      {"cpu_count", "", [](Interpreter&, Args) { return Value::of(static_cast<int64_t>(std::thread::hardware_concurrency())); },
       "Processors of the machine."},
  };
  Value module = Value::make<LibraryModule>("os");
  for (const NativeFunction& f : table) set_member(module, f.name, Value::make<Builtin>(f));
  Value variables = make_dict();
  const Sandbox* const sandbox = current_sandbox().get();
  const bool hidden = sandbox && sandbox->rules().confined && !sandbox->rules().environment;
  for (char** entry = environ; entry && *entry && !hidden; ++entry) {
    const std::string_view text(*entry);
    const size_t at = text.find('=');
    if (at != text.npos)
      variables.as<Dict>()->insert(in, make_str(std::string(text.substr(0, at))), make_str(std::string(text.substr(at + 1))));
  }
  set_member(module, "environ", variables);
  set_member(module, "error", type_object(*exception_type("OSError")));
  set_member(module, "path", make_os_path(in));
  set_member(module, "name", make_str("posix"));
  set_member(module, "sep", make_str("/"));
  set_member(module, "linesep", make_str("\n"));
  set_member(module, "pathsep", make_str(":"));
  set_member(module, "curdir", make_str("."));
  return module;
}

}  // namespace gasell
