// Objects of scripts' classes, copied without their constructors; copy/core.gsl is the module.
#include "runtime/session/class.h"
#include "runtime/session/function.h"
#include "runtime/session/objects.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// An object of the same class that has no attributes yet.
Value blank(Interpreter&, Args a) {
  const UserObject* object = user_object(a[0]);
  if (const auto* exception = a[0].as<Exception>()) return Value::make<ExceptionInstance>(object->made_by_value, exception->args);
  return Value::make<Instance>(object->made_by_value);
}

Value attributes(Interpreter&, Args a) {
  std::vector<Value> pairs;
  for (const auto& [name, value] : user_object(a[0])->members.entries()) pairs.push_back(make_tuple({make_str(name), value}));
  return make_list(std::move(pairs));
}

Value set_attribute_of(Interpreter&, Args a) {
  user_object(a[0])->members.set(a[1].as<Str>()->value, a[2]);
  return {};
}

}  // namespace

Value make_copy_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"is_user_object", "x", [](Interpreter&, Args a) { return Value::of(user_object(a[0]) != nullptr); },
       "Whether a script's class made it."},
      {"is_code", "x", [](Interpreter&, Args a) { return Value::of(a[0].as<Function>() || a[0].as<Builtin>() || a[0].as<TypeObject>()); },
       "Whether it is a function or a class."},
      {"blank", "x", blank, "An object of the same class without attributes."},
      {"attributes", "x", attributes, "(name, value) of its attributes."},
      {"set_attribute", "x, name, value", set_attribute_of, "Sets an attribute, whatever the class says of that."},
  };
  return make_module("_copy", table);
}

}  // namespace gasell
