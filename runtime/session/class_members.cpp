#include "runtime/session/class_members.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/class.h"
#include "runtime/session/class_builtin.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/packing.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

class Property final : public Object {
 public:
  Property(Value g, Value s, Value d, Value t) : getter(std::move(g)), setter(std::move(s)), deleter(std::move(d)), doc(std::move(t)) {}
  const Type& type() const override { return property_type(); }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "fget") return getter;
    if (name == "fset") return setter;
    if (name == "fdel") return deleter;
    if (name == "__doc__") return doc.is_none() && !getter.is_none() ? gasell::get_attribute(in, getter, name) : doc;
    return Object::get_attribute(in, name);
  }
  const Value getter, setter, deleter, doc;
};

/// Whether it is an object of a script's class with this method.
bool has_special(const Value& v, std::string_view name) {
  const auto* object = v.as<Instance>();
  return object && object->made_by().find(name);
}

const Property& property_of(const Value& v) { return *static_cast<Property*>(v.object()); }

/// staticmethod(f) and classmethod(f).
class WrappedFunction final : public Object {
 public:
  WrappedFunction(const Type& t, Value f) : function(std::move(f)), type_(t) {}
  const Type& type() const override { return type_; }
  Value call(Interpreter& in, Arguments args) override {
    if (&type_ != &static_method_type()) return Object::call(in, std::move(args));
    return gasell::call(in, function, std::move(args));
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "__func__" || name == "__wrapped__") return function;
    if (name == "__name__" || name == "__doc__" || name == "__qualname__") return gasell::get_attribute(in, function, name);
    return Object::get_attribute(in, name);
  }
  const Value function;

 private:
  const Type& type_;
};

class CachedProperty final : public Object {
 public:
  explicit CachedProperty(Value f) : function(std::move(f)) {}
  const Type& type() const override { return cached_property_type(); }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view attribute) override {
    if (attribute == "func") return function;
    if (attribute == "__doc__") return gasell::get_attribute(in, function, attribute);
    return Object::get_attribute(in, attribute);
  }
  const Value function;
  std::string name;
};

class NativeMethod final : public Object {
 public:
  explicit NativeMethod(const NativeFunction& f) : function(f) {}
  const Type& type() const override { return function_type(); }
  Value call(Interpreter& in, Arguments args) override { return call_native(in, function, nullptr, std::move(args)); }
  const NativeFunction& function;
};

/// object.method
class BoundMethod final : public Object {
 public:
  BoundMethod(Value f, Value s) : function(std::move(f)), self(std::move(s)) {}
  const Type& type() const override {
    static const Type type{"method", "builtins", &object_type()};
    return type;
  }
  std::string repr(Interpreter& in) override {
    return fmt::format("<bound method {} of {}>", gasell::str(in, gasell::get_attribute(in, function, "__qualname__")),
                       gasell::repr(in, self));
  }
  Value call(Interpreter& in, Arguments args) override {
    args.positional.insert(args.positional.begin(), self);
    return gasell::call(in, function, std::move(args));
  }
  std::optional<Value> compare(Interpreter&, ast::CompareOp op, const Value& other) override {
    const auto* method = other.as<BoundMethod>();
    if (!method || op > ast::CompareOp::ne) return {};
    return Value::of((method->function.same(function) && method->self.same(self)) == (op == ast::CompareOp::eq));
  }
  int64_t hash(Interpreter& in) override {
    return gasell::hash(in, function) ^ static_cast<int64_t>(reinterpret_cast<uintptr_t>(self.object()));
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "__self__") return self;
    if (name == "__func__") return function;
    if (name == "__class__") return Object::get_attribute(in, name);
    return gasell::get_attribute(in, function, name);
  }
  const Value function, self;
};

// ---- super ----

Value do_nothing(Interpreter&, std::span<Value>) { return {}; }

bool is_empty(const Value& positional, const Value& keywords) {
  return positional.as<Tuple>()->items.empty() && keywords.as<Dict>()->size() == 0;
}
Value plain_init(Interpreter&, std::span<Value> args) {
  if (is_empty(args[1], args[2])) return {};
  const auto* object = user_object(args[0]);
  if (object && !object->made_by().find("__init__")) {
    if (object->made_by().find("__new__")) return {};
    raise("TypeError", object->made_by().described.name + "() takes no arguments");
  }
  raise("TypeError", "object.__init__() takes exactly one argument (the instance to initialize)");
}
Value set_arguments(Interpreter& in, std::span<Value> args) {
  static_cast<Exception*>(args[0].object())->args = to_vector(in, args[1]);
  return {};
}
Value plain_repr(Interpreter& in, std::span<Value> args) {
  if (auto* exception = args[0].as<ExceptionInstance>()) return make_str(exception->Exception::repr(in));
  std::string name = user_object(args[0])->made_by().repr(in);
  return make_str(fmt::format("<{} object at {}>", name.substr(8, name.size() - 10), static_cast<const void*>(args[0].object())));
}
Value plain_str(Interpreter& in, std::span<Value> args) {
  if (auto* exception = args[0].as<ExceptionInstance>()) return make_str(exception->Exception::str(in));
  return make_str(repr(in, args[0]));
}
Value plain_set(Interpreter& in, std::span<Value> args) {
  set_member(in, args[0], args[1].as<Str>() ? args[1].as<Str>()->value : str(in, args[1]), args[2]);
  return {};
}
Value plain_equal(Interpreter&, std::span<Value> args) { return args[0].same(args[1]) ? Value::of(true) : not_implemented(); }
Value plain_hash(Interpreter& in, std::span<Value> args) { return Value::of(args[0].object()->Object::hash(in)); }

Value plain_new(Interpreter& in, std::span<Value> args) {
  auto* made_by = args[0].as<Class>();
  if (made_by && !made_by->is_exception() && !is_empty(args[1], args[2])) {
    if (made_by->find("__new__")) raise("TypeError", "object.__new__() takes exactly one argument (the type to instantiate)");
    if (!made_by->find("__init__")) raise("TypeError", made_by->described.name + "() takes no arguments");
  }
  if (made_by) return made_by->make_instance(to_vector(in, args[1]));
  if (!args[0].as<TypeObject>()) raise("TypeError", "object.__new__(X): X is not a type object (" + type_of(args[0]).name + ")");
  return call(in, args[0], {});
}
Value plain_get(Interpreter& in, std::span<Value> args) {
  const std::string name = str(in, args[1]);
  if (auto* object = user_object(args[0]))
    if (auto found = find_member(in, *object, args[0], name)) return *found;
  return get_attribute(in, args[0], name);
}
Value plain_delete(Interpreter& in, std::span<Value> args) {
  delete_member(in, args[0], str(in, args[1]));
  return {};
}
Value plain_format(Interpreter& in, std::span<Value> args) { return make_str(args[0].object()->Object::format(in, str(in, args[1]))); }

}  // namespace

const NativeFunction* method_of_object(std::string_view name, bool exception) {
  static const NativeFunction methods[] = {{"__init__", "*args, **kwargs", plain_init},
                                           {"__repr__", "", plain_repr},
                                           {"__str__", "", plain_str},
                                           {"__format__", "format_spec, /", plain_format},
                                           {"__setattr__", "name, value, /", plain_set},
                                           {"__delattr__", "name, /", plain_delete},
                                           {"__getattribute__", "name, /", plain_get},
                                           {"__eq__", "value, /", plain_equal},
                                           {"__hash__", "", plain_hash},
                                           {"__new__", "cls, /, *args, **kwargs", plain_new},
                                           {"__init_subclass__", "", do_nothing}};
  static const NativeFunction initialise{"__init__", "*args", set_arguments};
  if (exception && name == "__init__") return &initialise;
  for (const NativeFunction& method : methods)
    if (method.name == name) return &method;
  return nullptr;
}

namespace {

class Super final : public Object {
 public:
  Super(Value c, Value s) : start_(std::move(c)), self_(std::move(s)) {}
  const Type& type() const override {
    static const Type type{"super", "builtins", &object_type()};
    return type;
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    auto& start = static_cast<Class&>(*start_.object());
    const bool of_class = self_.as<Class>() != nullptr;
    const Value made_by = of_class ? self_ : user_object(self_)->made_by_value;
    if (const Value* found = made_by.as<Class>()->find_behind(start, name))
      return bound_member(in, *found, of_class ? Value::absent() : self_, made_by);
    if (name == "__new__") return Value::make<Builtin>(*method_of_object(name, false));
    if (name == "__init_subclass__") return Value::make<Builtin>(*method_of_object(name, false), self_);
    if (of_class) return {};
    if (const Type* container = builtin_base(start.described))
      if (const NativeFunction* method = method_of_builtin(*container, name)) return Value::make<Builtin>(*method, self_);
    if (const NativeFunction* method = method_of_object(name, start.is_exception())) return Value::make<Builtin>(*method, self_);
    if (start.is_exception() && !name.starts_with("__")) return self_.as<ExceptionInstance>()->Exception::get_attribute(in, name);
    return {};
  }

 private:
  const Value start_, self_;
};

Value make_super(Interpreter& in, std::span<Value> args) {
  Value start = args[0], self = args[1];
  if (is_missing(start)) {
    const Frame* f = Evaluator::session(in).running;
    if (!f || f->code.signature.parameters.empty() || f->locals[0].is_absent()) raise("RuntimeError", "super(): no arguments");
    const auto& names = f->code.cell_names;
    const auto cell = std::find(names.begin(), names.end(), "__class__");
    if (cell == names.end()) raise("RuntimeError", "super(): __class__ cell not found");
    start = static_cast<Cell*>(f->cells[cell - names.begin()].object())->value;
    if (start.is_absent()) raise("RuntimeError", "super(): empty __class__ cell");
    self = f->locals[0];
  }
  if (is_missing(self) || !start.as<Class>())
    raise("NotImplementedError", "super() in Gasell takes a class of a script and an object of it, or nothing");
  const auto& wanted = start.as<Class>()->described;
  const auto* of_class = self.as<Class>();
  if (of_class ? !of_class->described.derives_from(wanted) : !is_instance(self, wanted))
    raise("TypeError", "super(type, obj): obj must be an instance or subtype of type");
  return Value::make<Super>(start, self);
}

Value delete_by_name(Interpreter& in, std::span<Value> args) {
  const auto* name = args[1].as<Str>();
  if (!name) raise("TypeError", "attribute name must be string, not '" + type_of(args[1]).name + "'");
  delete_attribute(in, args[0], name->value);
  return {};
}

template <size_t which>
Value changed_property(Interpreter&, std::span<Value> args) {
  const Property& p = property_of(args[0]);
  return Value::make<Property>(which == 0 ? args[1] : p.getter, which == 1 ? args[1] : p.setter, which == 2 ? args[1] : p.deleter, p.doc);
}

}  // namespace

Value bound_member(Interpreter& in, const Value& member, const Value& self, const Value& made_by) {
  if (!member.is_object()) return member;
  if (const auto* wrapped = member.as<WrappedFunction>()) {
    if (&wrapped->type() == &static_method_type()) return wrapped->function;
    return Value::make<BoundMethod>(wrapped->function, made_by);
  }
  if (has_special(member, "__get__"))
    return call(in, get_attribute(in, member, "__get__"), {{self.is_absent() ? Value() : self, made_by}, {}});
  if (self.is_absent()) return member;
  if (const auto* property = member.as<Property>()) {
    if (property->getter.is_none()) raise("AttributeError", "unreadable attribute");
    const Value getter = property->getter;
    return call(in, getter, {{self}, {}});
  }
  if (const auto* method = member.as<NativeMethod>()) return Value::make<Builtin>(method->function, self);
  if (const auto* cached = member.as<CachedProperty>()) {
    const Value kept = member;
    if (cached->name.empty()) raise("TypeError", "Cannot use cached_property instance without calling __set_name__ on it.");
    Value value = call(in, cached->function, {{self}, {}});
    user_object(self)->members.set(cached->name, value);
    return value;
  }
  // Beside functions, what wraps one (lru_cache, njit) binds as it does.
  const std::string& kind = type_of(member).name;
  if (member.as<Function>() || kind == "_lru_cache_wrapper" || kind == "CPUDispatcher") return Value::make<BoundMethod>(member, self);
  return member;
}

Value native_method(const NativeFunction& function) { return Value::make<NativeMethod>(function); }

void name_member(const Value& member, const std::string& name) {
  auto* cached = member.as<CachedProperty>();
  if (!cached) return;
  if (!cached->name.empty() && cached->name != name) raise("NotImplementedError", "one cached_property under two names is not in Gasell");
  cached->name = name;
}

const Type& cached_property_type() {
  static const NativeFunction constructor{"cached_property", "func, /",
                                          [](Interpreter&, std::span<Value> a) { return Value::make<CachedProperty>(a[0]); },
                                          "A function as an attribute that is computed once."};
  static const Type type{"cached_property", "functools", &object_type(), {}, {}, &constructor};
  return type;
}

bool is_property(const Value& member) {
  return member.as<Property>() != nullptr || has_special(member, "__set__") || has_special(member, "__delete__");
}

bool is_descriptor(const Value& member) {
  return member.as<Function>() || member.as<Property>() || member.as<WrappedFunction>() || member.as<NativeMethod>() ||
         member.as<CachedProperty>() || has_special(member, "__get__");
}

bool is_abstract(Interpreter& in, const Value& member) {
  if (const auto* wrapped = member.as<WrappedFunction>()) return is_abstract(in, wrapped->function);
  if (const auto* p = member.as<Property>()) return is_abstract(in, p->getter) || is_abstract(in, p->setter) || is_abstract(in, p->deleter);
  if (!member.as<Function>()) return false;
  const auto mark = member.object()->get_attribute(in, "__isabstractmethod__");
  return mark && truth(in, *mark);
}

void set_property(Interpreter& in, const Value& member, const Value& self, std::string_view name, const Value& value) {
  const Value kept = member;
  if (!member.as<Property>()) {
    const char* method = value.is_absent() ? "__delete__" : "__set__";
    if (!has_special(member, method)) raise("AttributeError", method);
    call(in, get_attribute(in, kept, method), {value.is_absent() ? std::vector<Value>{self} : std::vector<Value>{self, value}, {}});
    return;
  }
  const Property& property = property_of(kept);
  const bool deletes = value.is_absent();
  const Value& accessor = deletes ? property.deleter : property.setter;
  if (accessor.is_none())
    raise("AttributeError",
          fmt::format("property '{}' of '{}' object has no {}", name, type_of(self).name, deletes ? "deleter" : "setter"));
  call(in, accessor, {deletes ? std::vector<Value>{self} : std::vector<Value>{self, value}, {}});
}

const Type& property_type() {
  static const NativeFunction constructor{"property", "fget=None, fset=None, fdel=None, doc=None",
                                          [](Interpreter&, std::span<Value> a) { return Value::make<Property>(a[0], a[1], a[2], a[3]); },
                                          "A function as an attribute that is computed when it is read."};
  static const Type type{"property",
                         "builtins",
                         &object_type(),
                         {{"getter", "fget, /", changed_property<0>, "the property with another getter"},
                          {"setter", "fset, /", changed_property<1>, "the property with another setter"},
                          {"deleter", "fdel, /", changed_property<2>, "the property with another deleter"}},
                         {},
                         &constructor};
  return type;
}
const Type& static_method_type() {
  static const NativeFunction constructor{
      "staticmethod", "function, /",
      [](Interpreter&, std::span<Value> a) { return Value::make<WrappedFunction>(static_method_type(), a[0]); },
      "A function of a class that takes no object."};
  static const Type type{"staticmethod", "builtins", &object_type(), {}, {}, &constructor};
  return type;
}
const Type& class_method_type() {
  static const NativeFunction constructor{
      "classmethod", "function, /",
      [](Interpreter&, std::span<Value> a) { return Value::make<WrappedFunction>(class_method_type(), a[0]); },
      "A function of a class that takes the class."};
  static const Type type{"classmethod", "builtins", &object_type(), {}, {}, &constructor};
  return type;
}

void register_carried_members() {
  using Parts = std::span<Value>;
  register_carried(typeid(Property), {[](Interpreter&, Object& o) {
                                        const auto& p = static_cast<Property&>(o);
                                        return std::vector<Value>{p.getter, p.setter, p.deleter, p.doc};
                                      },
                                      [](Interpreter&, Parts p) { return Value::make<Property>(p[0], p[1], p[2], p[3]); }});
  register_carried(typeid(WrappedFunction), {[](Interpreter&, Object& o) {
                                               const auto& w = static_cast<WrappedFunction&>(o);
                                               return std::vector<Value>{w.function, Value::of(&w.type() == &static_method_type())};
                                             },
                                             [](Interpreter&, Parts p) {
                                               return Value::make<WrappedFunction>(
                                                   p[1].as_int() ? static_method_type() : class_method_type(), p[0]);
                                             }});
  register_carried(typeid(CachedProperty), {[](Interpreter&, Object& o) {
                                              const auto& c = static_cast<CachedProperty&>(o);
                                              return std::vector<Value>{c.function, make_str(c.name)};
                                            },
                                            [](Interpreter&, Parts p) {
                                              Value made = Value::make<CachedProperty>(p[0]);
                                              static_cast<CachedProperty&>(*made.object()).name = p[1].as<Str>()->value;
                                              return made;
                                            }});
  register_carried(typeid(BoundMethod), {[](Interpreter&, Object& o) {
                                           const auto& m = static_cast<BoundMethod&>(o);
                                           return std::vector<Value>{m.function, m.self};
                                         },
                                         [](Interpreter&, Parts p) { return Value::make<BoundMethod>(p[0], p[1]); }});
}

std::vector<NativeFunction> class_functions() {
  return {{"super", "type=missing, object=missing, /", make_super, "The object as one of the class above."},
          {"delattr", "obj, name, /", delete_by_name, "Deletes an attribute by name."}};
}

}  // namespace gasell
