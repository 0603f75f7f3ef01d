#include "runtime/session/dict_views.h"

#include <array>

#include "runtime/session/iterators.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// From entry to entry of a dict.
class DictWalk {
 public:
  DictWalk(const Value& dict, bool is_reversed)
      : reversed(is_reversed), dict_(dict), size_(of().size()), at_(reversed ? of().entries().size() : 0) {}
  /// Null at the end.
  const Dict::Entry* next() {
    if (dict_.is_none()) return nullptr;
    if (of().size() != size_) {
      size_ = -1;
      raise("RuntimeError", "dictionary changed size during iteration");
    }
    const auto& entries = of().entries();
    if (reversed) {
      while (at_ > 0) {
        --at_;
        if (at_ < entries.size() && !entries[at_].key.is_absent()) return &entries[at_];
      }
    } else {
      while (at_ < entries.size()) {
        const Dict::Entry& entry = entries[at_++];
        if (!entry.key.is_absent()) return &entry;
      }
    }
    dict_ = Value();  // an iterator that has ended stays ended
    return nullptr;
  }
  const bool reversed;

 private:
  Dict& of() const { return static_cast<Dict&>(*dict_.object()); }

  Value dict_;
  int64_t size_;
  size_t at_;
};

/// Over keys, or over values.
class DictIterator final : public Object {
 public:
  DictIterator(const Value& dict, DictPart part, bool reversed) : walk_(dict, reversed), part_(part) {}
  const Type& type() const override {
    static const std::array<Type, 2> forward = {iterator_type_of("dict_keyiterator"), iterator_type_of("dict_valueiterator")};
    static const std::array<Type, 2> backward = {iterator_type_of("dict_reversekeyiterator"),
                                                 iterator_type_of("dict_reversevalueiterator")};
    return (walk_.reversed ? backward : forward)[static_cast<size_t>(part_)];
  }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter&) override {
    const Dict::Entry* const entry = walk_.next();
    if (!entry) return {};
    return part_ == DictPart::keys ? entry->key : entry->value;
  }

 private:
  DictWalk walk_;
  DictPart part_;
};

class DictItemIterator final : public PairIterator {
 public:
  DictItemIterator(const Value& dict, bool reversed) : walk_(dict, reversed) {}
  const Type& type() const override {
    static const Type forward = iterator_type_of("dict_itemiterator"), backward = iterator_type_of("dict_reverseitemiterator");
    return walk_.reversed ? backward : forward;
  }
  bool next_pair(Interpreter&, Value& first, Value& second) override {
    const Dict::Entry* const entry = walk_.next();
    if (!entry) return false;
    first = entry->key;
    second = entry->value;
    return true;
  }

 private:
  DictWalk walk_;
};

class DictView final : public Object, public Reversible {
 public:
  DictView(const Value& dict, DictPart part) : dict_(dict), part_(part) {}
  const Type& type() const override {
    static const std::array<Type, 3> types = {iterator_type_of("dict_keys"), iterator_type_of("dict_values"),
                                              iterator_type_of("dict_items")};
    return types[static_cast<size_t>(part_)];
  }
  std::string repr(Interpreter& in) override {
    return type().name + "(" + gasell::repr(in, make_list(to_vector(in, Value::of(this)))) + ")";
  }
  bool truth(Interpreter&) override { return of().size() != 0; }
  int64_t length(Interpreter&) override { return of().size(); }
  Value iterate(Interpreter&) override { return make_dict_iterator(dict_, part_); }
  Value reversed(Interpreter&) const override { return make_dict_iterator(dict_, part_, true); }

  bool contains(Interpreter& in, const Value& item) override {
    if (part_ == DictPart::keys) return of().contains(in, item);
    if (part_ == DictPart::values) return Object::contains(in, item);
    const auto* pair = item.as<Tuple>();
    if (!pair || pair->items.size() != 2) return false;
    const Value* found = of().find(in, pair->items[0]);
    return found && equal(in, Value(*found), pair->items[1]);
  }

  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override {
    if (part_ == DictPart::values || !is_set_like(other)) return {};
    Value mine = make_set(in, Value::of(this));
    return mine.object()->compare(in, op, other.as<Set>() ? other : make_set(in, other));
  }
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    using enum ast::BinaryOp;
    if (part_ == DictPart::values || (op != bit_and && op != bit_or && op != bit_xor && op != sub)) return {};
    Value mine = make_set(in, Value::of(this));
    return gasell::binary(in, op, mine, make_set(in, other));
  }
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    using enum ast::BinaryOp;
    if (part_ == DictPart::values || (op != bit_and && op != bit_or && op != bit_xor && op != sub)) return {};
    return gasell::binary(in, op, make_set(in, other), make_set(in, Value::of(this)));
  }
  int64_t hash(Interpreter& in) override {
    if (part_ == DictPart::values) return Object::hash(in);
    raise("TypeError", "unhashable type: '" + type().name + "'");
  }
  const Value* dict_of_items() const { return part_ == DictPart::items ? &dict_ : nullptr; }

 private:
  Dict& of() const { return static_cast<Dict&>(*dict_.object()); }
  static bool is_set_like(const Value& v) {
    if (v.as<Set>()) return true;
    const auto* view = v.as<DictView>();
    return view && view->part_ != DictPart::values;
  }

  Value dict_;
  DictPart part_;
};

}  // namespace

Value make_dict_view(const Value& dict, DictPart part) { return Value::make<DictView>(dict, part); }
Value make_dict_iterator(const Value& dict, DictPart part, bool reversed) {
  return part == DictPart::items ? Value::make<DictItemIterator>(dict, reversed) : Value::make<DictIterator>(dict, part, reversed);
}
const Value* dict_of_items(const Value& v) {
  const auto* view = v.exactly<DictView>();
  return view ? view->dict_of_items() : nullptr;
}

}  // namespace gasell
