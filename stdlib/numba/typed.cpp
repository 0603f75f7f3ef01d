#include "stdlib/numba/typed.h"

#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"
#include "stdlib/numba/outside.h"
#include "stdlib/numba/types.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;

functions::Type need_type(const Value& v) {
  if (const auto type = to_type(v)) return *type;
  raise_typing_error("a type of Numba is needed here, as numba.int64, and this is a value of type " + type_of(v).name);
}

Value empty_dict(Interpreter&, Args args) {
  return Value::make<TypedDict>(functions::Type::tuple_of({need_type(args[0]), need_type(args[1])}));
}
Value empty_list(Interpreter&, Args args) { return Value::make<TypedList>(std::vector<Value>(), need_type(args[0])); }

}  // namespace

const gasell::Type& TypedDict::type() const {
  static const gasell::Type t{"Dict", "numba.typed.typeddict", &dict_type()};
  return t;
}

const gasell::Type& TypedList::type() const {
  static const gasell::Type t{"List", "numba.typed.typedlist", &list_type()};
  return t;
}

const gasell::Type& TypedClass::type() const { return type_type(); }
std::string TypedClass::repr(Interpreter&) { return "<class '" + path() + "'>"; }

Value TypedClass::call(Interpreter& in, Arguments args) {
  if (args.positional.size() > 1 || !args.keywords.empty()) raise("TypeError", path() + " takes one thing to copy from, or nothing");
  if (dict_) {
    Value made = Value::make<TypedDict>();
    if (!args.positional.empty()) made.as<Dict>()->update(in, args.positional[0]);
    return made;
  }
  std::vector<Value> items;
  if (!args.positional.empty()) {
    const Value walk = gasell::iterate(in, args.positional[0]);
    while (auto item = gasell::next(in, walk)) items.push_back(std::move(*item));
  }
  return Value::make<TypedList>(std::move(items));
}

std::optional<Value> TypedClass::get_attribute(Interpreter& in, std::string_view name) {
  static const NativeFunction dict{"empty", "key_type, value_type, n_keys=0", empty_dict, "An empty dict of these types."};
  static const NativeFunction list{"empty_list", "item_type, allocated=0", empty_list, "An empty list of items of this type."};
  if (dict_ && name == "empty") return Value::make<Builtin>(dict);
  if (!dict_ && name == "empty_list") return Value::make<Builtin>(list);
  return Object::get_attribute(in, name);
}

}  // namespace gasell::numba

namespace gasell {

Value make_numba_typed(Interpreter&) {
  Value module = Value::make<Module>("numba.typed");
  set_member(module, "Dict", Value::make<numba::TypedClass>(true));
  set_member(module, "List", Value::make<numba::TypedClass>(false));
  return module;
}

}  // namespace gasell
