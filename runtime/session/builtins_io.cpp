// print, input, open, exit.
#include <cerrno>
#include <cstdio>

#include "runtime/session/builtins.h"
#include "runtime/session/file.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/str.h"
#include "runtime/session/str_text.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

std::string_view text_or(const Value& v, std::string_view otherwise, const char* name) {
  if (v.is_none()) return otherwise;
  if (const auto* s = v.as<Str>()) return s->value;
  raise("TypeError", std::string(name) + " must be None or a string, not " + type_of(v).name);
}

Value print(Interpreter& in, Args args) {
  const std::string_view sep = text_or(args[1], " ", "sep"), end = text_or(args[2], "\n", "end");
  std::string out;
  bool first = true;
  for (const Value& v : args[0].as<Tuple>()->items) {
    if (!first) out += sep;
    first = false;
    if (const auto* s = v.as<Str>())
      out += s->value;
    else
      out += str(in, v);
  }
  out += end;
  const Value& file = args[3];
  const bool flush = truth(in, args[4]);
  if (file.is_none()) {
    in.write_out(out);
    if (flush) std::fflush(stdout);
    return {};
  }
  call(in, get_attribute(in, file, "write"), Arguments{{make_str(std::move(out))}, {}});
  if (flush) call(in, get_attribute(in, file, "flush"), {});
  return {};
}

Value input(Interpreter& in, Args args) {
  const std::string prompt = is_missing(args[0]) ? "" : str(in, args[0]);
  auto line = in.read_line ? in.read_line(prompt) : std::nullopt;
  if (!line) raise("EOFError", "EOF when reading a line");
  while (!line->empty() && (line->back() == '\n' || line->back() == '\r')) line->pop_back();
  return make_str(std::move(*line));
}

Value open(Interpreter& in, Args args) {
  const std::string path = path_text(in, args[0]);
  const std::string_view mode = need_str(args[1], "open() argument 'mode' must be str, not ");
  std::string shown = "UTF-8";
  if (mode.find('b') != mode.npos && mode.find('t') == mode.npos) {
    for (const auto& [given, name] : {std::pair(3, "an encoding"), std::pair(4, "an errors"), std::pair(5, "a newline")})
      if (!args[static_cast<size_t>(given)].is_none()) raise("ValueError", std::string("binary mode doesn't take ") + name + " argument");
  }
  if (!args[3].is_none()) {
    shown = need_str(args[3], "open() argument 'encoding' must be str or None, not ");
    std::string encoding = to_lower(shown);
    for (char& c : encoding) {
      if (c == '_') c = '-';
    }
    if (encoding != "utf-8" && encoding != "utf8" && encoding != "ascii" && encoding != "us-ascii") {
      raise("LookupError", "unknown encoding: " + shown, "Gasell reads and writes utf-8");
    }
  }

  if (path.find('\0') != std::string::npos) raise("ValueError", "embedded null byte");
  if (path.empty()) raise_os_error(ENOENT, "");
  return open_file(path, mode, shown, args[5].is_none());
}

Value leave(Interpreter&, Args args) {
  std::vector<Value> with;
  if (!is_missing(args[0])) with.push_back(args[0]);
  throw Raised(Value::make<Exception>(*exception_type("SystemExit"), std::move(with)));
}

}  // namespace

std::vector<NativeFunction> io_functions() {
  return {
      {"print", "*args, sep=' ', end='\\n', file=None, flush=False", print,
       "Writes the text of the arguments, with sep between them and end behind."},
      {"input", "prompt=missing, /", input, "A line from the standard input, without its end; EOFError."},
      {"open", "file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None", open,
       "A text file; FileNotFoundError, PermissionError, IsADirectoryError."},
      {"exit", "code=missing, /", leave, "Ends the script with that status."},
      {"quit", "code=missing, /", leave, "Ends the script with that status."},
  };
}

}  // namespace gasell
