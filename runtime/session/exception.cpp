// Exception types, raising, and the passage between script exceptions and the engine's errors.
#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

#include <fmt/format.h>

#include "runtime/session/arguments.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

Value with_traceback(Interpreter&, std::span<Value> args) { return args[0]; }

/// The arguments that scripts see: an OSError keeps its file name apart.
std::vector<Value> visible_args(const Exception& e) {
  std::vector<Value> args = e.args;
  if (args.size() > 2 && e.type().derives_from(*exception_type("OSError"))) args.resize(2);
  return args;
}

Value get_args(Interpreter&, const Value& self) { return make_tuple(visible_args(*static_cast<Exception*>(self.object()))); }
void set_args(Interpreter& in, const Value& self, const Value& value) {
  static_cast<Exception*>(self.object())->args = to_vector(in, value);
}
Value get_cause(Interpreter&, const Value& self) { return static_cast<Exception*>(self.object())->cause; }
Value get_suppress_context(Interpreter&, const Value& self) { return Value::of(static_cast<Exception*>(self.object())->suppress_context); }
Value get_context(Interpreter&, const Value& self) { return static_cast<Exception*>(self.object())->context; }
Value get_traceback(Interpreter&, const Value&) { return Value(); }
Value get_first_argument(Interpreter&, const Value& self) {
  const auto& args = static_cast<Exception*>(self.object())->args;
  return args.empty() ? Value() : args[0];
}
Value get_second_argument(Interpreter&, const Value& self) {
  const auto& args = static_cast<Exception*>(self.object())->args;
  return args.size() < 2 ? Value() : args[1];
}
Value get_errno(Interpreter& in, const Value& self) {
  return static_cast<Exception*>(self.object())->args.size() < 2 ? Value() : get_first_argument(in, self);
}
Value get_file_name(Interpreter&, const Value& self) {
  const auto& args = static_cast<Exception*>(self.object())->args;
  return args.size() < 3 ? Value() : args[2];
}

/// One of the five arguments of a UnicodeDecodeError or UnicodeEncodeError; None where it has another number of them.
template <size_t part>
Value get_part(Interpreter&, const Value& self) {
  const auto& args = static_cast<Exception*>(self.object())->args;
  return args.size() == 5 ? args[part] : Value();
}

/// "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte".
std::string unicode_message(Interpreter& in, const std::vector<Value>& args, bool decoding) {
  const int64_t start = args[2].as_int(), end = args[3].as_int();
  std::string what = decoding ? "bytes" : "characters", place = fmt::format(" {}-{}", start, end - 1);
  const Value first = end == start + 1 && start < length(in, args[1]) ? get_item(in, args[1], args[2]) : Value();
  if (decoding && first.is_int()) what = fmt::format("byte {:#04x}", first.as_int());
  if (const auto* character = first.as<Str>()) {
    const auto code = static_cast<uint32_t>(decode(character->value).front());
    const std::string escaped = code < 0x100     ? fmt::format("\\x{:02x}", code)
                                : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                                                 : fmt::format("\\U{:08x}", code);
    what = "character '" + escaped + "'";
  }
  if (!first.is_none()) place = fmt::format(" {}", start);
  return fmt::format("'{}' codec can't {} {} in position{}: {}", str(in, args[0]), decoding ? "decode" : "encode", what, place,
                     str(in, args[4]));
}

struct Hierarchy {
  std::shared_mutex mutex;  // sessions register exceptions of their modules while others look theirs up
  std::deque<Type> types;
  std::vector<const Type*> order;
  std::map<std::string, const Type*, std::less<>> by_name;

  void add(const char* base, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      types.push_back(Type{name, "builtins", by_name.at(base), {}, {}});
      insert(types.back());
    }
  }
  void insert(const Type& type) {
    order.push_back(&type);
    by_name.emplace(type.name, &type);
  }

  Hierarchy() {
    types.push_back(Type{"BaseException",
                         "builtins",
                         &object_type(),
                         {{"with_traceback", "tb, /", with_traceback, "returns the exception itself"}},
                         {{"args", get_args, set_args, "what the exception was made from"},
                          {"__cause__", get_cause, nullptr, "the exception after `from`"},
                          {"__context__", get_context, nullptr, "the exception that was being handled"},
                          {"__suppress_context__", get_suppress_context, nullptr, "true after `raise … from`"},
                          {"__traceback__", get_traceback, nullptr, "None: places are kept in the diagnostics"}}});
    insert(types.back());
    add("BaseException", {"Exception", "KeyboardInterrupt", "GeneratorExit"});
    types.push_back(
        Type{"SystemExit", "builtins", by_name.at("BaseException"), {}, {{"code", get_first_argument, nullptr, "the exit status"}}});
    insert(types.back());
    types.push_back(
        Type{"StopIteration", "builtins", by_name.at("Exception"), {}, {{"value", get_first_argument, nullptr, "the returned value"}}});
    insert(types.back());
    add("Exception",
        {"ArithmeticError", "AssertionError", "AttributeError", "BufferError", "EOFError", "ImportError", "LookupError", "MemoryError",
         "NameError", "ReferenceError", "RuntimeError", "SyntaxError", "SystemError", "TypeError", "ValueError", "Warning"});
    types.push_back(Type{"OSError",
                         "builtins",
                         by_name.at("Exception"),
                         {},
                         {{"errno", get_errno, nullptr, "the system's error number"},
                          {"strerror", get_second_argument, nullptr, "the system's words"},
                          {"filename", get_file_name, nullptr, "the file that it is about"}}});
    insert(types.back());
    by_name.emplace("IOError", &types.back());
    by_name.emplace("EnvironmentError", &types.back());
    add("ArithmeticError", {"FloatingPointError", "OverflowError", "ZeroDivisionError"});
    add("ImportError", {"ModuleNotFoundError"});
    add("LookupError", {"IndexError", "KeyError"});
    add("NameError", {"UnboundLocalError"});
    add("OSError", {"BlockingIOError", "ChildProcessError", "ConnectionError", "FileExistsError", "FileNotFoundError", "InterruptedError",
                    "IsADirectoryError", "NotADirectoryError", "PermissionError", "ProcessLookupError", "TimeoutError"});
    add("ConnectionError", {"BrokenPipeError", "ConnectionAbortedError", "ConnectionRefusedError", "ConnectionResetError"});
    add("RuntimeError", {"NotImplementedError", "RecursionError"});
    add("SyntaxError", {"IndentationError"});
    add("IndentationError", {"TabError"});
    add("ValueError", {"UnicodeError"});
    for (const char* name : {"UnicodeDecodeError", "UnicodeEncodeError"}) {
      types.push_back(Type{name,
                           "builtins",
                           by_name.at("UnicodeError"),
                           {},
                           {{"encoding", get_part<0>, nullptr, "the encoding"},
                            {"object", get_part<1>, nullptr, "what was to be decoded or encoded"},
                            {"start", get_part<2>, nullptr, "where the wrong part begins"},
                            {"end", get_part<3>, nullptr, "where it ends"},
                            {"reason", get_part<4>, nullptr, "why it is wrong"}}});
      insert(types.back());
    }
    add("Warning", {"BytesWarning", "DeprecationWarning", "FutureWarning", "ImportWarning", "PendingDeprecationWarning", "ResourceWarning",
                    "RuntimeWarning", "SyntaxWarning", "UnicodeWarning", "UserWarning"});
  }
};

Hierarchy& hierarchy() {
  static Hierarchy table;
  return table;
}

}  // namespace

const Type* exception_type(std::string_view name) {
  const std::shared_lock lock(hierarchy().mutex);
  auto found = hierarchy().by_name.find(name);
  return found == hierarchy().by_name.end() ? nullptr : found->second;
}

const std::vector<const Type*>& exception_types() { return hierarchy().order; }
void register_exception(const Type& type) {
  const std::unique_lock lock(hierarchy().mutex);
  hierarchy().insert(type);
}

void raise(std::string_view exception, std::string message, std::string hint) {
  const Type* type = exception_type(exception);
  if (!type) {  // a kind that only the host knows
    type = exception_type("RuntimeError");
    message = std::string(exception) + ": " + message;
  }
  Value value = Value::make<Exception>(*type, std::vector<Value>{make_str(std::move(message))});
  auto& raised = static_cast<Exception&>(*value.object());
  raised.hint = std::move(hint);
  if (exception == "NotImplementedError") raised.blame = Blame::limitation;
  throw Raised(std::move(value));
}

// ---- the instances ----

Value make_exception(const Type& type, std::vector<Value> args) {
  const Type* chosen = &type;
  if (&type == exception_type("OSError") && args.size() >= 2 && args[0].is_int()) {
    switch (args[0].as_int()) {
      case ENOENT: chosen = exception_type("FileNotFoundError"); break;
      case EEXIST: chosen = exception_type("FileExistsError"); break;
      case EACCES:
      case EPERM: chosen = exception_type("PermissionError"); break;
      case EISDIR: chosen = exception_type("IsADirectoryError"); break;
      case ENOTDIR: chosen = exception_type("NotADirectoryError"); break;
      case EPIPE: chosen = exception_type("BrokenPipeError"); break;
      case ETIMEDOUT: chosen = exception_type("TimeoutError"); break;
      default: break;
    }
  }
  return Value::make<Exception>(*chosen, std::move(args));
}

std::string Exception::repr(Interpreter& in) {
  const std::vector<Value> shown = visible_args(*this);
  if (shown.size() == 1) return type_.name + "(" + gasell::repr(in, shown[0]) + ")";
  return type_.name + gasell::repr(in, make_tuple(shown));
}

std::string Exception::str(Interpreter& in) {
  if (args.empty()) return "";
  if (type_.derives_from(*exception_type("OSError")) && args.size() >= 2) {
    std::string text = "[Errno " + gasell::str(in, args[0]) + "] " + gasell::str(in, args[1]);
    return args.size() > 2 && !args[2].is_none() ? text + ": " + gasell::repr(in, args[2]) : text;
  }
  if (args.size() == 5 && args[2].is_int() && args[3].is_int() && type_.base && type_.base->name == "UnicodeError")
    return unicode_message(in, args, type_.name == "UnicodeDecodeError");
  if (args.size() > 1) return gasell::repr(in, make_tuple(args));
  if (type_.derives_from(*exception_type("KeyError"))) return gasell::repr(in, args[0]);
  return gasell::str(in, args[0]);
}

std::optional<Value> Exception::get_attribute(Interpreter& in, std::string_view name) { return Object::get_attribute(in, name); }

// ---- Error and back ----

namespace {

/// The arguments of Python's OSError behind os_error()'s "[Errno 2] No such file or directory: 'x.npy'"; of any other message, the message.
std::vector<Value> arguments_of(const std::string& message, const Type& type) {
  const size_t number_end = message.find("] "), words_end = message.rfind(": '");
  const bool plain = message.find('\\') == message.npos && message.ends_with('\'');
  if (!type.derives_from(*exception_type("OSError")) || !message.starts_with("[Errno ") || words_end == message.npos || !plain)
    return {make_str(message)};
  const size_t file = words_end + 3;
  return {Value::of(std::atoi(message.c_str() + 7)), make_str(message.substr(number_end + 2, words_end - number_end - 2)),
          make_str(message.substr(file, message.size() - file - 1))};
}

}  // namespace

Value exception_from_error(const Error& error) {
  const Diagnostic& d = error.diagnostic();
  const Type* type = exception_type(d.kind);
  std::string message = d.message;
  if (!type) {
    type = exception_type(d.blame == Blame::limitation ? "NotImplementedError" : "RuntimeError");
    if (!d.kind.empty()) message = d.kind + ": " + message;
  }
  Value value = Value::make<Exception>(*type, arguments_of(message, *type));
  auto& exception = static_cast<Exception&>(*value.object());
  exception.hint = d.hint;
  exception.primary = d.primary;
  exception.labels = d.secondary;
  exception.blame = d.blame;
  return value;
}

namespace {

std::string title(Interpreter& in, Exception& exception) {
  std::string message = exception.str(in);
  return message.empty() ? exception.type().name : exception.type().name + ": " + message;
}

void add_origin(Interpreter& in, const Value& origin, const char* relation, std::vector<Label>& labels) {
  auto* exception = origin.as<Exception>();
  if (!exception || exception->traceback.empty()) return;
  const Exception::Frame& place = exception->traceback.front();
  labels.push_back({place.source, place.span, relation + title(in, *exception)});
}

}  // namespace

Error error_from_exception(Interpreter& in, const Value& value) {
  auto& exception = static_cast<Exception&>(*value.object());
  Diagnostic d;
  d.blame = exception.blame;
  d.kind = exception.type().name;
  d.message = exception.str(in);
  d.hint = exception.hint;
  d.primary = exception.primary;
  d.secondary = exception.labels;
  // The innermost calls tell most; calls of a recursion from one place are told once, and a long chain is not told whole.
  constexpr size_t kInnermost = 12, kOutermost = 4;
  std::vector<Label> calls;
  const auto& frames = exception.traceback;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (!d.primary) {
      d.primary = Label{frames[i].source, frames[i].span, ""};
      continue;
    }
    size_t repeated = 1;
    while (i + 1 < frames.size() && frames[i + 1].source == frames[i].source && frames[i + 1].span == frames[i].span) {
      ++repeated;
      ++i;
    }
    std::string text = i > 0 ? "called from here" : "met here";
    if (!frames[i].function.empty()) text += ", in " + frames[i].function;
    if (repeated > 1) text += fmt::format(" ({} times)", repeated);
    calls.push_back({frames[i].source, frames[i].span, std::move(text)});
  }
  if (calls.size() > kInnermost + kOutermost) {
    calls.erase(calls.begin() + kInnermost, calls.end() - kOutermost);
    calls[kInnermost - 1].text += " (calls between are left out)";
  }
  for (Label& label : calls) d.secondary.push_back(std::move(label));
  add_origin(in, exception.cause, "the cause: ", d.secondary);
  if (exception.cause.is_none() && !exception.suppress_context) add_origin(in, exception.context, "while handling ", d.secondary);
  return Error(std::move(d));
}

}  // namespace gasell
