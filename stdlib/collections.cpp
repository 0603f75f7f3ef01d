// collections: Counter, defaultdict, OrderedDict. deque.cpp has deque, named_tuple.cpp namedtuple.
#include <algorithm>

#include "runtime/session/dict.h"
#include "runtime/session/iterators.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/number.h"
#include "runtime/session/packing.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/carried.h"
#include "stdlib/deque.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/named_tuple.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

// ---- defaultdict ----

class DefaultDict final : public Dict {
 public:
  const Type& type() const override;
  std::string repr(Interpreter& in) override { return "defaultdict(" + gasell::repr(in, factory) + ", " + Dict::repr(in) + ")"; }
  Value get_item(Interpreter& in, const Value& key) override {
    if (const Value* found = find(in, key)) return *found;
    if (factory.is_none()) return Dict::get_item(in, key);
    Value made = gasell::call(in, factory, {});
    insert(in, key, made);
    return made;
  }

  Value factory;
};

Value new_default_dict(Interpreter& in, Args args) {
  Value made = Value::make<DefaultDict>();
  auto& d = *made.as<DefaultDict>();
  if (!args[0].is_none() && !args[0].is_object()) raise("TypeError", "first argument must be callable or None");
  d.factory = args[0];
  if (!is_missing(args[1])) d.update(in, args[1]);
  d.update(in, args[2]);
  return made;
}

const Type& default_dict_type() {
  static const NativeFunction constructor{"defaultdict", "default_factory=None, mapping=missing, /, **kwargs", new_default_dict,
                                          "A dict that makes the value of a missing key."};
  static const Type type{
      "defaultdict",
      "collections",
      &dict_type(),
      {{"copy", "self",
        [](Interpreter& in, Args a) {
          Value made = Value::make<DefaultDict>();
          made.as<DefaultDict>()->factory = a[0].as<DefaultDict>()->factory;
          made.as<Dict>()->update(in, a[0]);
          return made;
        },
        "A shallow copy."}},
      {{"default_factory", [](Interpreter&, const Value& d) { return d.as<DefaultDict>()->factory; },
        [](Interpreter&, const Value& d, const Value& f) { d.as<DefaultDict>()->factory = f; }, "What makes missing values."}},
      &constructor};
  return type;
}
const Type& DefaultDict::type() const { return default_dict_type(); }

// ---- Counter ----

class Counter final : public Dict {
 public:
  const Type& type() const override;
  std::string repr(Interpreter& in) override {
    if (size() == 0) return "Counter()";
    std::string out;
    for (const Entry& e : most_common(in)) out += (out.empty() ? "" : ", ") + gasell::repr(in, e.key) + ": " + gasell::repr(in, e.value);
    return "Counter({" + out + "})";
  }
  Value get_item(Interpreter& in, const Value& key) override {
    const Value* found = find(in, key);
    return found ? *found : Value::of(0);
  }
  void delete_item(Interpreter& in, const Value& key) override { take(in, key); }
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override;

  void add(Interpreter& in, const Value& key, const Value& count, ast::BinaryOp op) {
    insert(in, key, gasell::binary(in, op, get_item(in, key), count));
  }
  /// Counts from a mapping, or one for each item of an iterable.
  void add_all(Interpreter& in, const Value& source, ast::BinaryOp op) {
    if (const auto* d = source.as<Dict>()) {
      const std::vector<Entry> given = d->entries();
      for (const Entry& e : given) {
        if (!e.key.is_absent()) add(in, e.key, e.value, op);
      }
      return;
    }
    const Value items = iterate_value(in, source);
    require_keys(in, items, size(), sizeof(Entry));
    while (const auto v = gasell::next(in, items)) add(in, *v, Value::of(1), op);
  }
  std::vector<Entry> most_common(Interpreter& in) const {
    std::vector<Entry> all;
    for (const Entry& e : entries()) {
      if (!e.key.is_absent()) all.push_back(e);
    }
    std::stable_sort(all.begin(), all.end(), [&](const Entry& a, const Entry& b) {
      return truth_of(in, gasell::compare(in, ast::CompareOp::gt, a.value, b.value));
    });
    return all;
  }

 private:
  static Value iterate_value(Interpreter& in, const Value& v) { return gasell::iterate(in, v); }
  static bool truth_of(Interpreter& in, const Value& v) { return gasell::truth(in, v); }
};

Counter& counter_of(Args args) { return *args[0].as<Counter>(); }

/// Keeps what both operands say of each key, where the result is positive.
std::optional<Value> Counter::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  auto* o = other.as<Counter>();
  if (!o) return std::nullopt;
  Value made = Value::make<Counter>();
  auto& result = *made.as<Counter>();
  const auto visit = [&](const Value& key) {
    const Value a = get_item(in, key), b = o->get_item(in, key);
    const bool less = gasell::truth(in, gasell::compare(in, ast::CompareOp::lt, a, b));
    Value count;
    switch (op) {
      case ast::BinaryOp::add:
      case ast::BinaryOp::sub: count = gasell::binary(in, op, a, b); break;
      case ast::BinaryOp::bit_and: count = less ? a : b; break;
      default: count = less ? b : a; break;
    }
    if (gasell::truth(in, gasell::compare(in, ast::CompareOp::gt, count, Value::of(0)))) result.insert(in, key, count);
  };
  if (op != ast::BinaryOp::add && op != ast::BinaryOp::sub && op != ast::BinaryOp::bit_and && op != ast::BinaryOp::bit_or)
    return std::nullopt;
  for (const Entry& e : entries()) {
    if (!e.key.is_absent()) visit(e.key);
  }
  for (const Entry& e : o->entries()) {
    if (!e.key.is_absent() && !find(in, e.key)) visit(e.key);
  }
  return made;
}

Value count_more(Interpreter& in, Args args, ast::BinaryOp op) {
  if (!is_missing(args[1]) && !args[1].is_none()) counter_of(args).add_all(in, args[1], op);
  counter_of(args).add_all(in, args[2], op);
  return {};
}

Value new_counter(Interpreter& in, Args args) {
  Value made = Value::make<Counter>();
  if (!is_missing(args[0]) && !args[0].is_none()) made.as<Counter>()->add_all(in, args[0], ast::BinaryOp::add);
  made.as<Counter>()->add_all(in, args[1], ast::BinaryOp::add);
  return made;
}

Value most_common(Interpreter& in, Args args) {
  const auto all = counter_of(args).most_common(in);
  const auto n = args[1].is_none() ? static_cast<int64_t>(all.size()) : to_index(in, args[1]);
  std::vector<Value> out;
  for (int64_t i = 0; i < n && i < static_cast<int64_t>(all.size()); ++i) {
    const auto& e = all[static_cast<size_t>(i)];
    out.push_back(make_tuple({e.key, e.value}));
  }
  return make_list(std::move(out));
}

Value elements(Interpreter& in, Args args) {
  std::vector<Value> out;
  for (const auto& e : counter_of(args).entries()) {
    if (e.key.is_absent()) continue;
    for (int64_t i = to_index(in, e.value); i > 0; --i) out.push_back(e.key);
  }
  return iterate(in, make_list(std::move(out)));
}

Value total(Interpreter& in, Args args) {
  Value sum = Value::of(0);
  for (const auto& e : counter_of(args).entries()) {
    if (!e.key.is_absent()) sum = binary(in, ast::BinaryOp::add, sum, e.value);
  }
  return sum;
}

const Type& counter_type() {
  static const NativeFunction constructor{"Counter", "iterable=missing, /, **kwds", new_counter, "A dict that counts items."};
  static const Type type{"Counter",
                         "collections",
                         &dict_type(),
                         {{"most_common", "self, n=None", most_common, "(item, count) from the most frequent on."},
                          {"elements", "self", elements, "Each item as often as it was counted."},
                          {"total", "self", total, "The sum of the counts."},
                          {"update", "self, iterable=missing, /, **kwds",
                           [](Interpreter& in, Args a) { return count_more(in, a, ast::BinaryOp::add); }, "Adds counts."},
                          {"subtract", "self, iterable=missing, /, **kwds",
                           [](Interpreter& in, Args a) { return count_more(in, a, ast::BinaryOp::sub); }, "Subtracts counts."},
                          {"copy", "self",
                           [](Interpreter& in, Args a) {
                             Value made = Value::make<Counter>();
                             made.as<Dict>()->update(in, a[0]);
                             return made;
                           },
                           "A shallow copy."}},
                         {},
                         &constructor};
  return type;
}
const Type& Counter::type() const { return counter_type(); }

// ---- OrderedDict ----

class OrderedDict final : public Dict {
 public:
  const Type& type() const override;
  std::string repr(Interpreter& in) override {
    std::string out;
    for (const Entry& e : entries()) {
      if (!e.key.is_absent()) out += (out.empty() ? "" : ", ") + ("(" + gasell::repr(in, e.key)) + ", " + gasell::repr(in, e.value) + ")";
    }
    return out.empty() ? "OrderedDict()" : "OrderedDict([" + out + "])";
  }
};

Value new_ordered_dict(Interpreter& in, Args args) {
  Value made = Value::make<OrderedDict>();
  if (!is_missing(args[0])) made.as<Dict>()->update(in, args[0]);
  made.as<Dict>()->update(in, args[1]);
  return made;
}

[[noreturn]] void raise_key_error(const Value& key) {
  throw Raised(Value::make<Exception>(*exception_type("KeyError"), std::vector<Value>{key}));
}

Value move_to_end(Interpreter& in, Args args) {
  auto& d = *args[0].as<Dict>();
  Value value = d.take(in, args[1]);
  if (value.is_absent()) raise_key_error(args[1]);
  std::vector<Dict::Entry> rest;
  if (!truth(in, args[2])) {
    rest = d.entries();
    d.clear();
  }
  d.insert(in, args[1], value);
  for (const auto& e : rest) {
    if (!e.key.is_absent()) d.insert(in, e.key, e.value);
  }
  return {};
}

Value pop_item(Interpreter& in, Args args) {
  auto& d = *args[0].as<Dict>();
  if (d.size() == 0) raise("KeyError", "dictionary is empty");
  const auto& all = d.entries();
  const auto live = [](const Dict::Entry& e) { return !e.key.is_absent(); };
  const Dict::Entry e = truth(in, args[1]) ? *std::find_if(all.rbegin(), all.rend(), live) : *std::find_if(all.begin(), all.end(), live);
  d.take(in, e.key);
  return make_tuple({e.key, e.value});
}

const Type& ordered_dict_type() {
  static const NativeFunction constructor{"OrderedDict", "iterable=missing, /, **kwds", new_ordered_dict,
                                          "A dict that can reorder its keys."};
  static const Type type{
      "OrderedDict",
      "collections",
      &dict_type(),
      {{"move_to_end", "self, key, last=True", move_to_end, "Moves a key to an end; KeyError."},
       {"popitem", "self, last=True", pop_item, "Removes and returns the last or first (key, value); KeyError when empty."}},
      {},
      &constructor};
  return type;
}
const Type& OrderedDict::type() const { return ordered_dict_type(); }

/// The items of a dict, as a tuple of pairs.
Value pairs_of(const Dict& dict) {
  std::vector<Value> pairs;
  for (const Dict::Entry& e : dict.entries())
    if (!e.key.is_absent()) pairs.push_back(make_tuple({e.key, e.value}));
  return make_tuple(std::move(pairs));
}

template <class T>
Value filled(Interpreter& in, const Value& pairs) {
  Value made = Value::make<T>();
  for (const Value& pair : pairs.as<Tuple>()->items) made.as<Dict>()->insert(in, pair.as<Tuple>()->items[0], pair.as<Tuple>()->items[1]);
  return made;
}

}  // namespace

void register_carried_collections() {
  register_carried(typeid(Counter),
                   {.parts = [](Interpreter&, Object& o) { return std::vector<Value>{pairs_of(static_cast<Counter&>(o))}; },
                    .make = [](Interpreter& in, std::span<Value> parts) { return filled<Counter>(in, parts[0]); },
                    .may_change = true});
  register_carried(typeid(OrderedDict),
                   {.parts = [](Interpreter&, Object& o) { return std::vector<Value>{pairs_of(static_cast<OrderedDict&>(o))}; },
                    .make = [](Interpreter& in, std::span<Value> parts) { return filled<OrderedDict>(in, parts[0]); },
                    .may_change = true});
  register_carried(typeid(DefaultDict), {.parts =
                                             [](Interpreter&, Object& o) {
                                               const auto& dict = static_cast<DefaultDict&>(o);
                                               return std::vector<Value>{pairs_of(dict), dict.factory};
                                             },
                                         .make =
                                             [](Interpreter& in, std::span<Value> parts) {
                                               Value made = filled<DefaultDict>(in, parts[0]);
                                               made.as<DefaultDict>()->factory = parts[1];
                                               return made;
                                             },
                                         .may_change = true});
}

Value make_collections(Interpreter&) {
  Value module = Value::make<LibraryModule>("collections");
  for (const Type* type : {&counter_type(), &default_dict_type(), &ordered_dict_type(), &deque_type()})
    set_member(module, type->name, type_object(*type));
  set_member(module, "namedtuple", Value::make<Builtin>(named_tuple_function()));
  return module;
}

}  // namespace gasell
