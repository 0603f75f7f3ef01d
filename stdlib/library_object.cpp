#include "stdlib/library_object.h"

#include <memory>
#include <mutex>

#include "runtime/session/arguments.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"

namespace gasell {
namespace {

constexpr const char* kBinary[] = {"add",    "sub",    "mul",    "truediv", "floordiv", "mod", "pow",
                                   "matmul", "lshift", "rshift", "and",     "or",       "xor"};
constexpr const char* kCompare[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};

/// A function that is read as an attribute: the value is what it gives for the object.
class Getter final : public Object {
 public:
  explicit Getter(Value f) : function(std::move(f)) {}
  const Type& type() const override {
    static const Type type{"property", "builtins", &object_type()};
    return type;
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "fget") return function;
    if (name == "__doc__") return gasell::get_attribute(in, function, name);
    return Object::get_attribute(in, name);
  }
  const Value function;
};

class StaticMethod final : public Object {
 public:
  explicit StaticMethod(Value f) : function(std::move(f)) {}
  const Type& type() const override {
    static const Type type{"staticmethod", "builtins", &object_type()};
    return type;
  }
  Value call(Interpreter& in, Arguments args) override { return gasell::call(in, function, std::move(args)); }
  const Value function;
};

class ClassMethod final : public Object {
 public:
  explicit ClassMethod(Value f) : function(std::move(f)) {}
  const Type& type() const override {
    static const Type type{"classmethod", "builtins", &object_type()};
    return type;
  }
  const Value function;
};

/// One type a name and texts, for ever: types are compared by their addresses.
const Type& known_type(const std::string& module, const std::string& name, const std::string& texts, const Type& base,
                       const Type* second_base) {
  static std::mutex mutex;
  static auto& types = *new std::map<std::string, std::unique_ptr<Type>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Type>& known = types[module + "." + name + " " + texts];
  if (!known) known = std::make_unique<Type>(Type{name, module, &base});
  if (second_base) known->second_base = second_base;
  return *known;
}

Value class_of(Interpreter&, std::span<Value> args) {
  const auto text = [](const Value& v) { return v.as<Str>()->value; };
  return LibraryClass::make(text(args[0]), text(args[1]), text(args[2]), args[3], args[4]);
}
Value new_object(Interpreter& in, std::span<Value> args) {
  if (!args[0].as<LibraryClass>())
    raise("TypeError", "a class of the library is expected (of an object: its __class__), not '" + type_of(args[0]).name + "'");
  Value made = Value::make<LibraryObject>(args[0]);
  for (const Dict::Entry& e : args[1].as<Dict>()->entries()) made.as<LibraryObject>()->members[gasell::str(in, e.key)] = e.value;
  return made;
}

Value members_of(Interpreter& in, std::span<Value> args) {
  const auto* object = args[0].as<LibraryObject>();
  if (!object) raise("TypeError", "an object of a class of the library is expected, not '" + type_of(args[0]).name + "'");
  Value members = make_dict();
  for (const auto& [name, value] : object->members) members.as<Dict>()->insert(in, make_str(name), value);
  return members;
}
Value forget(Interpreter&, std::span<Value> args) {
  auto* object = args[0].as<LibraryObject>();
  if (!object) raise("TypeError", "an object of a class of the library is expected, not '" + type_of(args[0]).name + "'");
  object->members.erase(args[1].as<Str>()->value);
  return {};
}
Value init_parameters(Interpreter& in, std::span<Value> args) {
  auto* made_by = args[0].as<LibraryClass>();
  const Function* initializer = made_by ? made_by->initializer(in) : nullptr;
  if (!initializer) raise("TypeError", "a class of the library that has an __init__ is expected");
  const std::vector<std::string> names = initializer->parameter_names();
  std::vector<Value> parameters;
  for (size_t k = 1; k < names.size(); ++k) {
    const Value& value = initializer->defaults[k];
    parameters.push_back(value.is_absent() ? make_tuple({make_str(names[k])}) : make_tuple({make_str(names[k]), value}));
  }
  return make_tuple(std::move(parameters));
}

}  // namespace

const std::vector<NativeFunction>& library_object_functions() {
  static const std::vector<NativeFunction> functions = {
      {"class_of", "module, name, texts, base=None, counts_as=None, /", class_of,
       "A class whose functions are those of the library module `texts`; isinstance() takes its objects for those of counts_as, too."},
      {"new", "cls, /, **members", new_object, "An object of a class, with members."},
      {"getter", "function, /", [](Interpreter&, std::span<Value> args) { return Value::make<Getter>(args[0]); },
       "A function as a property."},
      {"static_method", "function, /", [](Interpreter&, std::span<Value> args) { return Value::make<StaticMethod>(args[0]); },
       "A function of a class that takes no object."},
      {"class_method", "function, /", [](Interpreter&, std::span<Value> args) { return Value::make<ClassMethod>(args[0]); },
       "A function of a class that takes the class."},
      {"members", "object, /", members_of, "A dict of what an object of a class keeps."},
      {"forget", "object, name, /", forget, "Takes a member from an object of a class; nothing where it has none of that name."},
      {"init_parameters", "cls, /", init_parameters, "Of a class's __init__: a tuple of (name,) or (name, default) for each parameter."},
  };
  return functions;
}

Value LibraryClass::make(const std::string& module, const std::string& name, const std::string& texts, const Value& base,
                         const Value& counts_as) {
  const auto* parent = base.as<TypeObject>();
  const auto* second = counts_as.as<TypeObject>();
  return Value::make<LibraryClass>(
      known_type(module, name, texts, parent ? parent->described : object_type(), second ? &second->described : nullptr), texts, base);
}

const Value& LibraryClass::find(Interpreter& in, std::string_view name) {
  if (auto known = found_.find(name); known != found_.end()) return known->second;
  Value value = Value::absent();
  if (auto member = library_member(in, texts_, name))
    value = *member;
  else if (auto* parent = base_.as<LibraryClass>())
    value = parent->find(in, name);
  return found_.emplace(name, std::move(value)).first->second;
}

const Function* LibraryClass::initializer(Interpreter& in) { return find(in, "__init__").as<Function>(); }

Value LibraryClass::call(Interpreter& in, Arguments args) {
  const Value& maker = find(in, "__new__");
  if (!maker.is_absent()) return gasell::call(in, maker, std::move(args));
  const Function* kept = initializer(in);
  if (!kept) raise("TypeError", "cannot create '" + described.name + "' instances");
  Value made = Value::make<LibraryObject>(Value::of(this));
  args.positional.insert(args.positional.begin(), made);
  const std::vector<std::string> names = kept->parameter_names();
  std::vector<Value> values = kept->bound_arguments(in, described.name, std::move(args));
  for (size_t k = 1; k < names.size(); ++k) made.as<LibraryObject>()->members[names[k]] = std::move(values[k]);
  return made;
}

std::optional<Value> LibraryClass::get_attribute(Interpreter& in, std::string_view name) {
  if (auto own = TypeObject::get_attribute(in, name)) return own;
  const Value& function = find(in, name);
  if (const auto* method = function.as<ClassMethod>()) return library_bound(method->function, Value::of(this));
  if (!function.is_absent()) return function;
  return {};
}

std::vector<std::string> LibraryClass::attribute_names(Interpreter& in) {
  std::vector<std::string> names = with_library_names(TypeObject::attribute_names(in), texts_);
  if (auto* parent = base_.as<LibraryClass>())
    for (std::string& name : parent->attribute_names(in)) names.push_back(std::move(name));
  return names;
}

const Type& LibraryObject::type() const { return made_by().described; }

bool LibraryObject::has(Interpreter& in, std::string_view method) { return !made_by().find(in, method).is_absent(); }

Value LibraryObject::try_call(Interpreter& in, std::string_view method, std::vector<Value> arguments) {
  const Value& function = made_by().find(in, method);
  if (function.is_absent()) return Value::absent();
  arguments.insert(arguments.begin(), Value::of(this));
  return gasell::call(in, function, {std::move(arguments), {}});
}

Value LibraryObject::call_method(Interpreter& in, std::string_view method, std::vector<Value> arguments) {
  Value result = try_call(in, method, std::move(arguments));
  if (!result.is_absent()) return result;
  const std::string name = type().name;
  if (method == "__getitem__") raise("TypeError", "'" + name + "' object is not subscriptable");
  if (method == "__setitem__") raise("TypeError", "'" + name + "' object does not support item assignment");
  if (method == "__delitem__") raise("TypeError", "'" + name + "' object doesn't support item deletion");
  if (method == "__iter__") raise("TypeError", "'" + name + "' object is not iterable");
  if (method == "__next__") raise("TypeError", "'" + name + "' object is not an iterator");
  if (method == "__len__") raise("TypeError", "object of type '" + name + "' has no len()");
  if (method == "__call__") raise("TypeError", "'" + name + "' object is not callable");
  raise("AttributeError", "'" + name + "' object has no attribute '" + std::string(method) + "'");
}

std::string LibraryObject::repr(Interpreter& in) {
  const Value text = try_call(in, "__repr__");
  return text.is_absent() ? Object::repr(in) : gasell::str(in, text);
}
std::string LibraryObject::str(Interpreter& in) {
  const Value text = try_call(in, "__str__");
  return text.is_absent() ? repr(in) : gasell::str(in, text);
}
std::string LibraryObject::format(Interpreter& in, std::string_view spec) {
  const Value text = try_call(in, "__format__", {make_str(std::string(spec))});
  return text.is_absent() ? Object::format(in, spec) : gasell::str(in, text);
}
bool LibraryObject::truth(Interpreter& in) {
  const Value value = try_call(in, "__bool__");
  if (!value.is_absent()) return gasell::truth(in, value);
  return !has(in, "__len__") || length(in) != 0;
}
int64_t LibraryObject::hash(Interpreter& in) {
  const Value value = try_call(in, "__hash__");
  if (!value.is_absent()) return gasell::to_index(in, value);
  if (has(in, "__eq__")) raise("TypeError", "unhashable type: '" + type().name + "'");
  return Object::hash(in);
}

namespace {
/// NotImplemented and what the class lacks are no answer.
std::optional<Value> answer(Value value) {
  if (value.is_absent() || value.same(not_implemented())) return {};
  return value;
}
}  // namespace

std::optional<Value> LibraryObject::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  if (op > ast::CompareOp::ge || !has(in, kCompare[static_cast<int>(op)])) return Object::compare(in, op, other);
  return answer(try_call(in, kCompare[static_cast<int>(op)], {other}));
}
std::optional<Value> LibraryObject::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return answer(try_call(in, "__" + std::string(kBinary[static_cast<int>(op)]) + "__", {other}));
}
std::optional<Value> LibraryObject::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return answer(try_call(in, "__r" + std::string(kBinary[static_cast<int>(op)]) + "__", {other}));
}
std::optional<Value> LibraryObject::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return answer(try_call(in, "__i" + std::string(kBinary[static_cast<int>(op)]) + "__", {other}));
}
Value LibraryObject::unary(Interpreter& in, ast::UnaryOp op) {
  const char* name = op == ast::UnaryOp::neg ? "__neg__" : op == ast::UnaryOp::pos ? "__pos__" : "__invert__";
  Value result = try_call(in, name);
  return result.is_absent() ? Object::unary(in, op) : result;
}
std::optional<Object::LostWrite> LibraryObject::lost_write(Interpreter& in, std::string_view name) {
  if (auto part_of = members.find("_object"); part_of != members.end() && part_of->second.is_object()) {
    Object* whole = part_of->second.object();
    return whole->is_temporary() && name == "[]" ? whole->lost_write(in, name) : std::nullopt;
  }
  const Value said = try_call(in, "__lost_write__", {make_str(std::string(name))});
  const auto* parts = said.as<Tuple>();
  if (!parts) return std::nullopt;
  return LostWrite{&parts->items[0].as<TypeObject>()->described, gasell::str(in, parts->items[1]), gasell::str(in, parts->items[2])};
}
int64_t LibraryObject::length(Interpreter& in) { return gasell::to_index(in, call_method(in, "__len__")); }
bool LibraryObject::contains(Interpreter& in, const Value& item) {
  const Value found = try_call(in, "__contains__", {item});
  return found.is_absent() ? Object::contains(in, item) : gasell::truth(in, found);
}
Value LibraryObject::get_item(Interpreter& in, const Value& index) { return call_method(in, "__getitem__", {index}); }
void LibraryObject::set_item(Interpreter& in, const Value& index, const Value& value) { call_method(in, "__setitem__", {index, value}); }
void LibraryObject::delete_item(Interpreter& in, const Value& index) { call_method(in, "__delitem__", {index}); }
Value LibraryObject::iterate(Interpreter& in) {
  Value iterator = call_method(in, "__iter__");
  return iterator.object() == this && has(in, "__next__") ? iterator : gasell::iterate(in, iterator);
}
std::optional<Value> LibraryObject::next(Interpreter& in) {
  try {
    return call_method(in, "__next__");
  } catch (const Raised& raised) {
    if (!is_instance(raised.value, *exception_type("StopIteration"))) throw;
    return {};
  }
}

Value LibraryObject::call(Interpreter& in, Arguments args) {
  const Value& function = made_by().find(in, "__call__");
  if (function.is_absent()) call_method(in, "__call__");
  args.positional.insert(args.positional.begin(), Value::of(this));
  return gasell::call(in, function, std::move(args));
}

namespace {
/// Whether a method is one of the type that a class only counts as: such a native takes an object of that type.
bool is_foreign_native(const Type& type, std::string_view name) {
  for (const Type* t = &type; t; t = t->base)
    for (const NativeFunction& method : t->methods)
      if (method.name == name) return false;
  return find_method(type, name) != nullptr;
}
}  // namespace

std::optional<Value> LibraryObject::get_attribute(Interpreter& in, std::string_view name) {
  if (auto member = members.find(name); member != members.end()) return member->second;
  if (name == "__class__") return class_;
  const Value& found = made_by().find(in, name);
  if (const auto* getter = found.as<Getter>()) return gasell::call(in, getter->function, {{Value::of(this)}, {}});
  if (const auto* function = found.as<StaticMethod>()) return function->function;
  if (const auto* function = found.as<ClassMethod>()) return library_bound(function->function, class_);
  if (!found.is_absent()) return library_bound(found, Value::of(this));
  if (!is_foreign_native(type(), name))
    if (auto own = Object::get_attribute(in, name)) return own;
  if (!name.starts_with("__")) {
    Value value = try_call(in, "__getattr__", {make_str(std::string(name))});
    if (!value.is_absent() && !value.same(not_implemented())) return value;
  }
  return {};
}

// Classes that share their texts have names of their own ("pandas.Rolling").
std::vector<std::string> LibraryClass::peer_owners() {
  std::vector<std::string> owners{texts_, texts_.substr(0, texts_.rfind('.') + 1) + described.name};
  if (auto* parent = base_.as<LibraryClass>())
    for (std::string& owner : parent->peer_owners()) owners.push_back(std::move(owner));
  return owners;
}

void LibraryObject::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  if (name.starts_with("_") || made_by().initializer(in))
    members.insert_or_assign(std::string(name), value);
  else if (has(in, "__setattr__"))
    call_method(in, "__setattr__", {make_str(std::string(name)), value});
  else
    Object::set_attribute(in, name, value);
}

std::vector<std::string> LibraryObject::attribute_names(Interpreter& in) {
  std::vector<std::string> names = made_by().attribute_names(in);
  if (made_by().initializer(in))
    for (const auto& [name, value] : members) names.push_back(name);
  const Value more = try_call(in, "__dir__");
  if (!more.is_absent())
    for (const Value& v : to_vector(in, more)) names.push_back(gasell::str(in, v));
  return names;
}

std::optional<Value> LibraryObject::to_int(Interpreter& in) { return answer(try_call(in, "__int__")); }
std::optional<Value> LibraryObject::to_float(Interpreter& in) { return answer(try_call(in, "__float__")); }
Value LibraryObject::enter(Interpreter& in) {
  Value entered = try_call(in, "__enter__");
  return entered.is_absent() ? Object::enter(in) : entered;
}
bool LibraryObject::exit(Interpreter& in, const Value& exception) {
  const Value swallowed = try_call(in, "__exit__", {exception, Value(), Value()});
  return swallowed.is_absent() ? Object::exit(in, exception) : gasell::truth(in, swallowed);
}

}  // namespace gasell
