#include <algorithm>

#include "runtime/session/arguments.h"
#include "runtime/session/builtins.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

std::vector<Value>& items_of(Args args) { return args[0].as<List>()->items; }
int64_t size_of(const List& l) { return static_cast<int64_t>(l.items.size()); }

Value construct(Interpreter& in, Args args) { return make_list(to_vector(in, args[0])); }

Value append(Interpreter&, Args args) {
  items_of(args).push_back(args[1]);
  return {};
}

Value clear(Interpreter&, Args args) {
  std::vector<Value> old;
  items_of(args).swap(old);  // freed after the list is empty: a destructor may look at it
  return {};
}

Value extend(Interpreter& in, Args args) {
  std::vector<Value> more = to_vector(in, args[1]);
  auto& items = items_of(args);
  items.insert(items.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return {};
}

Value insert(Interpreter& in, Args args) {
  const int64_t size = size_of(*args[0].as<List>()), at = clip_bound(in, args[1], 0, size);
  items_of(args).insert(items_of(args).begin() + at, args[2]);
  return {};
}

Value pop(Interpreter& in, Args args) {
  auto& items = items_of(args);
  int64_t at = to_index(in, args[1]);
  const auto size = static_cast<int64_t>(items.size());
  if (size == 0) raise("IndexError", "pop from empty list");
  if (at < 0) at += size;
  if (at < 0 || at >= size) raise("IndexError", "pop index out of range");
  Value taken = std::move(items[static_cast<size_t>(at)]);
  items.erase(items.begin() + at);
  return taken;
}

int64_t find(Interpreter& in, const List& l, const Value& v, int64_t start, int64_t stop) {
  for (int64_t i = start; i < stop && i < size_of(l); ++i) {  // == may change the list
    const Value item = l.items[static_cast<size_t>(i)];
    if (same_or_equal(in, item, v)) return i;
  }
  return -1;
}

Value remove(Interpreter& in, Args args) {
  List& l = *args[0].as<List>();
  const int64_t at = find(in, l, args[1], 0, size_of(l));
  if (at < 0) return fail(in, "ValueError", "list.remove(x): x not in list");
  l.items.erase(l.items.begin() + at);
  return {};
}

Value index(Interpreter& in, Args args) {
  const List& l = *args[0].as<List>();
  const int64_t size = size_of(l), at = find(in, l, args[1], clip_bound(in, args[2], 0, size), clip_bound(in, args[3], size, size));
  if (at < 0) return fail(in, "ValueError", repr(in, args[1]) + " is not in list");
  return Value::of(at);
}

Value count(Interpreter& in, Args args) {
  int64_t n = 0;
  const List& l = *args[0].as<List>();
  for (size_t i = 0; i < l.items.size(); ++i) {
    const Value item = l.items[i];
    n += same_or_equal(in, item, args[1]);
  }
  return Value::of(n);
}

Value reverse(Interpreter&, Args args) {
  std::reverse(items_of(args).begin(), items_of(args).end());
  return {};
}

Value sort(Interpreter& in, Args args) {
  // The list is empty while its items are compared, so that a key function cannot disturb the sort.
  List& l = *args[0].as<List>();
  const bool down = to_index(in, args[2]) != 0;
  std::vector<Value> items;
  items.swap(l.items);
  try {
    sort_values(in, items, args[1], down);
  } catch (...) {
    l.items = std::move(items);
    throw;
  }
  const bool modified = !l.items.empty();
  l.items = std::move(items);
  if (modified) raise("ValueError", "list modified during sort");
  return {};
}

void assign_slice(Interpreter& in, List& l, const SliceObject& s, const Value& value) {
  std::vector<Value> items;
  const SliceObject::Range before = s.indices(in, size_of(l));
  try {
    items = to_vector(in, value);
  } catch (const Raised& e) {
    if (value.is_object() || !is_instance(e.value, *exception_type("TypeError"))) throw;
    raise("TypeError", before.step == 1 ? "can only assign an iterable" : "must assign iterable to extended slice");
  }
  const SliceObject::Range r = s.indices(in, size_of(l));
  if (r.step == 1) {
    const auto first = l.items.begin() + r.start, last = first + std::max<int64_t>(r.count, 0);
    if (last - first == static_cast<ptrdiff_t>(items.size())) {
      std::swap_ranges(first, last, items.begin());
      return;
    }
    std::vector<Value> removed(std::make_move_iterator(first), std::make_move_iterator(last));  // freed when the list is whole again
    l.items.erase(first, last);
    l.items.insert(l.items.begin() + r.start, std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    return;
  }
  if (static_cast<int64_t>(items.size()) != r.count) {
    raise("ValueError",
          "attempt to assign sequence of size " + std::to_string(items.size()) + " to extended slice of size " + std::to_string(r.count));
  }
  for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step)
    std::swap(l.items[static_cast<size_t>(at)], items[static_cast<size_t>(i)]);
}

}  // namespace

const Type& list_type() {
  static const NativeFunction constructor{"list", "iterable=(), /", construct, "The items of an iterable, as a list."};
  static const Type t{
      "list",
      "builtins",
      &object_type(),
      {{"append", "self, object, /", append, "Adds an item at the end."},
       {"clear", "self, /", clear, "Removes all items."},
       {"copy", "self, /", [](Interpreter&, Args a) { return make_list(items_of(a)); }, "A list with the same items."},
       {"count", "self, value, /", count, "How many items equal a value."},
       {"extend", "self, iterable, /", extend, "Adds the items of an iterable at the end."},
       {"index", "self, value, start=missing, stop=missing, /", index, "The first index of a value; ValueError when it is not there."},
       {"insert", "self, index, object, /", insert, "Puts an item before an index."},
       {"pop", "self, index=-1, /", pop, "Removes and returns the item at an index, the last by default; IndexError."},
       {"remove", "self, value, /", remove, "Removes the first item that equals a value; ValueError when it is not there."},
       {"reverse", "self, /", reverse, "Turns the list round, in place."},
       {"sort", "self, *, key=None, reverse=False", sort, "Sorts in place, equal items keeping their order."}},
      {},
      &constructor};
  return t;
}

const Type& List::type() const { return list_type(); }

std::string List::repr(Interpreter& in) {
  thread_local std::vector<const List*> active;  // a list may hold itself
  if (std::find(active.begin(), active.end(), this) != active.end()) return "[...]";
  active.push_back(this);
  struct Pop {
    ~Pop() { active.pop_back(); }
  } pop;
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0) out += ", ";
    const Value item = items[i];
    out += gasell::repr(in, item);
  }
  return out + "]";
}

int64_t List::hash(Interpreter&) { raise("TypeError", "unhashable type: 'list'"); }

std::optional<Value> List::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  const auto* o = other.as<List>();
  return o ? compare_items(in, op, items, o->items) : std::nullopt;
}

std::optional<Value> List::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op == ast::BinaryOp::add) {
    if (const auto* o = other.as<List>()) {
      std::vector<Value> all;
      all.reserve(items.size() + o->items.size());
      all.insert(all.end(), items.begin(), items.end());
      all.insert(all.end(), o->items.begin(), o->items.end());
      return make_list(std::move(all));
    }
    if (auto answer = ask_right_operand(in, op, *this, other)) return answer;
    raise("TypeError", "can only concatenate list (not \"" + type_of(other).name + "\") to list");
  }
  if (op != ast::BinaryOp::mul) return std::nullopt;
  if (auto answer = ask_right_operand(in, op, *this, other)) return answer;
  return reflected(in, op, other);
}

std::optional<Value> List::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::mul) return std::nullopt;
  const int64_t n = repeat_count(in, other, static_cast<int64_t>(items.size()), sizeof(Value));
  std::vector<Value> all;
  all.reserve(items.size() * static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) all.insert(all.end(), items.begin(), items.end());
  return make_list(std::move(all));
}

std::optional<Value> List::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op == ast::BinaryOp::add) {
    if (auto answer = ask_right_operand(in, op, *this, other)) return answer;  // list += array is an array, as in NumPy
    std::vector<Value> more = to_vector(in, other);
    items.insert(items.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    return Value::of(this);
  }
  if (op == ast::BinaryOp::mul) {
    if (auto answer = ask_right_operand(in, op, *this, other)) return answer;
    const int64_t n = repeat_count(in, other, static_cast<int64_t>(items.size()), sizeof(Value));
    const size_t size = items.size();
    items.reserve(size * static_cast<size_t>(n));
    if (n == 0) items.clear();
    for (int64_t k = 1; k < n; ++k) {
      for (size_t i = 0; i < size; ++i) items.push_back(items[i]);
    }
    return Value::of(this);
  }
  return std::nullopt;
}

bool List::contains(Interpreter& in, const Value& item) { return find(in, *this, item, 0, INT64_MAX) >= 0; }

Value List::get_item(Interpreter& in, const Value& index) {
  if (const auto* s = index.as<SliceObject>()) {
    const auto r = s->indices(in, size_of(*this));
    std::vector<Value> picked;
    if (r.step == 1) {
      if (r.count > 0) picked.assign(items.begin() + r.start, items.begin() + r.start + r.count);
      return make_list(std::move(picked));
    }
    if (r.count > 0) picked.reserve(static_cast<size_t>(r.count));
    for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) picked.push_back(items[static_cast<size_t>(at)]);
    return make_list(std::move(picked));
  }
  return items[static_cast<size_t>(sequence_index(in, index, size_of(*this), "list", "list index out of range"))];
}

void List::set_item(Interpreter& in, const Value& index, const Value& value) {
  if (const auto* s = index.as<SliceObject>()) {
    assign_slice(in, *this, *s, value);
    return;
  }
  Value& item = items[static_cast<size_t>(sequence_index(in, index, size_of(*this), "list", "list assignment index out of range"))];
  const Value old = std::exchange(item, value);
}

void List::delete_item(Interpreter& in, const Value& index) {
  if (const auto* s = index.as<SliceObject>()) {
    auto r = s->indices(in, size_of(*this));
    if (r.count <= 0) return;
    if (r.step < 0) r = {r.start + (r.count - 1) * r.step, 0, -r.step, r.count};
    std::vector<Value> kept, removed;
    for (int64_t i = 0; i < size_of(*this); ++i) {
      const bool hit = i >= r.start && (i - r.start) % r.step == 0 && (i - r.start) / r.step < r.count;
      (hit ? removed : kept).push_back(std::move(items[static_cast<size_t>(i)]));
    }
    items = std::move(kept);
    return;
  }
  const int64_t at = sequence_index(in, index, size_of(*this), "list", "list assignment index out of range");
  const Value removed = std::move(items[static_cast<size_t>(at)]);
  items.erase(items.begin() + at);
}

Value List::iterate(Interpreter&) { return make_sequence_iterator(Value::of(this), "list_iterator"); }

}  // namespace gasell
