#include "runtime/session/dict_views.h"

#include <array>

#include "runtime/session/iterators.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

Value part_of(const Dict::Entry& entry, DictPart part) {
  if (part == DictPart::keys) return entry.key;
  if (part == DictPart::values) return entry.value;
  return make_tuple({entry.key, entry.value});
}

class DictIterator final : public Object {
 public:
  DictIterator(const Value& dict, DictPart part, bool reversed)
      : dict_(dict), part_(part), reversed_(reversed), size_(of().size()), at_(reversed ? of().entries().size() : 0) {}
  const Type& type() const override {
    static const std::array<Type, 3> forward = {iterator_type_of("dict_keyiterator"), iterator_type_of("dict_valueiterator"),
                                                iterator_type_of("dict_itemiterator")};
    static const std::array<Type, 3> backward = {iterator_type_of("dict_reversekeyiterator"), iterator_type_of("dict_reversevalueiterator"),
                                                 iterator_type_of("dict_reverseitemiterator")};
    return (reversed_ ? backward : forward)[static_cast<size_t>(part_)];
  }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter&) override {
    if (dict_.is_none()) return {};
    if (of().size() != size_) {
      size_ = -1;
      raise("RuntimeError", "dictionary changed size during iteration");
    }
    const auto& entries = of().entries();
    if (reversed_) {
      while (at_ > 0) {
        --at_;
        if (at_ < entries.size() && !entries[at_].key.is_absent()) return part_of(entries[at_], part_);
      }
    } else {
      while (at_ < entries.size()) {
        const Dict::Entry& entry = entries[at_++];
        if (!entry.key.is_absent()) return part_of(entry, part_);
      }
    }
    dict_ = Value();  // an iterator that has ended stays ended
    return {};
  }

 private:
  Dict& of() const { return static_cast<Dict&>(*dict_.object()); }

  Value dict_;
  DictPart part_;
  bool reversed_;
  int64_t size_;
  size_t at_;
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
Value make_dict_iterator(const Value& dict, DictPart part, bool reversed) { return Value::make<DictIterator>(dict, part, reversed); }

}  // namespace gasell
