// Python's operations on any value: immediate values here, objects through their virtual functions.
#include <fmt/format.h>

#include "lang/render.h"
#include "runtime/session/arguments.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/objects.h"
#include "runtime/session/operations_numbers.h"
#include "runtime/session/peer_names.h"
#include "runtime/session/range.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// Bounds the recursion through nested containers (repr, ==, hash), which is no recursion of script functions.
class Nesting {
 public:
  explicit Nesting(const char* doing, int limit = 1000) {
    if (depth >= limit) raise("RecursionError", std::string("maximum recursion depth exceeded ") + doing);
    ++depth;
  }
  ~Nesting() { --depth; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  static thread_local int depth;
};
thread_local int Nesting::depth = 0;

constexpr const char* symbol(ast::BinaryOp op) {
  constexpr const char* symbols[] = {"+", "-", "*", "/", "//", "%", "** or pow()", "@", "<<", ">>", "&", "|", "^"};
  return symbols[static_cast<int>(op)];
}
constexpr const char* in_place_symbol(ast::BinaryOp op) { return op == ast::BinaryOp::pow ? "**=" : nullptr; }
constexpr const char* symbol(ast::CompareOp op) {
  constexpr const char* symbols[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return symbols[static_cast<int>(op)];
}

/// The type as CPython's messages have it: 'int', 'numpy.ndarray'.
std::string message_name(const Value& v) {
  const Type& t = type_of(v);
  return t.module == "numpy" || t.module == "datetime" || t.module == "decimal" ? t.module + "." + t.name : t.name;
}
std::string quoted_type(const Value& v) { return "'" + message_name(v) + "'"; }

std::optional<Value> dispatch_numbers(ast::BinaryOp op, const Value& a, const Value& b) {
  using enum ast::BinaryOp;
  switch (op) {
    case add: return number_binary<add>(a, b);
    case sub: return number_binary<sub>(a, b);
    case mul: return number_binary<mul>(a, b);
    case div: return number_binary<div>(a, b);
    case floordiv: return number_binary<floordiv>(a, b);
    case mod: return number_binary<mod>(a, b);
    case pow: return number_binary<pow>(a, b);
    case matmul: return number_binary<matmul>(a, b);
    case lshift: return number_binary<lshift>(a, b);
    case rshift: return number_binary<rshift>(a, b);
    case bit_and: return number_binary<bit_and>(a, b);
    case bit_or: return number_binary<bit_or>(a, b);
    case bit_xor: return number_binary<bit_xor>(a, b);
  }
  return {};
}

std::optional<Value> try_binary(Interpreter& in, ast::BinaryOp op, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return dispatch_numbers(op, a, b);
  if (a.is_object()) {
    if (std::optional<Value> r = a.object()->binary(in, op, b)) return r;
  }
  if (b.is_object()) return b.object()->reflected(in, op, a);
  return {};
}

bool compare_numbers(ast::CompareOp op, const Value& a, const Value& b) {
  using enum ast::CompareOp;
  switch (op) {
    case eq: return number_compare<eq>(a, b);
    case ne: return number_compare<ne>(a, b);
    case lt: return number_compare<lt>(a, b);
    case le: return number_compare<le>(a, b);
    case gt: return number_compare<gt>(a, b);
    default: return number_compare<ge>(a, b);
  }
}

constexpr ast::CompareOp swapped(ast::CompareOp op) {
  using enum ast::CompareOp;
  switch (op) {
    case lt: return gt;
    case le: return ge;
    case gt: return lt;
    case ge: return le;
    default: return op;
  }
}

std::string missing_attribute(const Value& v, std::string_view name) {
  if (const auto* module = v.as<Module>()) return fmt::format("module '{}' has no attribute '{}'", module->name, name);
  if (const auto* type = v.as<TypeObject>()) return fmt::format("type object '{}' has no attribute '{}'", type->described.name, name);
  return fmt::format("'{}' object has no attribute '{}'", message_name(v), name);
}

std::vector<std::string> names_of(Interpreter& in, const Value& v) {
  if (v.is_object()) return v.object()->attribute_names(in);
  std::vector<std::string> names;
  for (const Type* t = &type_of(v); t; t = t->base) {
    for (const NativeFunction& f : t->methods) names.push_back(f.name);
    for (const Type::Property& p : t->properties) names.push_back(p.name);
  }
  return names;
}

std::optional<Value> find_attribute(Interpreter& in, const Value& v, std::string_view name) {
  if (v.is_object()) return v.object()->get_attribute(in, name);
  const Type& type = type_of(v);
  if (const Type::Property* property = find_property(type, name)) return property->get(in, v);
  if (const NativeFunction* method = find_method(type, name)) return Value::make<Builtin>(*method, v);
  if (const NativeFunction* function = find_static_method(type, name)) return Value::make<Builtin>(*function);
  if (name == "__class__") return type_object(type);
  return {};
}

}  // namespace

const Type& type_of(const Value& v) {
  switch (v.tag()) {
    case Value::Tag::boolean: return bool_type();
    case Value::Tag::integer: return int_type();
    case Value::Tag::floating: return float_type();
    case Value::Tag::object: return v.object()->type();
    default: return none_type();
  }
}

std::string repr(Interpreter& in, const Value& v) {
  poll(in);
  switch (v.tag()) {
    case Value::Tag::boolean: return v.as_int() ? "True" : "False";
    case Value::Tag::integer: return fmt::to_string(v.as_int());
    case Value::Tag::floating: return float_repr(v.as_float());
    case Value::Tag::object: {
      Nesting nesting("while getting the repr of an object");
      return v.object()->repr(in);
    }
    default: return "None";
  }
}

std::string str(Interpreter& in, const Value& v) {
  if (!v.is_object()) return repr(in, v);
  Nesting nesting("while getting the str of an object");
  return v.object()->str(in);
}

std::string format(Interpreter& in, const Value& v, std::string_view spec) {
  switch (v.tag()) {
    case Value::Tag::boolean: return format_bool(v.as_int() != 0, spec);
    case Value::Tag::integer: return spec.empty() ? fmt::to_string(v.as_int()) : format_int(v.as_int(), spec);
    case Value::Tag::floating: return spec.empty() ? float_repr(v.as_float()) : format_float(v.as_float(), spec);
    case Value::Tag::object: return v.object()->format(in, spec);
    default:
      if (!spec.empty()) raise("TypeError", "unsupported format string passed to NoneType.__format__");
      return "None";
  }
}

bool truth(Interpreter& in, const Value& v) {
  switch (v.tag()) {
    case Value::Tag::boolean:
    case Value::Tag::integer: return v.as_int() != 0;
    case Value::Tag::floating: return v.as_float() != 0;
    case Value::Tag::object: return v.object()->truth(in);
    default: return false;
  }
}

int64_t hash(Interpreter& in, const Value& v) {
  switch (v.tag()) {
    case Value::Tag::boolean:
    case Value::Tag::integer: return hash_int(v.as_int());
    case Value::Tag::floating: return hash_float(v.as_float());
    case Value::Tag::object: {
      Nesting nesting("while hashing an object", 20000);
      return v.object()->hash(in);
    }
    default: return 0xfca86420;
  }
}

/// Python's `is`: a type may have several objects, one a session or one a library.
bool is_same(const Value& a, const Value& b) {
  if (a.same(b)) return true;
  const auto* one = a.as<TypeObject>();
  const auto* other = one ? b.as<TypeObject>() : nullptr;
  return other && &one->described == &other->described;
}

Value compare(Interpreter& in, ast::CompareOp op, const Value& a, const Value& b) {
  using Op = ast::CompareOp;
  switch (op) {
    case Op::is: return Value::of(is_same(a, b));
    case Op::is_not: return Value::of(!is_same(a, b));
    case Op::in: return Value::of(contains(in, b, a));
    case Op::not_in: return Value::of(!contains(in, b, a));
    default: break;
  }
  if (is_number(a) && is_number(b)) return Value::of(compare_numbers(op, a, b));
  if (a.is_object() || b.is_object()) {
    Nesting nesting("in comparison");
    if (a.is_object()) {
      if (std::optional<Value> r = a.object()->compare(in, op, b)) return *std::move(r);
    }
    if (b.is_object()) {
      if (std::optional<Value> r = b.object()->compare(in, swapped(op), a)) return *std::move(r);
    }
  }
  if (op == Op::eq) return Value::of(a.same(b));
  if (op == Op::ne) return Value::of(!a.same(b));
  raise("TypeError", fmt::format("'{}' not supported between instances of {} and {}", symbol(op), quoted_type(a), quoted_type(b)));
}

bool equal(Interpreter& in, const Value& a, const Value& b) {
  poll(in);
  if (a.same(b)) return true;
  if (is_number(a) && is_number(b)) return number_compare<ast::CompareOp::eq>(a, b);
  if (const auto *text = a.exactly<Str>(), *other = text ? b.exactly<Str>() : nullptr; other) return text->value == other->value;
  return truth(in, compare(in, ast::CompareOp::eq, a, b));
}

Value binary(Interpreter& in, ast::BinaryOp op, const Value& a, const Value& b) {
  if (std::optional<Value> r = try_binary(in, op, a, b)) return *std::move(r);
  raise("TypeError", fmt::format("unsupported operand type(s) for {}: {} and {}", symbol(op), quoted_type(a), quoted_type(b)));
}

Value in_place(Interpreter& in, ast::BinaryOp op, const Value& a, const Value& b) {
  if (a.is_object()) {
    if (std::optional<Value> r = a.object()->in_place(in, op, b)) return *std::move(r);
  }
  if (std::optional<Value> r = try_binary(in, op, a, b)) return *std::move(r);
  std::string sign = in_place_symbol(op) ? in_place_symbol(op) : std::string(symbol(op)) + "=";
  raise("TypeError", fmt::format("unsupported operand type(s) for {}: {} and {}", sign, quoted_type(a), quoted_type(b)));
}

Value unary(Interpreter& in, ast::UnaryOp op, const Value& v) {
  if (op == ast::UnaryOp::logical_not) return Value::of(!truth(in, v));
  if (v.is_object()) return v.object()->unary(in, op);
  if (v.is_int() || v.is_bool()) {
    if (op == ast::UnaryOp::pos) return Value::of(v.as_int());
    if (op == ast::UnaryOp::invert) return Value::of(~v.as_int());
    return int_binary<ast::BinaryOp::sub>(0, v.as_int());
  }
  if (v.is_float() && op != ast::UnaryOp::invert) return op == ast::UnaryOp::neg ? Value::of(-v.as_float()) : v;
  const char* sign = op == ast::UnaryOp::neg ? "-" : op == ast::UnaryOp::pos ? "+" : "~";
  raise("TypeError", fmt::format("bad operand type for unary {}: {}", sign, quoted_type(v)));
}

int64_t length(Interpreter& in, const Value& v) {
  if (v.is_object()) return v.object()->length(in);
  raise("TypeError", fmt::format("object of type {} has no len()", quoted_type(v)));
}

bool contains(Interpreter& in, const Value& container, const Value& item) {
  if (container.is_object()) return container.object()->contains(in, item);
  raise("TypeError", fmt::format("argument of type {} is not iterable", quoted_type(container)));
}

Value get_item(Interpreter& in, const Value& v, const Value& index) {
  if (v.is_object()) return v.object()->get_item(in, index);
  raise("TypeError", fmt::format("{} object is not subscriptable", quoted_type(v)));
}

void set_item(Interpreter& in, const Value& v, const Value& index, const Value& value) {
  if (v.is_object()) return v.object()->set_item(in, index, value);
  raise("TypeError", fmt::format("{} object does not support item assignment", quoted_type(v)));
}

void delete_item(Interpreter& in, const Value& v, const Value& index) {
  if (v.is_object()) return v.object()->delete_item(in, index);
  raise("TypeError", fmt::format("{} object doesn't support item deletion", quoted_type(v)));
}

void refuse_attribute(Interpreter& in, const Value& v, std::string_view name, std::string_view missing) {
  const PeerNames& peers = Evaluator::session(in).modules.peers;
  const std::vector<std::string> owners = v.is_object() ? v.object()->peer_owners() : peer_owners_of(type_of(v));
  for (const std::string& owner : owners)
    if (peers.has(owner, name)) refuse_name(missing, fmt::format("{}.{} is not in Gasell yet", owner, name));
  for (const std::string& owner : owners)
    if (const std::string_view successor = peers.successor(owner, name); !successor.empty())
      raise(missing, missing_attribute(v, name), std::string(successor));
}

Value get_attribute(Interpreter& in, const Value& v, std::string_view name) {
  if (std::optional<Value> found = find_attribute(in, v, name)) return *std::move(found);
  refuse_attribute(in, v, name);
  raise("AttributeError", missing_attribute(v, name), near_hint(name, names_of(in, v)));
}

bool has_attribute(Interpreter& in, const Value& v, std::string_view name) {
  try {
    return find_attribute(in, v, name).has_value();
  } catch (const Raised& raised) {
    if (is_instance(raised.value, *exception_type("AttributeError"))) return false;
    throw;
  }
}

void set_attribute(Interpreter& in, const Value& v, std::string_view name, const Value& value) {
  if (v.is_object()) return v.object()->set_attribute(in, name, value);
  if (find_attribute(in, v, name)) raise("AttributeError", fmt::format("{} object attribute '{}' is read-only", quoted_type(v), name));
  raise("AttributeError", missing_attribute(v, name));
}

Value call(Interpreter& in, const Value& callee, Arguments args) {
  if (callee.is_object()) return callee.object()->call(in, std::move(args));
  raise("TypeError", fmt::format("{} object is not callable", quoted_type(callee)));
}

Value iterate(Interpreter& in, const Value& v) {
  if (v.is_object()) return v.object()->iterate(in);
  raise("TypeError", fmt::format("{} object is not iterable", quoted_type(v)));
}

void poll(Interpreter& in) {
  thread_local unsigned steps = 0;
  if ((++steps & 1023) == 0) Evaluator::session(in).poll();
}

std::optional<Value> next(Interpreter& in, const Value& iterator) {
  poll(in);  // of functions that consume an iterator: sum, list, …
  if (iterator.is_object()) return iterator.object()->next(in);
  raise("TypeError", fmt::format("{} object is not an iterator", quoted_type(iterator)));
}

std::vector<Value> to_vector(Interpreter& in, const Value& iterable) {
  if (iterable.is_object()) {
    if (const auto* list = iterable.exactly<List>()) return list->items;
    if (const auto* tuple = iterable.exactly<Tuple>()) return tuple->items;
  }
  std::vector<Value> items;
  Value iterator = iterate(in, iterable);
  require_items(in, iterator);
  if (iterator.is_object()) items.reserve(static_cast<size_t>(iterator.object()->items_left().value_or(0)));
  while (std::optional<Value> v = next(in, iterator)) {
    items.push_back(*std::move(v));
    if ((items.size() & 0xFFFF) == 0) poll_now(in);  // an iterator may have no end
  }
  return items;
}

int64_t to_index(Interpreter& in, const Value& v) {
  if (v.is_int() || v.is_bool()) return v.as_int();
  if (v.is_object()) {
    if (std::optional<int64_t> index = v.object()->to_index(in)) return *index;
  }
  raise("TypeError", fmt::format("{} object cannot be interpreted as an integer", quoted_type(v)));
}

double to_double(Interpreter& in, const Value& v) {
  if (is_number(v)) return number_as_double(v);
  if (v.is_object() && !v.as<Str>()) {
    if (std::optional<Value> f = v.object()->to_float(in)) return f->as_float();
    if (std::optional<int64_t> index = v.object()->to_index(in)) return static_cast<double>(*index);
  }
  raise("TypeError", fmt::format("must be real number, not {}", type_of(v).name));
}

bool is_instance(const Value& v, const Type& type) { return type_of(v).derives_from(type); }

}  // namespace gasell
