#include "runtime/session/iterators.h"

#include <fmt/format.h>

#include "runtime/session/builtins.h"
#include "runtime/session/class.h"
#include "runtime/session/dict_views.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/range.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

class FunctionIterator final : public Object {
 public:
  FunctionIterator(const Type& type, std::function<std::optional<Value>(Interpreter&)> next) : type_(type), next_(std::move(next)) {}
  const Type& type() const override { return type_; }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter& in) override { return next_(in); }

 private:
  const Type& type_;
  std::function<std::optional<Value>(Interpreter&)> next_;
};

/// A cursor that stays at the end of a list, as iterators do, though the list grows behind it.
class IteratorOf {
 public:
  IteratorOf(Interpreter& in, Value iterable) : stays_(iterable.exactly<List>()), items_(in, std::move(iterable)) {}
  bool next(Interpreter& in, Value& out) {
    poll(in);
    if (ended_) return false;
    const bool found = items_.next(in, out);
    ended_ = stays_ && !found;
    return found;
  }

 private:
  bool stays_, ended_ = false;
  Cursor items_;
};

class Enumerate final : public PairIterator {
 public:
  Enumerate(Interpreter& in, Value iterable, int64_t start) : items_(in, std::move(iterable)), count_(start) {}
  const Type& type() const override { return enumerate_type(); }
  bool next_pair(Interpreter& in, Value& first, Value& second) override {
    if (!items_.next(in, second)) return false;
    first = Value::of(count_++);
    return true;
  }

 private:
  IteratorOf items_;
  int64_t count_;
};

Value new_enumerate(Interpreter& in, std::span<Value> args) { return Value::make<Enumerate>(in, args[0], to_index(in, args[1])); }

/// zip() of two that may be of different lengths.
class ZipOfTwo final : public PairIterator {
 public:
  ZipOfTwo(Interpreter& in, Value a, Value b) : first_(in, std::move(a)), second_(in, std::move(b)) {}
  const Type& type() const override { return zip_type(); }
  bool next_pair(Interpreter& in, Value& first, Value& second) override { return first_.next(in, first) && second_.next(in, second); }

 private:
  IteratorOf first_, second_;
};

Value new_zip(Interpreter& in, std::span<Value> args) {
  const std::vector<Value>& iterables = args[0].as<Tuple>()->items;
  bool strict = truth(in, args[1]);
  if (!strict && iterables.size() == 2) return Value::make<ZipOfTwo>(in, iterables[0], iterables[1]);
  std::vector<Value> iterators;
  for (const Value& v : iterables) iterators.push_back(iterate(in, v));
  return make_iterator(zip_type(), [iterators = std::move(iterators), strict](Interpreter& in) -> std::optional<Value> {
    if (iterators.empty()) return {};
    std::vector<Value> items;
    for (size_t i = 0; i < iterators.size(); ++i) {
      std::optional<Value> v = next(in, iterators[i]);
      if (v) {
        items.push_back(*std::move(v));
        continue;
      }
      if (!strict) return {};
      auto plural = [](size_t n) { return n == 1 ? " " : fmt::format("s 1-{}", n); };
      if (i > 0) raise("ValueError", fmt::format("zip() argument {} is shorter than argument{}{}", i + 1, plural(i), i == 1 ? "1" : ""));
      for (size_t k = 1; k < iterators.size(); ++k) {
        if (next(in, iterators[k])) {
          raise("ValueError", fmt::format("zip() argument {} is longer than argument{}{}", k + 1, plural(k), k == 1 ? "1" : ""));
        }
      }
      return {};
    }
    return make_tuple(std::move(items));
  });
}

Value new_map(Interpreter& in, std::span<Value> args) {
  std::vector<Value> iterators;
  for (const Value& v : args[1].as<Tuple>()->items) iterators.push_back(iterate(in, v));
  if (iterators.empty()) raise("TypeError", "map() must have at least two arguments.");
  return make_iterator(map_type(), [function = args[0], iterators = std::move(iterators)](Interpreter& in) -> std::optional<Value> {
    Arguments arguments;
    for (const Value& iterator : iterators) {
      std::optional<Value> v = next(in, iterator);
      if (!v) return {};
      arguments.positional.push_back(*std::move(v));
    }
    return call(in, function, std::move(arguments));
  });
}

Value new_filter(Interpreter& in, std::span<Value> args) {
  return make_iterator(filter_type(), [function = args[0], items = iterate(in, args[1])](Interpreter& in) -> std::optional<Value> {
    while (std::optional<Value> v = next(in, items)) {
      if (function.is_none() ? truth(in, *v) : truth(in, call(in, function, {{*v}, {}}))) return v;
    }
    return {};
  });
}

Value new_reversed(Interpreter& in, std::span<Value> args) {
  const Value& sequence = args[0];
  if (const auto* object = sequence.as<Instance>(); object && object->made_by().find("__reversed__"))
    return call(in, get_attribute(in, sequence, "__reversed__"), {});
  if (const auto* made = sequence.as<Class>(); made && !made->meta_class().is_none() && has_attribute(in, sequence, "__reversed__"))
    return call(in, get_attribute(in, sequence, "__reversed__"), {});
  if (const auto* dict = sequence.as<Dict>()) {
    std::vector<Value> keys;
    for (auto entry = dict->entries().rbegin(); entry != dict->entries().rend(); ++entry) {
      if (!entry->key.is_absent()) keys.push_back(entry->key);
    }
    return iterate(in, make_list(std::move(keys)));
  }
  if (const auto* r = sequence.as<Range>()) {
    return Value::make<RangeIterator>(r->count > 0 ? r->at(r->count - 1) : r->start,
                                      static_cast<int64_t>(0 - static_cast<uint64_t>(r->step)), r->count);
  }
  if (is_instance(sequence, set_type()) || is_instance(sequence, frozenset_type()) || !sequence.is_object()) {
    raise("TypeError", fmt::format("'{}' object is not reversible", type_of(sequence).name));
  }
  if (const auto* view = sequence.as<Reversible>()) return view->reversed(in);
  int64_t left = 0;
  try {
    left = length(in, sequence);
  } catch (const Raised&) {
    raise("TypeError", fmt::format("'{}' object is not reversible", type_of(sequence).name));
  }
  return make_iterator(reversed_type(), [sequence, left](Interpreter& in) mutable -> std::optional<Value> {
    if (left <= 0) return {};
    return get_item(in, sequence, Value::of(--left));
  });
}

}  // namespace

std::optional<Value> PairIterator::next(Interpreter& in) {
  Value first, second;
  if (!next_pair(in, first, second)) return {};
  std::vector<Value> both;
  both.reserve(2);
  both.push_back(std::move(first));
  both.push_back(std::move(second));
  return make_tuple(std::move(both));
}

Value pairs_of(const Value& iterable) {
  if (iterable.as<PairIterator>()) return iterable;
  const Value* const dict = dict_of_items(iterable);
  return dict ? make_dict_iterator(*dict, DictPart::items) : Value();
}

Value make_iterator(const Type& type, std::function<std::optional<Value>(Interpreter&)> next) {
  return Value::make<FunctionIterator>(type, std::move(next));
}

Type iterator_type_of(std::string name) { return Type{std::move(name), "builtins", &object_type(), {}, {}}; }

const Type& enumerate_type() {
  static const NativeFunction constructor{"enumerate", "iterable, start=0", new_enumerate, "(index, item) for each item"};
  static const Type type{"enumerate", "builtins", &object_type(), {}, {}, &constructor};
  return type;
}
const Type& zip_type() {
  static const NativeFunction constructor{"zip", "*iterables, strict=False", new_zip, "tuples of one item from each iterable"};
  static const Type type{"zip", "builtins", &object_type(), {}, {}, &constructor};
  return type;
}
const Type& map_type() {
  static const NativeFunction constructor{"map", "function, *iterables", new_map, "function(item, …) for each item"};
  static const Type type{"map", "builtins", &object_type(), {}, {}, &constructor};
  return type;
}
const Type& filter_type() {
  static const NativeFunction constructor{"filter", "function, iterable, /", new_filter, "the items for which function(item) is true"};
  static const Type type{"filter", "builtins", &object_type(), {}, {}, &constructor};
  return type;
}
const Type& reversed_type() {
  static const NativeFunction constructor{"reversed", "sequence, /", new_reversed, "the items from last to first"};
  static const Type type{"reversed", "builtins", &object_type(), {}, {}, &constructor};
  return type;
}

}  // namespace gasell
