// Objects of scripts' classes: their attributes, and their special methods as the slots of Object.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/class_builtin.h"
#include "runtime/session/class_members.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/script_call.h"
#include "runtime/session/types.h"

namespace gasell {

// ---- attributes of objects ----

UserObject* user_object(const Value& v) {
  if (auto* instance = v.as<Instance>()) return instance;
  if (auto* exception = v.as<ExceptionInstance>()) return exception;
  if (auto* list = v.as<ListInstance>()) return list;
  return v.as<DictInstance>();
}

std::optional<Value> find_member(Interpreter& in, UserObject& object, const Value& self, std::string_view name) {
  const Value* of_class = object.made_by().find(name);
  if (of_class && is_property(*of_class)) return bound_member(in, *of_class, self, object.made_by_value);
  if (const Value* own = object.members.find(name)) return *own;
  if (of_class) return bound_member(in, *of_class, self, object.made_by_value);
  if (name == "__class__") return object.made_by_value;
  if (name == "__module__") return make_str(object.made_by().described.module);
  if (name == "__doc__") return Value();
  if (name == "__dict__" && object.made_by().allows(name)) return object.members.as_dict(in);
  if (name == "__new__") return object.made_by().get_attribute(in, name);
  if (const NativeFunction* method = method_of_object(name, object.made_by().is_exception())) return Value::make<Builtin>(*method, self);
  return {};
}

namespace {

std::vector<std::string> names_of_object(Interpreter& in, UserObject& object) {
  std::vector<std::string> names = object.made_by().attribute_names(in);
  for (const auto& [name, value] : object.members.entries()) names.push_back(name);
  return names;
}

/// Iterates by object[0], object[1], … to the IndexError.
class ItemIterator final : public Object {
 public:
  explicit ItemIterator(Value items) : items_(std::move(items)) {}
  const Type& type() const override {
    static const Type type{"iterator", "builtins", &object_type()};
    return type;
  }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter& in) override {
    if (items_.is_none()) return {};
    try {
      return gasell::get_item(in, items_, Value::of(at_++));
    } catch (const Raised& raised) {
      if (!is_instance(raised.value, *exception_type("IndexError")) && !is_instance(raised.value, *exception_type("StopIteration"))) throw;
      items_ = Value();
      return {};
    }
  }

 private:
  Value items_;
  int64_t at_ = 0;
};

struct OperatorNames {
  const char *plain, *reflected, *in_place;
};
constexpr OperatorNames kBinary[] = {{"__add__", "__radd__", "__iadd__"},
                                     {"__sub__", "__rsub__", "__isub__"},
                                     {"__mul__", "__rmul__", "__imul__"},
                                     {"__truediv__", "__rtruediv__", "__itruediv__"},
                                     {"__floordiv__", "__rfloordiv__", "__ifloordiv__"},
                                     {"__mod__", "__rmod__", "__imod__"},
                                     {"__pow__", "__rpow__", "__ipow__"},
                                     {"__matmul__", "__rmatmul__", "__imatmul__"},
                                     {"__lshift__", "__rlshift__", "__ilshift__"},
                                     {"__rshift__", "__rrshift__", "__irshift__"},
                                     {"__and__", "__rand__", "__iand__"},
                                     {"__or__", "__ror__", "__ior__"},
                                     {"__xor__", "__rxor__", "__ixor__"}};
constexpr const char* kCompare[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};

std::optional<Value> answer(Value value) {
  if (value.is_absent() || value.same(not_implemented())) return {};
  return value;
}

/// NumPy and pandas take such an object as a scalar of dtype object; its own methods must not see the whole array in its place.
void refuse_array(const Value& other) {
  const Type& type = type_of(other);
  if (type.name == "ndarray" || type.module.starts_with("pandas"))
    raise("NotImplementedError", fmt::format("operators between {} and objects of a script's class are not in Gasell", type.name));
}

std::string text_of(const Value& v, const char* method) {
  if (const auto* text = v.as<Str>()) return text->value;
  raise("TypeError", fmt::format("{} returned non-string (type {})", method, type_of(v).name));
}

}  // namespace

void set_member(Interpreter& in, const Value& self, std::string_view name, const Value& value) {
  UserObject& object = *user_object(self);
  const Value* of_class = object.made_by().find(name);
  if (of_class && is_property(*of_class)) return set_property(in, *of_class, self, name, value);
  if (name == "__class__" || name == "__dict__") raise("NotImplementedError", fmt::format("assigning {} is not in Gasell", name));
  if (!object.made_by().allows(name)) {
    if (of_class) raise("AttributeError", fmt::format("'{}' object attribute '{}' is read-only", object.made_by().described.name, name));
    raise("AttributeError", fmt::format("'{}' object has no attribute '{}'", object.made_by().described.name, name));
  }
  object.members.set(name, value);
}

bool is_iterable(const Value& v) {
  if (!v.is_object()) return false;
  auto* object = v.as<Instance>();
  return !object || object->made_by().find("__iter__") || object->made_by().find("__getitem__");
}

void delete_attribute(Interpreter& in, const Value& v, std::string_view name) {
  if (auto* c = v.as<Class>()) {
    ++class_changes;
    if (!c->members.remove(name)) raise("AttributeError", fmt::format("type object '{}' has no attribute '{}'", c->described.name, name));
    return;
  }
  if (auto* module = v.as<Module>()) {
    if (auto found = module->members.find(name); found != module->members.end()) {
      module->members.erase(found);
      return;
    }
  }
  auto* object = user_object(v);
  if (!object) {
    get_attribute(in, v, name);
    raise("AttributeError", fmt::format("'{}' object attribute '{}' is read-only", type_of(v).name, name));
  }
  if (const Value* own = object->made_by().find("__delattr__"); own && v.as<Instance>()) {
    call(in, bound_member(in, *own, v, object->made_by_value), {{make_str(std::string(name))}, {}});
    return;
  }
  delete_member(in, v, name);
}

void delete_member(Interpreter& in, const Value& v, std::string_view name) {
  UserObject& object = *user_object(v);
  const Value* of_class = object.made_by().find(name);
  if (of_class && is_property(*of_class)) return set_property(in, *of_class, v, name, Value::absent());
  if (!object.members.remove(name))
    raise("AttributeError", of_class ? std::string(name) : fmt::format("'{}' object has no attribute '{}'", type_of(v).name, name));
}

// ---- objects ----

Value Instance::special(Interpreter& in, std::string_view name, std::initializer_list<Value> args) {
  const Value* found = made_by().find(name);
  if (!found) return Value::absent();
  const Value self = Value::of(this), kept = *found;
  if (const auto* function = kept.as<Function>()) {
    Session& session = Evaluator::session(in);
    Value given = attempt_filled(session, *function, args.size() + 1, [&](std::span<Value> values) {
      values[0] = self;
      std::copy(args.begin(), args.end(), values.begin() + 1);
      return true;
    });
    if (given.is_absent() && !session.raised.is_none()) throw_raised(session);
    return given;
  }
  return gasell::call(in, bound_member(in, kept, self, made_by_value), {args, {}});
}

const Function* Instance::plain_method(Name name, ClassLookup& lookup) {
  const Value* found = lookup.look(made_by(), name).found;
  Function* const function = found ? found->exactly<Function>() : nullptr;
  return function && !members.find(name, lookup.place) ? function : nullptr;
}

Value* Instance::own_attribute(Name name, ClassLookup& lookup) {
  return lookup.look(made_by(), name).property ? nullptr : members.find(name, lookup.place);
}

bool Instance::set_own_attribute(Name name, const Value& value, ClassLookup& lookup) {
  if (!lookup.look(made_by(), name).sets) return false;
  if (Value* own = members.find(name, lookup.place)) {
    *own = value;
  } else {
    members.add(name, value);
  }
  return true;
}

const Class::Meaning& Class::meaning(Name name) {
  const uint64_t changes = class_changes.load(std::memory_order_relaxed);
  if (std::exchange(meanings_changes_, changes) != changes) meanings_.clear();
  const auto [place, is_new] = meanings_.try_emplace(name);
  if (is_new) {
    const Value* const found = find(*name);
    const bool property = found && is_property(*found);
    place->second = {found, property, !property && !find("__setattr__") && allows(*name) && *name != "__class__" && *name != "__dict__"};
  }
  return place->second;
}

std::string Instance::repr(Interpreter& in) {
  const Value text = special(in, "__repr__");
  if (!text.is_absent()) return text_of(text, "__repr__");
  std::string name = made_by().repr(in);
  return fmt::format("<{} object at {}>", name.substr(8, name.size() - 10), static_cast<const void*>(this));
}
std::string Instance::str(Interpreter& in) {
  const Value text = special(in, "__str__");
  return text.is_absent() ? repr(in) : text_of(text, "__str__");
}
std::string Instance::format(Interpreter& in, std::string_view spec) {
  const Value text = special(in, "__format__", {make_str(std::string(spec))});
  if (text.is_absent()) return Object::format(in, spec);
  if (!text.as<Str>()) raise("TypeError", "__format__ must return a str, not " + type_of(text).name);
  return text.as<Str>()->value;
}
bool Instance::truth(Interpreter& in) {
  const Value value = special(in, "__bool__");
  if (!value.is_absent()) {
    if (!value.is_bool()) raise("TypeError", "__bool__ should return bool, returned " + type_of(value).name);
    return value.as_int() != 0;
  }
  return !made_by().find("__len__") || length(in) != 0;
}
int64_t Instance::hash(Interpreter& in) {
  const Value* found = made_by().find("__hash__");
  if (!found) return Object::hash(in);
  if (found->is_none()) raise("TypeError", "unhashable type: '" + type().name + "'");
  const Value value = special(in, "__hash__");
  if (!value.is_int() && !value.is_bool()) {
    if (value.is_object() && value.object()->type().derives_from(int_type())) return gasell::hash(in, value);
    raise("TypeError", "__hash__ method should return an integer");
  }
  return value.as_int() == -1 ? -2 : value.as_int();
}

std::optional<Value> Instance::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  if (op > ast::CompareOp::ge) return {};
  refuse_array(other);
  if (op == ast::CompareOp::ne && !made_by().find("__ne__")) {
    const std::optional<Value> same = answer(special(in, "__eq__", {other}));
    if (!same) return {};
    return Value::of(!gasell::truth(in, *same));
  }
  return answer(special(in, kCompare[static_cast<int>(op)], {other}));
}
std::optional<Value> Instance::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  const OperatorNames& names = kBinary[static_cast<int>(op)];
  // A class that derives from this one and says otherwise goes first.
  if (auto* right = other.as<Instance>(); right && &right->made_by() != &made_by() && right->type().derives_from(type())) {
    const Value *its = right->made_by().find(names.reflected), *mine = made_by().find(names.reflected);
    if (its && (!mine || !its->same(*mine)))
      if (auto result = answer(right->special(in, names.reflected, {Value::of(this)}))) return result;
  }
  return answer(special(in, names.plain, {other}));
}
std::optional<Value> Instance::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  refuse_array(other);
  const auto* left = other.as<Instance>();
  if (left && &left->made_by() == &made_by()) return {};
  return answer(special(in, kBinary[static_cast<int>(op)].reflected, {other}));
}
std::optional<Value> Instance::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return answer(special(in, kBinary[static_cast<int>(op)].in_place, {other}));
}
Value Instance::unary(Interpreter& in, ast::UnaryOp op) {
  Value result = special(in, op == ast::UnaryOp::neg ? "__neg__" : op == ast::UnaryOp::pos ? "__pos__" : "__invert__");
  return result.is_absent() ? Object::unary(in, op) : result;
}
int64_t Instance::length(Interpreter& in) {
  const Value value = special(in, "__len__");
  if (value.is_absent()) return Object::length(in);
  const int64_t count = gasell::to_index(in, value);
  if (count < 0) raise("ValueError", "__len__() should return >= 0");
  return count;
}
bool Instance::contains(Interpreter& in, const Value& item) {
  const Value found = special(in, "__contains__", {item});
  return found.is_absent() ? Object::contains(in, item) : gasell::truth(in, found);
}
Value Instance::get_item(Interpreter& in, const Value& index) {
  Value item = special(in, "__getitem__", {index});
  return item.is_absent() ? Object::get_item(in, index) : item;
}
void Instance::set_item(Interpreter& in, const Value& index, const Value& value) {
  if (special(in, "__setitem__", {index, value}).is_absent()) Object::set_item(in, index, value);
}
void Instance::delete_item(Interpreter& in, const Value& index) {
  if (special(in, "__delitem__", {index}).is_absent()) Object::delete_item(in, index);
}
Value Instance::iterate(Interpreter& in) {
  Value iterator = special(in, "__iter__");
  if (iterator.is_absent()) return made_by().find("__getitem__") ? Value::make<ItemIterator>(Value::of(this)) : Object::iterate(in);
  if (auto* instance = iterator.as<Instance>()) {
    if (!instance->made_by().find("__next__"))
      raise("TypeError", fmt::format("iter() returned non-iterator of type '{}'", instance->type().name));
    return iterator;
  }
  if (!iterator.is_object() || iterator.as<Str>() || iterator.as<List>() || iterator.as<Tuple>() || iterator.as<Dict>())
    raise("TypeError", fmt::format("iter() returned non-iterator of type '{}'", type_of(iterator).name));
  return gasell::iterate(in, iterator);
}
std::optional<Value> Instance::next(Interpreter& in) {
  try {
    Value item = special(in, "__next__");
    return item.is_absent() ? Object::next(in) : std::optional(std::move(item));
  } catch (const Raised& raised) {
    if (!is_instance(raised.value, *exception_type("StopIteration"))) throw;
    return {};
  }
}
Value Instance::call(Interpreter& in, Arguments args) {
  const Value* found = made_by().find("__call__");
  if (!found) return Object::call(in, std::move(args));
  return gasell::call(in, bound_member(in, *found, Value::of(this), made_by_value), std::move(args));
}

std::optional<Value> Instance::get_attribute(Interpreter& in, std::string_view name) {
  const bool falls_back = made_by().find("__getattr__");
  if (!falls_back) return find_member(in, *this, Value::of(this), name);
  try {
    if (auto found = find_member(in, *this, Value::of(this), name)) return found;
  } catch (const Raised& raised) {  // a property's AttributeError counts too
    if (!is_instance(raised.value, *exception_type("AttributeError"))) throw;
  }
  return special(in, "__getattr__", {make_str(std::string(name))});
}
void Instance::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  if (made_by().find("__setattr__")) {
    special(in, "__setattr__", {make_str(std::string(name)), value});
    return;
  }
  set_member(in, Value::of(this), name, value);
}
std::vector<std::string> Instance::attribute_names(Interpreter& in) { return names_of_object(in, *this); }

Value Instance::enter(Interpreter& in) {
  if (!made_by().find("__exit__") && made_by().find("__enter__"))
    raise("TypeError", "'" + type().name + "' object does not support the context manager protocol (missed __exit__ method)");
  Value entered = special(in, "__enter__");
  return entered.is_absent() ? Object::enter(in) : entered;
}
bool Instance::exit(Interpreter& in, const Value& exception) {
  const Value kind = exception.is_none() ? Value() : gasell::get_attribute(in, exception, "__class__");
  return gasell::truth(in, special(in, "__exit__", {kind, exception, Value()}));
}
std::optional<Value> Instance::to_int(Interpreter& in) {
  if (auto value = answer(special(in, "__int__"))) return value;
  return answer(special(in, "__index__"));
}
std::optional<Value> Instance::to_float(Interpreter& in) {
  if (auto value = answer(special(in, "__float__"))) return value;
  return answer(special(in, "__index__"));
}
std::optional<int64_t> Instance::to_index(Interpreter& in) {
  const Value value = special(in, "__index__");
  if (value.is_absent()) return {};
  if (!value.is_int() && !value.is_bool()) raise("TypeError", "__index__ returned non-int (type " + type_of(value).name + ")");
  return value.as_int();
}

// ---- exceptions ----

std::string ExceptionInstance::repr(Interpreter& in) {
  const Value* found = made_by().find("__repr__");
  if (!found) return Exception::repr(in);
  return text_of(gasell::call(in, bound_member(in, *found, Value::of(this), made_by_value), {}), "__repr__");
}
std::string ExceptionInstance::str(Interpreter& in) {
  const Value* found = made_by().find("__str__");
  if (!found) return Exception::str(in);
  return text_of(gasell::call(in, bound_member(in, *found, Value::of(this), made_by_value), {}), "__str__");
}
std::optional<Value> ExceptionInstance::get_attribute(Interpreter& in, std::string_view name) {
  if (auto found = find_member(in, *this, Value::of(this), name)) return found;
  return Exception::get_attribute(in, name);
}
void ExceptionInstance::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  const bool built_in = name == "args" || name.starts_with("__");
  if (built_in && !made_by().find(name)) return Exception::set_attribute(in, name, value);
  set_member(in, Value::of(this), name, value);
}
std::vector<std::string> ExceptionInstance::attribute_names(Interpreter& in) {
  std::vector<std::string> names = names_of_object(in, *this);
  for (std::string& name : Exception::attribute_names(in)) names.push_back(std::move(name));
  return names;
}

}  // namespace gasell
