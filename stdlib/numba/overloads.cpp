#include "stdlib/numba/overloads.h"

#include <map>
#include <mutex>

#include "runtime/session/evaluator.h"
#include "stdlib/numba/generated.h"
#include "stdlib/numba/module.h"
#include "stdlib/numba/types.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;

/// The functions that choose what is compiled, by the function that they stand for; the later ones are asked first.
struct Overloads {
  Value function;  // kept, so that no other object gets its address
  std::vector<Value> choosers;
};
struct Known {
  std::mutex mutex;
  std::map<const Object*, Overloads> all;
};
Known& known() {
  static auto& overloads = *new Known;
  return overloads;
}

std::vector<Value> choosers_of(const Value& v) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().all.find(v.object());
  return found == known().all.end() ? std::vector<Value>() : found->second.choosers;
}

Value overload(Interpreter&, Args args) {
  const Value function = args[0];
  if (!function.as<Function>() || function.as<Function>()->code->globals->library)
    raise("NotImplementedError", "overload() takes a function of the script here",
          "write a function that calls the library's for the other types, and overload that");
  return make_decorator("overload", [function](Interpreter&, const Value& chooser) {
    if (!chooser.as<Function>()) raise("TypeError", "overload(...) is a decorator: it takes the function that chooses by types");
    const std::lock_guard lock(known().mutex);
    Overloads& all = known().all[function.object()];
    all.function = function;
    all.choosers.insert(all.choosers.begin(), chooser);
    return chooser;
  });
}

Value refuse(Interpreter&, Args) {
  raise("NotImplementedError", "of numba.extending Gasell has overload and register_jitable",
        "write a function of the script: compiled functions call it, and @overload chooses by types");
}

}  // namespace

std::optional<functions::Outside> outside_of_overloaded(Compilation& compilation, const Value& v) {
  if (!v.as<Function>() || choosers_of(v).empty()) return {};
  auto& made = compilation.overloaded[v.object()];
  if (!made) {
    auto function = std::make_shared<functions::Function>(*to_function(compilation, v, {}));
    const auto chosen = std::make_shared<std::map<std::string, std::shared_ptr<const functions::Function>>>();
    function->for_types = [&compilation, v, chosen](const std::vector<functions::Type>& types, bool) {
      std::string key;
      std::vector<Value> arguments;
      for (const functions::Type& t : types) {
        key += functions::to_string(t) + t.text + ";";
        arguments.push_back(Value::make<NumbaType>(t));
      }
      auto& implementation = (*chosen)[key];
      if (implementation) return implementation;
      for (const Value& chooser : choosers_of(v)) {
        const Value found = call(compilation.in, chooser, {arguments, {}});
        if (found.is_none()) continue;
        return implementation = to_function(compilation, need_function(found, "overload"), {});
      }
      return implementation;
    };
    made = std::move(function);
  }
  return outside_function(made);
}

std::vector<NativeFunction> extending_functions() {
  std::vector<NativeFunction> all = {
      {"overload", "func, jit_options=None, strict=True, inline='never', prefer_literal=False, **kwargs", overload,
       "Makes a function another one in compiled functions, which is chosen by the types of its arguments."},
  };
  for (const char* name : {"overload_method", "overload_attribute", "intrinsic", "typeof_impl", "type_callable", "lower_builtin", "models",
                           "register_model", "make_attribute_wrapper", "unbox", "box", "NativeValue"})
    all.push_back({name, "*args, **kwargs", refuse, "Not in Gasell."});
  return all;
}

}  // namespace gasell::numba
