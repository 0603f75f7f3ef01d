// The types that have no file of their own (object, type, NoneType, …), their singletons, and types as values.
#include <mutex>
#include <unordered_map>

#include "runtime/session/arguments.h"
#include "runtime/session/class.h"
#include "runtime/session/class_members.h"
#include "runtime/session/dict.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"
#include "runtime/session/type_objects.h"
#include "runtime/session/type_unions.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

class Bare final : public Object {
 public:
  Bare(const Type& type, std::string text) : type_(type), text_(std::move(text)) {}
  const Type& type() const override { return type_; }
  std::string repr(Interpreter& in) override { return text_.empty() ? Object::repr(in) : text_; }

 private:
  const Type& type_;
  std::string text_;
};

Value new_object(Interpreter&, std::span<Value>) { return Value::make<Bare>(object_type(), ""); }
/// type(name, bases, dict): what a class statement makes.
Value make_class(Interpreter& in, const Value& name, const Value& bases, const Value& dict) {
  const auto argument = [](int k, const char* wanted, const Value& v) {
    raise("TypeError", "type.__new__() argument " + std::to_string(k) + " must be " + wanted + ", not " + type_of(v).name);
  };
  if (!name.as<Str>()) argument(1, "str", name);
  if (!bases.as<Tuple>()) argument(2, "tuple", bases);
  if (!dict.as<Dict>()) argument(3, "dict", dict);
  Members members;
  for (const Dict::Entry& entry : dict.as<Dict>()->entries()) {
    if (entry.key.is_absent()) continue;
    if (!entry.key.as<Str>()) raise("NotImplementedError", "names of a class that are no str are not in Gasell");
    members.set(entry.key.as<Str>()->value, entry.value);
  }
  const Value* module = in.global("__name__");
  return Class::make(in, module ? str(in, *module) : "__main__", name.as<Str>()->value, name.as<Str>()->value, bases.as<Tuple>()->items, {},
                     std::move(members), nullptr);
}

Value type_of_argument(Interpreter& in, std::span<Value> args) {
  if (!is_missing(args[1]) && is_missing(args[2])) raise("TypeError", "type() takes 1 or 3 arguments");
  if (!is_missing(args[1])) return make_class(in, args[0], args[1], args[2]);
  // An object of a class that belongs to a session knows it.
  if (args[0].is_object() && !args[0].as<TypeObject>())
    if (auto own = args[0].object()->get_attribute(in, "__class__"); own && own->as<TypeObject>()) return *own;
  if (const auto* made = args[0].as<Class>(); made && !made->meta_class().is_none()) return made->meta_class();
  return type_object(type_of(args[0]));
}

/// `str.upper`: a method taken from its type, which wants its object as the first argument.
class UnboundMethod final : public Object {
 public:
  UnboundMethod(const Type& owner, const NativeFunction& function) : owner_(owner), function_(function) {}
  const Type& type() const override {
    static const Type t{"method_descriptor", "builtins", &object_type(), {}, {}};
    return t;
  }
  std::string repr(Interpreter&) override { return "<method '" + function_.name + "' of '" + owner_.name + "' objects>"; }
  Value call(Interpreter& in, Arguments args) override {
    if (args.positional.empty()) raise("TypeError", "unbound method " + owner_.name + "." + function_.name + "() needs an argument");
    if (!is_instance(args.positional[0], owner_)) {
      raise("TypeError", "descriptor '" + function_.name + "' for '" + owner_.name + "' objects doesn't apply to a '" +
                             type_of(args.positional[0]).name + "' object");
    }
    Value self = std::move(args.positional[0]);
    args.positional.erase(args.positional.begin());
    return call_native(in, function_, &self, std::move(args));
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "__name__") return make_str(function_.name);
    if (name == "__doc__") return function_.doc.empty() ? Value() : make_str(function_.doc);
    return Object::get_attribute(in, name);
  }

 private:
  const Type& owner_;
  const NativeFunction& function_;
};

}  // namespace

const Type& object_type() {
  static const NativeFunction constructor{"object", "", new_object, "object(): a value that equals only itself"};
  static const Type type{"object", "builtins", nullptr, {}, {}, &constructor};
  return type;
}
const Type& type_type() {
  static const NativeFunction constructor{"type", "object, bases=missing, dict=missing, /", type_of_argument,
                                          "type(object): the object's type"};
  static const Type type{"type", "builtins", &object_type(), {}, {}, &constructor};
  return type;
}
const Type& none_type() {
  static const Type type{"NoneType", "builtins", &object_type(), {}, {}};
  return type;
}
const Type& ellipsis_type() {
  static const Type type{"ellipsis", "builtins", &object_type(), {}, {}};
  return type;
}
const Type& not_implemented_type() {
  static const Type type{"NotImplementedType", "builtins", &object_type(), {}, {}};
  return type;
}
const Type& builtin_type() {
  static const Type type{"builtin_function_or_method", "builtins", &object_type(), {}, {}};
  return type;
}

const Value& ellipsis() {
  static const Value value = Value::make<Bare>(ellipsis_type(), "Ellipsis").immortal();
  return value;
}
const Value& not_implemented() {
  static const Value value = Value::make<Bare>(not_implemented_type(), "NotImplemented").immortal();
  return value;
}

// ---- types as values ----

namespace {

/// A built-in type: what it is in annotations beside.
class PlainType final : public TypeObject {
 public:
  using TypeObject::TypeObject;
  Value get_item(Interpreter& in, const Value& index) override {
    if (auto alias = generic_alias(Value::of(this), index)) return *alias;
    return TypeObject::get_item(in, index);
  }
  std::optional<Value> binary(Interpreter&, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::bit_or) return {};
    return type_union(Value::of(this), other);
  }
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::bit_or) return {};
    return type_union(other, Value::of(this));
  }
};

/// The object of a type; None where there is none yet. The caller holds the lock.
Value& known_type_object(const Type& type) {
  static auto& objects = *new std::unordered_map<const Type*, Value>;
  return objects[&type];
}
std::mutex type_objects_mutex;
}  // namespace

const Value& type_object(const Type& type) {
  std::lock_guard lock(type_objects_mutex);
  Value& value = known_type_object(type);
  if (value.is_none()) value = Value::make<PlainType>(type).immortal();
  return value;
}

bool register_type_object(const Type& type, const Value& object) {
  std::lock_guard lock(type_objects_mutex);
  known_type_object(type) = object.immortal();
  return true;
}

const NativeFunction* plain_constructor(const Object& object) {
  return is_exactly<PlainType>(object) ? static_cast<const PlainType&>(object).described.constructor : nullptr;
}

const Type& TypeObject::type() const { return type_type(); }

std::string TypeObject::repr(Interpreter&) {
  return "<class '" + (described.module == "builtins" || described.module.empty() ? "" : described.module + ".") + described.name + "'>";
}

Value TypeObject::call(Interpreter& in, Arguments args) {
  if (described.derives_from(*exception_type("BaseException"))) {
    if (!args.keywords.empty()) raise("TypeError", described.name + "() takes no keyword arguments");
    return make_exception(described, std::move(args.positional));
  }
  if (!described.constructor) raise("TypeError", "cannot create '" + described.name + "' instances");
  return call_native(in, *described.constructor, nullptr, std::move(args));
}

std::optional<Value> TypeObject::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* t = other.as<TypeObject>();
  if (!t || (op != ast::CompareOp::eq && op != ast::CompareOp::ne)) return {};
  return Value::of((&t->described == &described) == (op == ast::CompareOp::eq));
}

int64_t TypeObject::hash(Interpreter&) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(&described) >> 4); }

std::optional<Value> TypeObject::get_attribute(Interpreter& in, std::string_view name) {
  if (name == "__name__" || name == "__qualname__") return make_str(described.name);
  if (name == "__module__") return make_str(described.module);
  if (name == "__doc__") {
    return described.constructor && !described.constructor->doc.empty() ? make_str(described.constructor->doc) : Value();
  }
  if (name == "__base__") return described.base ? type_object(*described.base) : Value();
  if (name == "__mro__") {
    std::vector<Value> order;
    for (const Type* t = &described; t; t = t->base) order.push_back(type_object(*t));
    return make_tuple(std::move(order));
  }
  const bool exception = described.derives_from(*exception_type("BaseException"));
  if (exception || &described == &object_type() || dynamic_cast<Class*>(this)) {
    const NativeFunction* method = method_of_object(name, exception);
    if (method && name == "__new__") return Value::make<Builtin>(*method);
    if (method && name == "__init_subclass__") return Value::make<Builtin>(*method, Value::of(this));
    if (method) return Value::make<UnboundMethod>(described, *method);
  }
  if (const NativeFunction* function = find_static_method(described, name)) return Value::make<Builtin>(*function);
  if (const NativeFunction* method = find_method(described, name)) return Value::make<UnboundMethod>(described, *method);
  return Object::get_attribute(in, name);
}

// ---- built-in functions as values ----

const Type& Builtin::type() const { return builtin_type(); }

std::string Builtin::repr(Interpreter&) {
  if (!self) return "<built-in function " + function.name + ">";
  return "<built-in method " + function.name + " of " + type_of(*self).name + " object>";
}

Value Builtin::call(Interpreter& in, Arguments args) { return call_native(in, function, self ? &*self : nullptr, std::move(args)); }

std::optional<Value> Builtin::get_attribute(Interpreter& in, std::string_view name) {
  if (name == "__name__" || name == "__qualname__") return make_str(function.name);
  if (name == "__doc__") return function.doc.empty() ? Value() : make_str(function.doc);
  if (name == "__self__") return self ? *self : Value();
  return Object::get_attribute(in, name);
}

}  // namespace gasell
