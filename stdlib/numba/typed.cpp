#include "stdlib/numba/typed.h"

#include <array>
#include <stdexcept>

#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"
#include "stdlib/numba/arguments.h"
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

// ---- what is kept ----
functions::Type type_of_value(Interpreter& in, const Value& v) {
  Compilation compilation{in};
  CallArguments arguments;
  add_argument(compilation, v, arguments);
  return std::move(arguments.types[0]);
}

/// The type that a first item says, where it says one: lists within lists may be empty yet.
std::optional<functions::Type> said_by(Interpreter& in, const Value& v) {
  if (const auto s = scalar_of(in, v)) return functions::Type::of(s->type);
  if (v.as<Str>()) return functions::Type::text_of("");
  return {};
}

[[noreturn]] void refuse(Interpreter& in, const char* container, const functions::Type& wanted, const Value& v) {
  raise_typing_error(std::string(container) + " of " + functions::to_string(wanted) + " cannot hold " + repr(in, v) +
                     ", which is of type " + gasell::type_of(v).name);
}

/// A value of this type, made of one of another where numbers convert.
Value converted(Interpreter& in, const Value& v, const functions::Type& type, const char* container) {
  using Kind = functions::Type::Kind;
  if (type.is_scalar()) {
    const auto s = scalar_of(in, v);
    if (!s || !functions::takes_number(type.dtype, s->type)) refuse(in, container, type, v);
    return to_number(s->cast(type.dtype));
  }
  if (type.is_tuple()) {
    const auto* t = v.as<Tuple>();
    if (!t || t->items.size() != type.items.size()) refuse(in, container, type, v);
    if (type.named) return v;
    std::vector<Value> items;
    for (size_t k = 0; k < type.items.size(); ++k) items.push_back(converted(in, t->items[k], type.items[k], container));
    return make_tuple(std::move(items));
  }
  if (type.kind == Kind::text) {
    if (!v.as<Str>()) refuse(in, container, type, v);
    return v;
  }
  const functions::Type own = type_of_value(in, v);
  if (own.kind != type.kind || (type.is_array() && (own.dtype != type.dtype || own.rank != type.rank))) refuse(in, container, type, v);
  return v;
}

// ---- methods: those of dicts and lists, of what is kept ----
const NativeFunction& method_of(const gasell::Type& type, std::string_view name) {
  for (const NativeFunction& f : type.methods)
    if (f.name == name) return f;
  throw std::logic_error("no method " + std::string(name));
}

using Native = Value (*)(Interpreter&, Args);
/// The methods of a base with other meanings, by name.
std::vector<NativeFunction> methods_of(const gasell::Type& base, std::initializer_list<std::pair<const char*, Native>> own) {
  std::vector<NativeFunction> methods;
  for (const auto& [name, call] : own) {
    const NativeFunction& f = method_of(base, name);
    methods.push_back({f.name, f.signature, call, f.doc});
  }
  return methods;
}

TypedDict& dict_of(Args args) { return *args[0].as<TypedDict>(); }
TypedList& list_of(Args args) { return *args[0].as<TypedList>(); }

/// The same method of dicts, of a key as it is kept and, where one is given, a value.
template <const char* const* name>
Value of_key(Interpreter& in, Args args) {
  args[1] = dict_of(args).kept_key(in, args[1]);
  if (args.size() > 2 && !is_missing(args[2]) && !args[2].is_none()) args[2] = dict_of(args).kept_value(in, args[2]);
  return method_of(dict_type(), *name).call(in, args);
}
constexpr const char *kGet = "get", *kPop = "pop";

Value set_default(Interpreter& in, Args args) {
  if (!dict_of(args).contains(in, args[1])) dict_of(args).set_item(in, args[1], args[2]);
  return dict_of(args).get_item(in, args[1]);
}
Value update_dict(Interpreter& in, Args args) {
  Value others = make_dict();
  std::array<Value, 3> given = {others, args[1], args[2]};
  method_of(dict_type(), "update").call(in, std::span(given.data(), args.size()));
  dict_of(args).put_all(in, others);
  return {};
}
Value copy_dict(Interpreter& in, Args args) {
  Value made = Value::make<TypedDict>(dict_of(args).entry);
  made.as<TypedDict>()->put_all(in, args[0]);
  return made;
}

Value append(Interpreter& in, Args args) {
  list_of(args).items.push_back(list_of(args).kept(in, args[1]));
  return {};
}
Value extend(Interpreter& in, Args args) {
  std::vector<Value> more = list_of(args).all_kept(in, args[1]);
  auto& items = list_of(args).items;
  items.insert(items.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return {};
}
/// The same method of lists, where argument `place` is an item.
template <const char* const* name, size_t place>
Value of_item(Interpreter& in, Args args) {
  args[place] = list_of(args).kept(in, args[place]);
  return method_of(list_type(), *name).call(in, args);
}
constexpr const char *kInsert = "insert", *kIndex = "index", *kCount = "count", *kRemove = "remove";
Value copy_list(Interpreter&, Args args) { return Value::make<TypedList>(list_of(args).items, list_of(args).item); }

}  // namespace

const gasell::Type& TypedDict::type() const {
  static const gasell::Type t{
      "Dict", "numba.typed.typeddict", &dict_type(),
      methods_of(
          dict_type(),
          {{"get", of_key<&kGet>}, {"pop", of_key<&kPop>}, {"setdefault", set_default}, {"update", update_dict}, {"copy", copy_dict}})};
  return t;
}

std::string TypedDict::str(Interpreter& in) {
  std::string text;
  for (const Entry& e : entries())
    if (!e.key.is_absent()) text += (text.empty() ? "" : ", ") + gasell::str(in, e.key) + ": " + gasell::str(in, e.value);
  return "{" + text + "}";
}
std::string TypedDict::repr(Interpreter& in) {
  return (entry ? functions::to_string(functions::Type::table_of("dict", *entry)) : "None") + "(" + str(in) + ")";
}

Value TypedDict::kept_key(Interpreter& in, const Value& v) const {
  return entry ? converted(in, v, entry->items[0], "a dict with keys") : v;
}
Value TypedDict::kept_value(Interpreter& in, const Value& v) const {
  return entry ? converted(in, v, entry->items[1], "a dict with values") : v;
}
bool TypedDict::contains(Interpreter& in, const Value& key) { return Dict::contains(in, kept_key(in, key)); }
Value TypedDict::get_item(Interpreter& in, const Value& key) { return Dict::get_item(in, kept_key(in, key)); }
void TypedDict::delete_item(Interpreter& in, const Value& key) { Dict::delete_item(in, kept_key(in, key)); }
void TypedDict::set_item(Interpreter& in, const Value& key, const Value& value) {
  if (!entry) {
    const auto key_type = said_by(in, key), value_type = said_by(in, value);
    if (key_type && value_type) entry = functions::Type::tuple_of({*key_type, *value_type});
  }
  const Value own_key = kept_key(in, key);
  Dict::set_item(in, own_key, kept_value(in, value));
}
void TypedDict::put_all(Interpreter& in, const Value& other) {
  Value plain = make_dict();
  plain.as<Dict>()->update(in, other);
  for (const Entry& e : plain.as<Dict>()->entries())
    if (!e.key.is_absent()) set_item(in, e.key, e.value);
}

const gasell::Type& TypedList::type() const {
  static const gasell::Type t{"List", "numba.typed.typedlist", &list_type(),
                              methods_of(list_type(), {{"append", append},
                                                       {"extend", extend},
                                                       {"insert", of_item<&kInsert, 2>},
                                                       {"index", of_item<&kIndex, 1>},
                                                       {"count", of_item<&kCount, 1>},
                                                       {"remove", of_item<&kRemove, 1>},
                                                       {"copy", copy_list}})};
  return t;
}

std::string TypedList::str(Interpreter& in) {
  std::string text;
  for (const Value& v : items) text += (text.empty() ? "" : ", ") + gasell::str(in, v);
  return "[" + text + "]";
}
std::string TypedList::repr(Interpreter& in) {
  return "ListType[" + (item ? functions::to_string(*item) : "Undefined") + "](" + str(in) + ")";
}

Value TypedList::kept(Interpreter& in, const Value& v) {
  if (!item) item = said_by(in, v);
  return item ? converted(in, v, *item, "a list") : v;
}
std::vector<Value> TypedList::all_kept(Interpreter& in, const Value& iterable) {
  std::vector<Value> all = to_vector(in, iterable);
  for (Value& v : all) v = kept(in, v);
  return all;
}
bool TypedList::contains(Interpreter& in, const Value& v) { return List::contains(in, kept(in, v)); }
Value TypedList::get_item(Interpreter& in, const Value& index) {
  Value got = List::get_item(in, index);
  return index.as<SliceObject>() ? Value::make<TypedList>(got.as<List>()->items, item) : got;
}
void TypedList::set_item(Interpreter& in, const Value& index, const Value& value) {
  List::set_item(in, index, index.as<SliceObject>() ? make_list(all_kept(in, value)) : kept(in, value));
}
std::optional<Value> TypedList::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::add) return List::in_place(in, op, other);
  for (Value& v : all_kept(in, other)) items.push_back(std::move(v));
  return Value::of(this);
}

const gasell::Type& TypedClass::type() const { return type_type(); }
std::string TypedClass::repr(Interpreter&) { return "<class '" + path() + "'>"; }

Value TypedClass::call(Interpreter& in, Arguments args) {
  if (args.positional.size() > 1 || !args.keywords.empty()) raise("TypeError", path() + " takes one thing to copy from, or nothing");
  if (dict_) {
    Value made = Value::make<TypedDict>();
    if (!args.positional.empty()) made.as<TypedDict>()->put_all(in, args.positional[0]);
    return made;
  }
  Value made = Value::make<TypedList>(std::vector<Value>());
  if (!args.positional.empty()) made.as<TypedList>()->items = made.as<TypedList>()->all_kept(in, args.positional[0]);
  return made;
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
