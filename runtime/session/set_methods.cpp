// The types set and frozenset: operators, constructors and methods.
#include "runtime/session/set.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

Set& self_of(std::span<Value> args) { return static_cast<Set&>(*args[0].object()); }
const std::vector<Value>& others(std::span<Value> args) { return static_cast<Tuple&>(*args[1].object()).items; }

Value copy_of(Interpreter& in, const Value& set) { return make_set(in, set, static_cast<Set&>(*set.object()).frozen()); }
Set& as_set(const Value& v) { return static_cast<Set&>(*v.object()); }

/// `other` as a set: itself, or a new one of its items.
Value set_from(Interpreter& in, const Value& other) { return other.as<Set>() ? other : make_set(in, other); }

Value intersection(Interpreter& in, const Value& a, const Value& b) {
  Value made = Value::make<Set>(as_set(a).frozen());
  Value other = b;
  if (other.as<Set>()) {
    Value from = a;
    if (as_set(other).size() > as_set(from).size()) std::swap(from, other);
    for (const Value& v : as_set(other).items()) {
      if (as_set(from).contains(in, v)) as_set(made).insert(in, v);
    }
    return made;
  }
  Value iterator = iterate(in, b);
  while (std::optional<Value> v = next(in, iterator)) {
    if (as_set(a).contains(in, *v)) as_set(made).insert(in, *v);
  }
  return made;
}

Value difference(Interpreter& in, const Value& a, const Value& b) {
  Value other = set_from(in, b);
  Value made = Value::make<Set>(as_set(a).frozen());
  for (const Value& v : as_set(a).items()) {
    if (!as_set(other).contains(in, v)) as_set(made).insert(in, v);
  }
  return made;
}

void symmetric_update(Interpreter& in, Set& set, const Value& b) {
  Value other = set_from(in, b);
  if (&as_set(other) == &set) return set.clear();
  for (const Value& v : as_set(other).items()) {
    if (!set.remove(in, v)) set.insert(in, v);
  }
}

Value symmetric_difference(Interpreter& in, const Value& a, const Value& b) {
  // As CPython: a copy of the other operand, changed by this one.
  Value made = make_set(in, b, as_set(a).frozen());
  symmetric_update(in, as_set(made), a);
  return made;
}

Value unite(Interpreter& in, const Value& a, const Value& b) {
  Value made = copy_of(in, a);
  as_set(made).update(in, b);
  return made;
}

// ---- methods ----

Value method_copy(Interpreter& in, std::span<Value> args) { return copy_of(in, args[0]); }
Value method_union(Interpreter& in, std::span<Value> args) {
  Value made = copy_of(in, args[0]);
  for (const Value& v : others(args)) as_set(made).update(in, v);
  return made;
}
Value method_intersection(Interpreter& in, std::span<Value> args) {
  Value made = copy_of(in, args[0]);
  for (const Value& v : others(args)) made = intersection(in, made, v);
  return made;
}
Value method_difference(Interpreter& in, std::span<Value> args) {
  Value made = copy_of(in, args[0]);
  for (const Value& v : others(args)) made = difference(in, made, v);
  return made;
}
Value method_symmetric_difference(Interpreter& in, std::span<Value> args) { return symmetric_difference(in, args[0], args[1]); }
Value method_isdisjoint(Interpreter& in, std::span<Value> args) {
  return Value::of(as_set(intersection(in, args[0], args[1])).size() == 0);
}
Value method_issubset(Interpreter& in, std::span<Value> args) { return compare(in, ast::CompareOp::le, args[0], set_from(in, args[1])); }
Value method_issuperset(Interpreter& in, std::span<Value> args) { return compare(in, ast::CompareOp::ge, args[0], set_from(in, args[1])); }
Value method_add(Interpreter& in, std::span<Value> args) {
  self_of(args).insert(in, args[1]);
  return {};
}
Value method_remove(Interpreter& in, std::span<Value> args) {
  if (!self_of(args).remove(in, args[1])) throw Raised(Value::make<Exception>(*exception_type("KeyError"), std::vector<Value>{args[1]}));
  return {};
}
Value method_discard(Interpreter& in, std::span<Value> args) {
  self_of(args).remove(in, args[1]);
  return {};
}
Value method_pop(Interpreter& in, std::span<Value> args) {
  for (const Set::Entry& entry : self_of(args).table()) {
    if (entry.item.is_absent()) continue;
    Value item = entry.item;
    self_of(args).remove(in, item);
    return item;
  }
  raise("KeyError", "pop from an empty set");
}
Value method_clear(Interpreter&, std::span<Value> args) {
  self_of(args).clear();
  return {};
}
Value method_update(Interpreter& in, std::span<Value> args) {
  for (const Value& v : others(args)) self_of(args).update(in, v);
  return {};
}
void replace(Interpreter& in, Set& set, const Value& by) {
  Value held = by;
  set.clear();
  set.update(in, held);
}
Value method_intersection_update(Interpreter& in, std::span<Value> args) {
  replace(in, self_of(args), method_intersection(in, args));
  return {};
}
Value method_difference_update(Interpreter& in, std::span<Value> args) {
  for (const Value& v : others(args)) {
    for (const Value& item : to_vector(in, v)) self_of(args).remove(in, item);
  }
  return {};
}
Value method_symmetric_difference_update(Interpreter& in, std::span<Value> args) {
  symmetric_update(in, self_of(args), args[1]);
  return {};
}

Value new_set(Interpreter& in, std::span<Value> args) { return is_missing(args[0]) ? Value::make<Set>() : make_set(in, args[0]); }
Value new_frozenset(Interpreter& in, std::span<Value> args) {
  if (is_missing(args[0])) return Value::make<Set>(true);
  if (const auto* s = args[0].as<Set>(); s && s->frozen()) return args[0];
  return make_set(in, args[0], true);
}

std::vector<NativeFunction> reading_methods() {
  return {{"copy", "", method_copy, "a shallow copy"},
          {"union", "*others", method_union, "the elements of all"},
          {"intersection", "*others", method_intersection, "the elements common to all"},
          {"difference", "*others", method_difference, "the elements that the others lack"},
          {"symmetric_difference", "other, /", method_symmetric_difference, "the elements in one of both"},
          {"isdisjoint", "other, /", method_isdisjoint, "whether no element is common"},
          {"issubset", "other, /", method_issubset, "whether the other holds every element"},
          {"issuperset", "other, /", method_issuperset, "whether every element of the other is held"}};
}

std::vector<NativeFunction> all_methods() {
  std::vector<NativeFunction> methods = reading_methods();
  for (const NativeFunction& f : std::initializer_list<NativeFunction>{
           {"add", "item, /", method_add, "inserts an element"},
           {"remove", "item, /", method_remove, "removes an element; KeyError when it is not there"},
           {"discard", "item, /", method_discard, "removes an element when it is there"},
           {"pop", "", method_pop, "removes and returns some element; KeyError when empty"},
           {"clear", "", method_clear, "removes all elements"},
           {"update", "*others", method_update, "inserts the elements of all"},
           {"intersection_update", "*others", method_intersection_update, "keeps the elements common to all"},
           {"difference_update", "*others", method_difference_update, "removes the elements of the others"},
           {"symmetric_difference_update", "other, /", method_symmetric_difference_update, "keeps the elements in one of both"}}) {
    methods.push_back(f);
  }
  return methods;
}

}  // namespace

std::optional<Value> Set::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (!other.as<Set>()) return {};
  Value self = Value::of(this);
  switch (op) {
    case bit_or: return unite(in, self, other);
    case bit_and: return intersection(in, self, other);
    case sub: return difference(in, self, other);
    case bit_xor: {
      Value made = copy_of(in, self);
      symmetric_update(in, as_set(made), other);
      return made;
    }
    default: return {};
  }
}

std::optional<Value> Set::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (frozen_ || !other.as<Set>()) return {};
  Value self = Value::of(this);
  switch (op) {
    case bit_or: update(in, other); return self;
    case bit_and: replace(in, *this, intersection(in, self, other)); return self;
    case sub:
      if (other.object() == this) {
        clear();
      } else {
        for (const Value& v : as_set(other).items()) remove(in, v);
      }
      return self;
    case bit_xor: symmetric_update(in, *this, other); return self;
    default: return {};
  }
}

const Type& set_type() {
  static const NativeFunction constructor{"set", "iterable=missing, /", new_set, "set(iterable)"};
  static const Type type{"set", "builtins", &object_type(), all_methods(), {}, &constructor};
  return type;
}

const Type& frozenset_type() {
  static const NativeFunction constructor{"frozenset", "iterable=missing, /", new_frozenset,
                                          "frozenset(iterable): a set that cannot change"};
  static const Type type{"frozenset", "builtins", &object_type(), reading_methods(), {}, &constructor};
  return type;
}

}  // namespace gasell
