// sys: what a script may ask about the process.
#include <unistd.h>
#include <cfloat>

#include "runtime/device/sandbox.h"
#include "runtime/session/big_integer.h"
#include "runtime/session/file.h"
#include "runtime/session/objects.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

Value leave(Interpreter&, Args args) {
  std::vector<Value> with;
  if (!is_missing(args[0])) with.push_back(args[0]);
  throw Raised(Value::make<Exception>(*exception_type("SystemExit"), std::move(with)));
}

Value set_most_digits(Interpreter& in, Args args) {
  const int64_t most = to_index(in, args[0]);
  if (most != 0 && most < 640) raise("ValueError", "maxdigits must be 0 or larger than 640");
  most_decimal_digits() = most;
  return {};
}

/// A module object serves as a record of named values.
Value record(const std::string& name, std::initializer_list<std::pair<const char*, Value>> members) {
  Value r = Value::make<Module>(name);
  for (const auto& [key, value] : members) set_member(r, key, value);
  return r;
}

std::string executable() {
  char path[4096];
  const auto n = ::readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "";
}

}  // namespace

Value make_sys(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"exit", "status=missing, /", leave, "Ends the script with that status."},
      {"getrecursionlimit", "", [](Interpreter&, Args) { return Value::of(1000); }, "How deep calls may nest."},
      {"setrecursionlimit", "limit, /", [](Interpreter& in, Args a) { return to_index(in, a[0]), Value(); },
       "Accepted; the limit is fixed."},
      {"get_int_max_str_digits", "", [](Interpreter&, Args) { return Value::of(most_decimal_digits()); },
       "The most decimal digits of an int that are read and written; 0: any."},
      {"set_int_max_str_digits", "maxdigits", set_most_digits, "Sets that; ValueError below 640."},
      {"getdefaultencoding", "", [](Interpreter&, Args) { return make_str("utf-8"); }, "utf-8."},
  };
  Value module = make_module("sys", table);
  const Value empty = make_str("");
  set_member(module, "argv", make_list({empty}));
  set_member(module, "path", make_list({}));
  set_member(module, "executable", make_str(current_sandbox() && current_sandbox()->rules().confined ? "" : executable()));
  set_member(module, "platform", make_str("linux"));
  set_member(module, "byteorder", make_str("little"));
  set_member(module, "maxsize", Value::of(INT64_MAX));
  set_member(module, "maxunicode", Value::of(0x10FFFF));
  set_member(module, "version", make_str("3.11 (Gasell)"));
  set_member(module, "version_info", make_tuple({Value::of(3), Value::of(11), Value::of(0), make_str("final"), Value::of(0)}));
  set_member(module, "implementation", record("sys.implementation", {{"name", make_str("gasell")}}));
  set_member(module, "float_info",
             record("sys.float_info", {{"max", Value::of(DBL_MAX)},
                                       {"min", Value::of(DBL_MIN)},
                                       {"epsilon", Value::of(DBL_EPSILON)},
                                       {"dig", Value::of(DBL_DIG)},
                                       {"mant_dig", Value::of(DBL_MANT_DIG)},
                                       {"max_exp", Value::of(DBL_MAX_EXP)},
                                       {"max_10_exp", Value::of(DBL_MAX_10_EXP)},
                                       {"min_exp", Value::of(DBL_MIN_EXP)},
                                       {"min_10_exp", Value::of(DBL_MIN_10_EXP)},
                                       {"radix", Value::of(FLT_RADIX)},
                                       {"rounds", Value::of(1)}}));
  set_member(module, "stdin", make_standard_stream(StandardStream::in));
  set_member(module, "stdout", make_standard_stream(StandardStream::out));
  set_member(module, "stderr", make_standard_stream(StandardStream::error));
  return module;
}

}  // namespace gasell
