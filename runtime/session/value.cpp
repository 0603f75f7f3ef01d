#include "runtime/session/value.h"

#include <mutex>
#include <set>

#include "runtime/session/arguments.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"

namespace gasell {

// A long chain (a list in a list in a list …) is taken apart from a queue, not by recursion, so that it cannot overflow the stack.
void Object::destroy(Object* object) {
  constexpr int kDeepest = 64;
  thread_local int depth = 0;
  thread_local std::vector<Object*> pending;
  if (depth >= kDeepest) {
    pending.push_back(object);
    return;
  }
  ++depth;
  delete object;
  --depth;
  if (depth != 0) return;
  while (!pending.empty()) {
    Object* next = pending.back();
    pending.pop_back();
    ++depth;
    delete next;
    --depth;
  }
}

void Object::keep_for_ever(Object* object) {
  // Never destroyed itself, so that leak checkers find the objects reachable to the last.
  static std::mutex mutex;
  static std::vector<Object*>& kept = *std::make_unique<std::vector<Object*>>().release();
  std::lock_guard lock(mutex);
  if (object->references_ < 0) return;
  object->references_ = -1;
  kept.push_back(object);
}

const Value& Value::immortal() const {
  if (tag_ == Tag::object) Object::keep_for_ever(o_);
  return *this;
}

const Value& missing() {
  static const Value value = Value::absent();
  return value;
}

bool Type::derives_from(const Type& other) const {
  for (const Type* t = this; t; t = t->base) {
    if (t == &other || (t->second_base && t->second_base->derives_from(other))) return true;
  }
  return false;
}

// ---- what `object` does ----

std::string Object::repr(Interpreter&) { return "<" + type().name + " object>"; }
std::string Object::str(Interpreter& in) { return repr(in); }

std::string Object::format(Interpreter& in, std::string_view spec) {
  if (!spec.empty()) raise("TypeError", "unsupported format string passed to " + type().name + ".__format__");
  return str(in);
}

bool Object::truth(Interpreter& in) {
  try {
    return length(in) != 0;
  } catch (const Raised& raised) {
    if (is_instance(raised.value, *exception_type("TypeError"))) return true;  // no len()
    throw;
  }
}
int64_t Object::hash(Interpreter&) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(this) >> 4); }
std::optional<Value> Object::compare(Interpreter&, ast::CompareOp, const Value&) { return {}; }
std::optional<Value> Object::binary(Interpreter&, ast::BinaryOp, const Value&) { return {}; }
std::optional<Value> Object::reflected(Interpreter&, ast::BinaryOp, const Value&) { return {}; }
std::optional<Value> Object::in_place(Interpreter&, ast::BinaryOp, const Value&) { return {}; }

Value Object::unary(Interpreter&, ast::UnaryOp op) {
  const char* sign = op == ast::UnaryOp::neg ? "-" : op == ast::UnaryOp::pos ? "+" : "~";
  raise("TypeError", std::string("bad operand type for unary ") + sign + ": '" + type().name + "'");
}

int64_t Object::length(Interpreter&) { raise("TypeError", "object of type '" + type().name + "' has no len()"); }

bool Object::contains(Interpreter& in, const Value& item) {
  Value iterator;
  try {
    iterator = iterate(in);
  } catch (const Raised&) {
    raise("TypeError", "argument of type '" + type().name + "' is not iterable");
  }
  while (std::optional<Value> v = gasell::next(in, iterator)) {
    if (equal(in, *v, item)) return true;
  }
  return false;
}

Value Object::get_item(Interpreter&, const Value&) { raise("TypeError", "'" + type().name + "' object is not subscriptable"); }
void Object::set_item(Interpreter&, const Value&, const Value&) {
  raise("TypeError", "'" + type().name + "' object does not support item assignment");
}
void Object::delete_item(Interpreter&, const Value&) { raise("TypeError", "'" + type().name + "' object doesn't support item deletion"); }
Value Object::iterate(Interpreter&) { raise("TypeError", "'" + type().name + "' object is not iterable"); }
std::optional<Value> Object::next(Interpreter&) { raise("TypeError", "'" + type().name + "' object is not an iterator"); }
Value Object::call(Interpreter&, Arguments) { raise("TypeError", "'" + type().name + "' object is not callable"); }

std::optional<Value> Object::get_attribute(Interpreter& in, std::string_view name) {
  const Type& t = type();
  if (const Type::Property* property = find_property(t, name)) return property->get(in, Value::of(this));
  if (const NativeFunction* method = find_method(t, name)) return Value::make<Builtin>(*method, Value::of(this));
  if (const NativeFunction* function = find_static_method(t, name)) return Value::make<Builtin>(*function);
  if (name == "__class__") return type_object(t);
  return {};
}

std::optional<Object::LostWrite> Object::lost_write(Interpreter&, std::string_view) { return {}; }
void Object::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  const Type& t = type();
  if (const Type::Property* property = find_property(t, name)) {
    if (property->set) return property->set(in, Value::of(this), value);
    const std::string owner = t.module == "numpy" ? "numpy." + t.name : t.name;
    raise("AttributeError", "attribute '" + std::string(name) + "' of '" + owner + "' objects is not writable");
  }
  if (find_method(t, name)) raise("AttributeError", "'" + t.name + "' object attribute '" + std::string(name) + "' is read-only");
  raise("AttributeError", "'" + t.name + "' object has no attribute '" + std::string(name) + "'");
}

std::vector<std::string> Object::peer_owners() { return peer_owners_of(type()); }

std::vector<std::string> peer_owners_of(const Type& type) {
  std::vector<std::string> owners;
  for (const Type* t = &type; t; t = t->base)
    owners.push_back(t->module.empty() || t->module == "builtins" ? t->name : t->module + "." + t->name);
  return owners;
}

std::vector<std::string> Object::attribute_names(Interpreter&) {
  std::set<std::string> names;
  for (const Type* t = &type(); t; t = t->base) {
    for (const NativeFunction& f : t->methods) names.insert(f.name);
    for (const NativeFunction& f : t->static_methods) names.insert(f.name);
    for (const Type::Property& p : t->properties) names.insert(p.name);
  }
  return {names.begin(), names.end()};
}

Value Object::enter(Interpreter&) { raise("TypeError", "'" + type().name + "' object does not support the context manager protocol"); }
bool Object::exit(Interpreter&, const Value&) { return false; }

std::optional<Value> Object::to_int(Interpreter&) { return {}; }
std::optional<Value> Object::to_float(Interpreter&) { return {}; }
std::optional<Value> Object::to_complex(Interpreter&) { return {}; }
std::optional<int64_t> Object::to_index(Interpreter&) { return {}; }

}  // namespace gasell
