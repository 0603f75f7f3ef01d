#include "stdlib/deque.h"

#include <algorithm>
#include <deque>

#include "runtime/session/builtins.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/packing.h"
#include "runtime/session/types.h"
#include "stdlib/carried.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

class Deque final : public Object {
 public:
  const Type& type() const override { return deque_type(); }
  std::string repr(Interpreter& in) override {
    const std::vector<Value> all(items.begin(), items.end());
    return "deque([" + join_reprs(in, all) + "]" + (limit < 0 ? "" : ", maxlen=" + std::to_string(limit)) + ")";
  }
  bool truth(Interpreter&) override { return !items.empty(); }
  int64_t hash(Interpreter&) override { raise("TypeError", "unhashable type: 'collections.deque'"); }
  int64_t length(Interpreter&) override { return size(); }
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override {
    const auto* o = other.as<Deque>();
    if (!o) return std::nullopt;
    return compare_items(in, op, std::vector<Value>(items.begin(), items.end()), std::vector<Value>(o->items.begin(), o->items.end()));
  }
  std::optional<Value> binary(Interpreter&, ast::BinaryOp op, const Value& other) override {
    const auto* o = other.as<Deque>();
    if (op != ast::BinaryOp::add || !o) return std::nullopt;
    Value made = Value::make<Deque>();
    auto& d = *made.as<Deque>();
    d.limit = limit;
    for (const Deque* source : std::initializer_list<const Deque*>{this, o}) {
      for (const Value& v : source->items) d.push_back(v);
    }
    return made;
  }
  std::optional<Value> in_place(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::add) return std::nullopt;
    for (const Value& v : to_vector(in, other)) push_back(v);
    return Value::of(this);
  }
  bool contains(Interpreter& in, const Value& item) override {
    return std::any_of(items.begin(), items.end(), [&](const Value& v) { return same_or_equal(in, v, item); });
  }
  Value get_item(Interpreter& in, const Value& index) override { return items[place(in, index)]; }
  void set_item(Interpreter& in, const Value& index, const Value& value) override { items[place(in, index)] = value; }
  void delete_item(Interpreter& in, const Value& index) override { items.erase(items.begin() + static_cast<int64_t>(place(in, index))); }
  Value iterate(Interpreter&) override { return make_sequence_iterator(Value::of(this), "iterator"); }

  int64_t size() const { return static_cast<int64_t>(items.size()); }
  void push_back(const Value& v) {
    items.push_back(v);
    if (limit >= 0 && size() > limit) items.pop_front();
  }
  void push_front(const Value& v) {
    items.push_front(v);
    if (limit >= 0 && size() > limit) items.pop_back();
  }

  std::deque<Value> items;
  int64_t limit = -1;  // -1: none

 private:
  size_t place(Interpreter& in, const Value& index) const {
    return static_cast<size_t>(sequence_index(in, index, size(), "sequence", "deque index out of range"));
  }
};

Deque& self_of(Args args) { return *args[0].as<Deque>(); }

Value construct(Interpreter& in, Args args) {
  Value made = Value::make<Deque>();
  auto& d = *made.as<Deque>();
  if (!args[1].is_none()) {
    d.limit = to_index(in, args[1]);
    if (d.limit < 0) raise("ValueError", "maxlen must be non-negative");
  }
  for (const Value& v : to_vector(in, args[0])) d.push_back(v);
  return made;
}

Value pop(Args args, bool left) {
  auto& items = self_of(args).items;
  if (items.empty()) raise("IndexError", "pop from an empty deque");
  Value v = left ? items.front() : items.back();
  if (left)
    items.pop_front();
  else
    items.pop_back();
  return v;
}

Value extend(Interpreter& in, Args args, bool left) {
  for (const Value& v : to_vector(in, args[1])) left ? self_of(args).push_front(v) : self_of(args).push_back(v);
  return {};
}

Value rotate(Interpreter& in, Args args) {
  auto& items = self_of(args).items;
  const int64_t size = self_of(args).size();
  if (size == 0) return {};
  const int64_t n = ((to_index(in, args[1]) % size) + size) % size;
  std::rotate(items.begin(), items.begin() + (size - n) % size, items.end());
  return {};
}

Value remove(Interpreter& in, Args args) {
  auto& items = self_of(args).items;
  const auto at = std::find_if(items.begin(), items.end(), [&](const Value& v) { return same_or_equal(in, v, args[1]); });
  if (at == items.end()) raise("ValueError", repr(in, args[1]) + " is not in deque");
  items.erase(at);
  return {};
}

Value index(Interpreter& in, Args args) {
  const Deque& d = self_of(args);
  const int64_t stop = clip_bound(in, args[3], d.size(), d.size());
  for (int64_t i = clip_bound(in, args[2], 0, d.size()); i < stop; ++i) {
    if (same_or_equal(in, d.items[static_cast<size_t>(i)], args[1])) return Value::of(i);
  }
  raise("ValueError", repr(in, args[1]) + " is not in deque");
}

Value insert(Interpreter& in, Args args) {
  Deque& d = self_of(args);
  if (d.limit >= 0 && d.size() >= d.limit) raise("IndexError", "deque already at its maximum size");
  d.items.insert(d.items.begin() + clip_bound(in, args[1], 0, d.size()), args[2]);
  return {};
}

Value count(Interpreter& in, Args args) {
  int64_t n = 0;
  for (const Value& v : self_of(args).items) n += same_or_equal(in, v, args[1]);
  return Value::of(n);
}

Value copy(Interpreter&, Args args) {
  Value made = Value::make<Deque>();
  made.as<Deque>()->items = self_of(args).items;
  made.as<Deque>()->limit = self_of(args).limit;
  return made;
}

}  // namespace

void register_carried_deques() {
  register_carried(typeid(Deque),
                   {.parts =
                        [](Interpreter&, Object& o) {
                          const auto& deque = static_cast<Deque&>(o);
                          return std::vector<Value>{make_tuple({deque.items.begin(), deque.items.end()}), Value::of(deque.limit)};
                        },
                    .make =
                        [](Interpreter&, std::span<Value> parts) {
                          Value made = Value::make<Deque>();
                          made.as<Deque>()->items.assign(parts[0].as<Tuple>()->items.begin(), parts[0].as<Tuple>()->items.end());
                          made.as<Deque>()->limit = parts[1].as_int();
                          return made;
                        },
                    .may_change = true});
}

const Type& deque_type() {
  static const NativeFunction constructor{"deque", "iterable=(), maxlen=None", construct, "A list that grows and shrinks at both ends."};
  static const Type type{
      "deque",
      "collections",
      &object_type(),
      {{"append", "self, x, /", [](Interpreter&, Args a) { return self_of(a).push_back(a[1]), Value(); }, "Adds at the right."},
       {"appendleft", "self, x, /", [](Interpreter&, Args a) { return self_of(a).push_front(a[1]), Value(); }, "Adds at the left."},
       {"pop", "self, /", [](Interpreter&, Args a) { return pop(a, false); }, "Removes and returns the rightmost; IndexError."},
       {"popleft", "self, /", [](Interpreter&, Args a) { return pop(a, true); }, "Removes and returns the leftmost; IndexError."},
       {"extend", "self, iterable, /", [](Interpreter& in, Args a) { return extend(in, a, false); }, "Adds items at the right."},
       {"extendleft", "self, iterable, /", [](Interpreter& in, Args a) { return extend(in, a, true); },
        "Adds items at the left, one by one."},
       {"rotate", "self, n=1, /", rotate, "Moves n items from the right end to the left."},
       {"remove", "self, value, /", remove, "Removes the first item that equals a value; ValueError."},
       {"index", "self, value, start=missing, stop=missing, /", index, "The first index of a value; ValueError."},
       {"insert", "self, index, object, /", insert, "Puts an item before an index."},
       {"count", "self, value, /", count, "How many items equal a value."},
       {"copy", "self, /", copy, "A deque with the same items."},
       {"reverse", "self, /", [](Interpreter&, Args a) { return std::reverse(self_of(a).items.begin(), self_of(a).items.end()), Value(); },
        "Turns it round."},
       {"clear", "self, /", [](Interpreter&, Args a) { return self_of(a).items.clear(), Value(); }, "Removes all items."}},
      {{"maxlen", [](Interpreter&, const Value& d) { return d.as<Deque>()->limit < 0 ? Value() : Value::of(d.as<Deque>()->limit); },
        nullptr, "The most items it holds, or None."}},
      &constructor};
  return type;
}

}  // namespace gasell
