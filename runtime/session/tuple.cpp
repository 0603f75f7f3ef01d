#include "runtime/session/arguments.h"
#include "runtime/session/builtins.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

Value construct(Interpreter& in, Args args) {
  if (args[0].as<Tuple>() && &type_of(args[0]) == &tuple_type()) return args[0];
  return make_tuple(to_vector(in, args[0]));
}

const std::vector<Value>& items_of(Args args) { return args[0].as<Tuple>()->items; }

Value index(Interpreter& in, Args args) {
  const auto& items = items_of(args);
  const auto size = static_cast<int64_t>(items.size());
  const int64_t stop = clip_bound(in, args[3], size, size);
  for (int64_t i = clip_bound(in, args[2], 0, size); i < stop; ++i) {
    if (same_or_equal(in, items[static_cast<size_t>(i)], args[1])) return Value::of(i);
  }
  return fail(in, "ValueError", "tuple.index(x): x not in tuple");
}

Value count(Interpreter& in, Args args) {
  int64_t n = 0;
  for (const Value& v : items_of(args)) n += same_or_equal(in, v, args[1]);
  return Value::of(n);
}

}  // namespace

const Type& tuple_type() {
  static const NativeFunction constructor{"tuple", "iterable=(), /", construct, "The items of an iterable, as a tuple."};
  static const Type t{
      "tuple",
      "builtins",
      &object_type(),
      {{"count", "self, value, /", count, "How many items equal a value."},
       {"index", "self, value, start=missing, stop=missing, /", index, "The first index of a value; ValueError when it is not there."}},
      {},
      &constructor};
  return t;
}

const Type& Tuple::type() const { return tuple_type(); }

std::string Tuple::repr(Interpreter& in) { return "(" + join_reprs(in, items) + (items.size() == 1 ? ",)" : ")"); }

int64_t Tuple::hash(Interpreter& in) {
  // xxHash's rounds over the items' hashes, as CPython hashes tuples since 3.8.
  constexpr uint64_t kPrime1 = 11400714785074694791U, kPrime2 = 14029467366897019727U, kPrime5 = 2870177450012600261U;
  uint64_t h = kPrime5;
  for (const Value& v : items) {
    h += static_cast<uint64_t>(gasell::hash(in, v)) * kPrime2;
    h = (h << 31 | h >> 33) * kPrime1;
  }
  h += items.size() ^ (kPrime5 ^ 3527539U);
  return h == UINT64_MAX ? 1546275796 : static_cast<int64_t>(h);
}

std::optional<Value> Tuple::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  const auto* o = other.as<Tuple>();
  return o ? compare_items(in, op, items, o->items) : std::nullopt;
}

std::optional<Value> Tuple::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op == ast::BinaryOp::add) {
    if (const auto* o = other.as<Tuple>()) {
      std::vector<Value> all = items;
      all.insert(all.end(), o->items.begin(), o->items.end());
      return make_tuple(std::move(all));
    }
    if (auto answer = ask_right_operand(in, op, *this, other)) return answer;
    raise("TypeError", "can only concatenate tuple (not \"" + type_of(other).name + "\") to tuple");
  }
  if (op != ast::BinaryOp::mul) return std::nullopt;
  if (auto answer = ask_right_operand(in, op, *this, other)) return answer;
  return reflected(in, op, other);
}

std::optional<Value> Tuple::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::mul) return std::nullopt;
  const int64_t n = repeat_count(in, other, static_cast<int64_t>(items.size()), sizeof(Value));
  std::vector<Value> all;
  all.reserve(items.size() * static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) all.insert(all.end(), items.begin(), items.end());
  return make_tuple(std::move(all));
}

bool Tuple::contains(Interpreter& in, const Value& item) {
  for (const Value& v : items) {
    if (same_or_equal(in, v, item)) return true;
  }
  return false;
}

Value Tuple::get_item(Interpreter& in, const Value& index) {
  if (const auto* s = index.as<SliceObject>()) {
    const auto r = s->indices(in, static_cast<int64_t>(items.size()));
    std::vector<Value> picked;
    for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) picked.push_back(items[static_cast<size_t>(at)]);
    return make_tuple(std::move(picked));
  }
  return items[static_cast<size_t>(sequence_index(in, index, static_cast<int64_t>(items.size()), "tuple", "tuple index out of range"))];
}

Value Tuple::iterate(Interpreter&) { return make_sequence_iterator(Value::of(this), "tuple_iterator"); }

}  // namespace gasell
