// _classes: what the library's texts on classes (contextlib, dataclasses, enum, typing) ask of the session.
#include <fmt/format.h>

#include "runtime/session/class_members.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/type_unions.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// Gives print() its target back, when it is called.
class Redirection final : public Object {
 public:
  Redirection(Interpreter& in, Value write) : before_(in.write_out) {
    in.write_out = [&in, write = std::move(write)](std::string_view text) { gasell::call(in, write, {{make_str(std::string(text))}, {}}); };
  }
  const Type& type() const override {
    static const Type type{"redirection", "contextlib", &object_type()};
    return type;
  }
  Value call(Interpreter& in, Arguments) override {
    in.write_out = before_;
    return {};
  }

 private:
  const std::function<void(std::string_view)> before_;
};

/// The function that the text's `make(*values)` gives, under another name.
Value define(Interpreter& in, Args args) {
  const std::string text = str(in, args[0]);
  const Value module = in.library_module(fmt::format("class/{}/{:x}", str(in, args[1]), std::hash<std::string>{}(text)), text);
  const Value made = call(in, get_attribute(in, module, "make"), {to_vector(in, args[2]), {}});
  auto& code = const_cast<FunctionCode&>(*made.as<Function>()->code);
  code.qualified_name = str(in, args[1]);
  return made;
}

}  // namespace

Value make_class_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"is_descriptor", "value, /", [](Interpreter&, Args a) { return Value::of(is_descriptor(a[0])); },
       "Functions, properties, static and class methods, and what has __get__."},
      {"read_only", "dict, /", [](Interpreter&, Args a) { return read_only(a[0]); }, "A view that cannot be written through."},
      {"set_class_member", "cls, name, value, /",
       [](Interpreter& in, Args a) {
         ++class_changes;
         a[0].as<Class>()->members.set(str(in, a[1]), a[2]);
         return Value();
       },
       "cls.name = value, whatever the class's class says."},
      {"redirection", "write, /", [](Interpreter& in, Args a) { return Value::make<Redirection>(in, a[0]); },
       "print() calls write(text) until the result is called."},
      {"define", "text, qualified_name, values, /", define, "The function that `make` of the text gives for these values."},
      {"alias", "cls, parameters, /", [](Interpreter&, Args a) { return *generic_alias(a[0], a[1]); }, "cls[parameters]"},
  };
  return make_module("_classes", table);
}

}  // namespace gasell
