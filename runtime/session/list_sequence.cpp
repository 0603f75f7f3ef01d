#include "runtime/session/list_sequence.h"

#include <algorithm>
#include <limits>

#include "runtime/session/big_integer.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/range.h"

namespace gasell {

void poll_now(Interpreter& in) { Evaluator::session(in).poll(); }

void require_memory(Interpreter& in, int64_t count, size_t item_bytes) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(std::max<int64_t>(count, 0), item_bytes, &bytes)) bytes = std::numeric_limits<int64_t>::max();
  Evaluator::session(in).memory.require(bytes);
}

void require_items(Interpreter& in, const Value& iterator, size_t item_bytes) {
  if (!iterator.is_object()) return;
  if (const std::optional<int64_t> left = iterator.object()->items_left()) require_memory(in, *left, item_bytes);
}

void require_keys(Interpreter& in, const Value& iterator, int64_t there, size_t item_bytes) {
  if (const auto* range = iterator.as<RangeIterator>()) require_memory(in, range->left - there, item_bytes);
}

int64_t sequence_index(Interpreter& in, const Value& index, int64_t length, std::string_view type_name, std::string_view out_of_range) {
  std::optional<int64_t> i;
  if (index.is_int() || index.is_bool())
    i = index.as_int();
  else if (index.as<BigInt>())
    raise("IndexError", "cannot fit 'int' into an index-sized integer");
  else if (index.is_object())
    i = index.object()->to_index(in);
  if (!i) {
    const bool str = type_name == "string";
    raise("TypeError", std::string(type_name) + " indices must be integers" + (str ? ", not '" : " or slices, not ") + type_of(index).name +
                           (str ? "'" : ""));
  }
  if (*i < 0) *i += length;
  if (*i < 0 || *i >= length) raise("IndexError", std::string(out_of_range));
  return *i;
}

std::optional<Value> ask_right_operand(Interpreter& in, ast::BinaryOp op, Object& self, const Value& other) {
  if (!other.is_object() || other.as<Str>() || other.as<Tuple>() || other.as<List>()) return std::nullopt;
  // NumPy's integers repeat sequences as ints do; its arrays, also those with one item, multiply item by item.
  if (op == ast::BinaryOp::mul && type_of(other).name != "ndarray" && other.object()->to_index(in)) return std::nullopt;
  return other.object()->reflected(in, op, Value::of(&self));
}

int64_t repeat_count(Interpreter& in, const Value& n, int64_t length, int64_t item_bytes) {
  std::optional<int64_t> count;
  if (n.is_int() || n.is_bool())
    count = n.as_int();
  else if (n.as<BigInt>())
    raise("OverflowError", "cannot fit 'int' into an index-sized integer");
  else if (n.is_object())
    count = n.object()->to_index(in);
  if (!count) raise("TypeError", "can't multiply sequence by non-int of type '" + type_of(n).name + "'");
  if (*count <= 0 || length == 0) return 0;
  require_memory(in, *count, static_cast<size_t>(length * item_bytes));
  return *count;
}

int64_t clip_bound(Interpreter& in, const Value& v, int64_t default_value, int64_t length) {
  if (is_missing(v) || v.is_none()) return default_value;
  const int64_t i = to_index(in, v);
  return std::clamp<int64_t>(i < 0 ? i + length : i, 0, length);
}

bool same_or_equal(Interpreter& in, const Value& a, const Value& b) { return (a.is_object() && a.same(b)) || equal(in, a, b); }

std::optional<Value> compare_items(Interpreter& in, ast::CompareOp op, std::span<const Value> a, std::span<const Value> b) {
  using ast::CompareOp;
  if (a.size() != b.size() && (op == CompareOp::eq || op == CompareOp::ne)) return Value::of(op == CompareOp::ne);
  size_t i = 0;
  while (i < a.size() && i < b.size() && same_or_equal(in, a[i], b[i])) ++i;
  if (i == a.size() || i == b.size()) {
    switch (op) {
      case CompareOp::eq: return Value::of(a.size() == b.size());
      case CompareOp::ne: return Value::of(a.size() != b.size());
      case CompareOp::lt: return Value::of(a.size() < b.size());
      case CompareOp::le: return Value::of(a.size() <= b.size());
      case CompareOp::gt: return Value::of(a.size() > b.size());
      case CompareOp::ge: return Value::of(a.size() >= b.size());
      default: return std::nullopt;
    }
  }
  if (op == CompareOp::eq) return Value::of(false);
  if (op == CompareOp::ne) return Value::of(true);
  return compare(in, op, a[i], b[i]);
}

std::string join_reprs(Interpreter& in, std::span<const Value> items) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0) out += ", ";
    out += repr(in, items[i]);
  }
  return out;
}

namespace {

/// Stable, from run to run of what is in order. Whatever `before` says, and be it that a script's __lt__ contradicts itself, it stays
/// within the items, which std::stable_sort does not promise; what is in order, or in the opposite one, takes one pass.
template <class Item, class Before>
void sort_by_merging(std::vector<Item>& items, const Before& before) {
  constexpr size_t kShortRun = 16;
  const size_t size = items.size();
  std::vector<size_t> ends{0};  // of the runs
  for (size_t begin = 0, end = 0; begin < size; begin = end) {
    end = begin + 1;
    if (end < size && before(items[end], items[begin])) {
      for (++end; end < size && before(items[end], items[end - 1]);) ++end;
      std::reverse(items.begin() + static_cast<ptrdiff_t>(begin), items.begin() + static_cast<ptrdiff_t>(end));
    } else {
      while (end < size && !before(items[end], items[end - 1])) ++end;
    }
    for (; end < std::min(begin + kShortRun, size); ++end) {
      const auto first = items.begin() + static_cast<ptrdiff_t>(begin), last = items.begin() + static_cast<ptrdiff_t>(end);
      const Item item = *last;
      const auto place = std::upper_bound(first, last, item, before);
      std::move_backward(place, last, last + 1);
      *place = item;
    }
    ends.push_back(end);
  }
  std::vector<Item> merged(size);
  while (ends.size() > 2) {
    std::vector<size_t> longer{0};
    for (size_t i = 0; i + 1 < ends.size(); i += 2) {
      const size_t end = ends[std::min(i + 2, ends.size() - 1)];
      const auto at = [&](size_t n) { return items.begin() + static_cast<ptrdiff_t>(n); };
      std::merge(at(ends[i]), at(ends[i + 1]), at(ends[i + 1]), at(end), merged.begin() + static_cast<ptrdiff_t>(ends[i]), before);
      longer.push_back(end);
    }
    items.swap(merged);
    ends.swap(longer);
  }
}

}  // namespace

void sort_values(Interpreter& in, std::vector<Value>& items, const Value& key, bool reverse) {
  std::vector<Value> keys;
  if (!key.is_none()) {
    Session& session = Evaluator::session(in);
    keys.reserve(items.size());
    for (const Value& v : items) {
      Value given = v;
      keys.push_back(call_positional(session, key, {&given, 1}));
    }
  }
  const std::vector<Value>& by = key.is_none() ? items : keys;
  const auto run = [&](auto key_of, auto less) {
    struct Item {
      decltype(key_of(items[0])) key;
      size_t from;
    };
    std::vector<Item> order;
    order.reserve(by.size());
    for (size_t i = 0; i < by.size(); ++i) order.push_back({key_of(by[i]), i});
    // Reversing before and after keeps equal items in their order.
    if (reverse) std::reverse(order.begin(), order.end());
    sort_by_merging(order, [&](const Item& a, const Item& b) {
      poll(in);
      return less(a.key, b.key);
    });
    if (reverse) std::reverse(order.begin(), order.end());
    std::vector<Value> sorted;
    sorted.reserve(items.size());
    for (const Item& item : order) sorted.push_back(std::move(items[item.from]));
    items.swap(sorted);
  };
  const auto all = [&](auto test) { return std::all_of(by.begin(), by.end(), test); };
  if (all([](const Value& v) { return v.is_int(); })) {
    run([](const Value& v) { return v.as_int(); }, [](int64_t a, int64_t b) { return a < b; });
  } else if (all([](const Value& v) { return v.as<Str>() != nullptr; })) {
    run([](const Value& v) { return std::string_view(static_cast<Str*>(v.object())->value); },
        [](std::string_view a, std::string_view b) { return a < b; });
  } else {
    run([](const Value& v) { return &v; },
        [&](const Value* a, const Value* b) { return truth(in, compare(in, ast::CompareOp::lt, *a, *b)); });
  }
}

}  // namespace gasell
