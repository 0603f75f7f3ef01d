#include "runtime/session/class_builtin.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/arguments.h"
#include "runtime/session/class_members.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

std::optional<Value> answer(Value value) {
  if (value.is_absent() || value.same(not_implemented())) return {};
  return value;
}

std::string text_of(const Value& v, const char* method) {
  if (const auto* text = v.as<Str>()) return text->value;
  raise("TypeError", fmt::format("{} returned non-string (type {})", method, type_of(v).name));
}

constexpr const char* kCompare[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};

const char* plain_operator(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::add: return "__add__";
    case ast::BinaryOp::mul: return "__mul__";
    case ast::BinaryOp::bit_or: return "__or__";
    default: return "";
  }
}
const char* in_place_operator(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::add: return "__iadd__";
    case ast::BinaryOp::mul: return "__imul__";
    case ast::BinaryOp::bit_or: return "__ior__";
    default: return "";
  }
}

}  // namespace

template <class Base>
Value BuiltinInstance<Base>::special(Interpreter& in, std::string_view name, std::vector<Value> args) {
  const Value* found = made_by().find(name);
  if (!found) return Value::absent();
  return gasell::call(in, bound_member(in, Value(*found), Value::of(this), made_by_value), {std::move(args), {}});
}

template <class Base>
std::string BuiltinInstance<Base>::repr(Interpreter& in) {
  const Value text = special(in, "__repr__");
  return text.is_absent() ? Base::repr(in) : text_of(text, "__repr__");
}
template <class Base>
std::string BuiltinInstance<Base>::str(Interpreter& in) {
  const Value text = special(in, "__str__");
  return text.is_absent() ? repr(in) : text_of(text, "__str__");
}
template <class Base>
bool BuiltinInstance<Base>::truth(Interpreter& in) {
  const Value value = special(in, "__bool__");
  if (value.is_absent()) return length(in) != 0;
  if (!value.is_bool()) raise("TypeError", "__bool__ should return bool, returned " + type_of(value).name);
  return value.as_int() != 0;
}
template <class Base>
int64_t BuiltinInstance<Base>::hash(Interpreter& in) {
  const Value* found = made_by().find("__hash__");
  if (!found || found->is_none()) raise("TypeError", "unhashable type: '" + type().name + "'");
  return gasell::hash(in, special(in, "__hash__"));
}
template <class Base>
std::optional<Value> BuiltinInstance<Base>::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  if (op > ast::CompareOp::ge) return {};
  Value result = special(in, kCompare[static_cast<int>(op)], {other});
  return result.is_absent() ? Base::compare(in, op, other) : answer(std::move(result));
}
template <class Base>
std::optional<Value> BuiltinInstance<Base>::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  Value result = special(in, plain_operator(op), {other});
  return result.is_absent() ? Base::binary(in, op, other) : answer(std::move(result));
}
template <class Base>
std::optional<Value> BuiltinInstance<Base>::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  Value result = special(in, in_place_operator(op), {other});
  return result.is_absent() ? Base::in_place(in, op, other) : answer(std::move(result));
}
template <class Base>
int64_t BuiltinInstance<Base>::length(Interpreter& in) {
  const Value value = special(in, "__len__");
  return value.is_absent() ? Base::length(in) : gasell::to_index(in, value);
}
template <class Base>
bool BuiltinInstance<Base>::contains(Interpreter& in, const Value& item) {
  const Value found = special(in, "__contains__", {item});
  return found.is_absent() ? Base::contains(in, item) : gasell::truth(in, found);
}
template <class Base>
Value BuiltinInstance<Base>::get_item(Interpreter& in, const Value& index) {
  Value item = special(in, "__getitem__", {index});
  if (!item.is_absent()) return item;
  if constexpr (std::is_same_v<Base, Dict>) {
    if (const Value* found = Dict::find(in, index)) return *found;
    Value made = special(in, "__missing__", {index});
    if (!made.is_absent()) return made;
  }
  return Base::get_item(in, index);
}
template <class Base>
void BuiltinInstance<Base>::set_item(Interpreter& in, const Value& index, const Value& value) {
  if (special(in, "__setitem__", {index, value}).is_absent()) Base::set_item(in, index, value);
}
template <class Base>
void BuiltinInstance<Base>::delete_item(Interpreter& in, const Value& index) {
  if (special(in, "__delitem__", {index}).is_absent()) Base::delete_item(in, index);
}
template <class Base>
Value BuiltinInstance<Base>::iterate(Interpreter& in) {
  const Value iterator = special(in, "__iter__");
  return iterator.is_absent() ? Base::iterate(in) : gasell::iterate(in, iterator);
}
template <class Base>
Value BuiltinInstance<Base>::call(Interpreter& in, Arguments args) {
  const Value* found = made_by().find("__call__");
  if (!found) return Base::call(in, std::move(args));
  return gasell::call(in, bound_member(in, Value(*found), Value::of(this), made_by_value), std::move(args));
}
template <class Base>
std::optional<Value> BuiltinInstance<Base>::get_attribute(Interpreter& in, std::string_view name) {
  const Value self = Value::of(this);
  const bool own = !method_of_object(name, false) || made_by().find(name);
  if (own)
    if (auto found = find_member(in, *this, self, name)) return found;
  if (const NativeFunction* method = method_of_builtin(*builtin_base(type()), name)) return Value::make<Builtin>(*method, self);
  if (auto found = Base::get_attribute(in, name)) return found;
  if (auto found = find_member(in, *this, self, name)) return found;
  Value other = special(in, "__getattr__", {make_str(std::string(name))});
  return other.is_absent() ? std::nullopt : std::optional(std::move(other));
}
template <class Base>
void BuiltinInstance<Base>::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  if (special(in, "__setattr__", {make_str(std::string(name)), value}).is_absent()) set_member(in, Value::of(this), name, value);
}
template <class Base>
std::vector<std::string> BuiltinInstance<Base>::attribute_names(Interpreter& in) {
  std::vector<std::string> names = made_by().attribute_names(in);
  for (const auto& [name, value] : members.entries()) names.push_back(name);
  for (std::string& name : Base::attribute_names(in)) names.push_back(std::move(name));
  return names;
}
template <class Base>
Value BuiltinInstance<Base>::enter(Interpreter& in) {
  Value entered = made_by().find("__exit__") ? special(in, "__enter__") : Value::absent();
  return entered.is_absent() ? Base::enter(in) : entered;
}
template <class Base>
bool BuiltinInstance<Base>::exit(Interpreter& in, const Value& exception) {
  const Value kind = exception.is_none() ? Value() : gasell::get_attribute(in, exception, "__class__");
  return gasell::truth(in, special(in, "__exit__", {kind, exception, Value()}));
}

template class BuiltinInstance<List>;
template class BuiltinInstance<Dict>;

const Type* builtin_base(const Type& type) {
  if (type.derives_from(list_type())) return &list_type();
  return type.derives_from(dict_type()) ? &dict_type() : nullptr;
}

bool is_special_of_builtin(std::string_view name) {
  static constexpr std::string_view kKnown[] = {"__init__",
                                                "__str__",
                                                "__repr__",
                                                "__doc__",
                                                "__module__",
                                                "__qualname__",
                                                "__bool__",
                                                "__hash__",
                                                "__eq__",
                                                "__ne__",
                                                "__lt__",
                                                "__le__",
                                                "__gt__",
                                                "__ge__",
                                                "__len__",
                                                "__contains__",
                                                "__getitem__",
                                                "__setitem__",
                                                "__delitem__",
                                                "__missing__",
                                                "__iter__",
                                                "__call__",
                                                "__add__",
                                                "__mul__",
                                                "__or__",
                                                "__iadd__",
                                                "__imul__",
                                                "__ior__",
                                                "__getattr__",
                                                "__setattr__",
                                                "__enter__",
                                                "__exit__",
                                                "__delattr__",
                                                "__init_subclass__",
                                                "__class_getitem__",
                                                "__annotations__",
                                                "__match_args__"};
  return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
}

void fill_builtin(Interpreter& in, const Value& self, Arguments args) {
  const bool is_list = self.as<List>() != nullptr;
  const char* name = is_list ? "list" : "dict";
  if (args.positional.size() > 1) raise("TypeError", fmt::format("{} expected at most 1 argument, got {}", name, args.positional.size()));
  if (is_list) {
    if (!args.keywords.empty()) raise("TypeError", "list() takes no keyword arguments");
    std::vector<Value> items = args.positional.empty() ? std::vector<Value>{} : to_vector(in, args.positional[0]);
    self.as<List>()->items.swap(items);
    return;
  }
  if (!args.positional.empty()) self.as<Dict>()->update(in, args.positional[0]);
  for (auto& [key, value] : args.keywords) self.as<Dict>()->insert(in, make_str(key), std::move(value));
}

namespace {

using Args = std::span<Value>;

Value init(Interpreter& in, Args args) {
  Arguments given{args[1].as<Tuple>()->items, {}};
  for (const Dict::Entry& entry : args[2].as<Dict>()->entries())
    if (!entry.key.is_absent()) given.keywords.emplace_back(str(in, entry.key), entry.value);
  fill_builtin(in, args[0], std::move(given));
  return {};
}

/// The special methods of list or dict themselves, whatever the object's class says.
template <class Base>
const NativeFunction* own_method(std::string_view name) {
  static const NativeFunction methods[] = {
      {"__init__", "*args, **kwargs", init},
      {"__getitem__", "key, /", [](Interpreter& in, Args a) { return a[0].as<Base>()->Base::get_item(in, a[1]); }},
      {"__setitem__", "key, value, /",
       [](Interpreter& in, Args a) {
         a[0].as<Base>()->Base::set_item(in, a[1], a[2]);
         return Value();
       }},
      {"__delitem__", "key, /",
       [](Interpreter& in, Args a) {
         a[0].as<Base>()->Base::delete_item(in, a[1]);
         return Value();
       }},
      {"__len__", "", [](Interpreter& in, Args a) { return Value::of(a[0].as<Base>()->Base::length(in)); }},
      {"__iter__", "", [](Interpreter& in, Args a) { return a[0].as<Base>()->Base::iterate(in); }},
      {"__contains__", "key, /", [](Interpreter& in, Args a) { return Value::of(a[0].as<Base>()->Base::contains(in, a[1])); }},
      {"__repr__", "", [](Interpreter& in, Args a) { return make_str(a[0].as<Base>()->Base::repr(in)); }},
      {"__str__", "", [](Interpreter& in, Args a) { return make_str(a[0].object()->repr(in)); }},
      {"__eq__", "value, /",
       [](Interpreter& in, Args a) { return a[0].as<Base>()->Base::compare(in, ast::CompareOp::eq, a[1]).value_or(not_implemented()); }},
      {"__add__", "value, /",
       [](Interpreter& in, Args a) { return a[0].as<Base>()->Base::binary(in, ast::BinaryOp::add, a[1]).value_or(not_implemented()); }},
      {"__or__", "value, /",
       [](Interpreter& in, Args a) { return a[0].as<Base>()->Base::binary(in, ast::BinaryOp::bit_or, a[1]).value_or(not_implemented()); }}};
  for (const NativeFunction& method : methods)
    if (method.name == name) return &method;
  return nullptr;
}

}  // namespace

const NativeFunction* method_of_builtin(const Type& base, std::string_view name) {
  const NativeFunction* special = &base == &list_type() ? own_method<List>(name) : own_method<Dict>(name);
  return special ? special : find_method(base, name);
}

}  // namespace gasell
