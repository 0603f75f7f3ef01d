// range(start, stop, step).
#pragma once

#include "runtime/session/objects.h"

namespace gasell {

class Range : public Object {
 public:
  Range(int64_t start, int64_t stop, int64_t step);  // ValueError for step 0
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  bool truth(Interpreter&) override { return count != 0; }
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  int64_t length(Interpreter&) override { return count; }
  bool contains(Interpreter&, const Value&) override;
  Value get_item(Interpreter&, const Value&) override;
  Value iterate(Interpreter&) override;

  int64_t at(int64_t i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
  }

  /// The sum of the items; nothing where it is no int64.
  std::optional<int64_t> sum() const;

  int64_t start, stop, step, count;
};

/// The iterator of a range; loops read it without virtual calls.
class RangeIterator final : public Object {
 public:
  RangeIterator(int64_t start, int64_t step, int64_t count) : value(start), step(step), left(count) {}
  const Type& type() const override;
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter&) override;
  std::optional<int64_t> items_left() const override { return left; }

  int64_t value, step, left;
};

}  // namespace gasell
