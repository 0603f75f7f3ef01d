// What loops and comprehensions take their items from, and assign them to. Where an iterator gives pairs and the target takes them apart at
// once, no tuple is made.
#pragma once

#include "runtime/session/evaluator.h"
#include "runtime/session/iterators.h"

namespace gasell {

/// The slot of the local variable that is assigned; -1: it is another target.
int local_slot(const Target& target);
/// The targets that an item is taken apart for, none of them starred; null: it is another target.
const std::vector<TargetPtr>* unpacked_targets(const Target& target);

class LoopTarget;

/// The items of a loop under way.
class LoopItems {
 public:
  LoopItems() = default;
  LoopItems(Interpreter& in, Value iterable, const LoopTarget& target);

 private:
  friend class LoopTarget;
  Cursor cursor_;
  Value pairs_;  // a PairIterator, in place of the cursor; or None
};

class LoopTarget {
 public:
  LoopTarget() = default;
  explicit LoopTarget(TargetPtr target) : target_(std::move(target)), slot_(local_slot(*target_)) {
    if (const auto* targets = unpacked_targets(*target_); targets && targets->size() == 2) pair_ = targets->data();
  }
  bool takes_pairs() const { return pair_ != nullptr; }
  /// Assigns the next item; false at the end.
  bool take(Frame& f, LoopItems& items) const {
    if (slot_ >= 0) return items.cursor_.next(f.in, f.locals[slot_]);
    Value item;
    if (items.pairs_.is_object()) {
      Value second;
      if (!static_cast<PairIterator*>(items.pairs_.object())->next_pair(f.in, item, second)) return false;
      pair_[0]->assign(f, std::move(item));
      pair_[1]->assign(f, std::move(second));
      return true;
    }
    if (!items.cursor_.next(f.in, item)) return false;
    target_->assign(f, std::move(item));
    return true;
  }

 private:
  TargetPtr target_;
  int slot_ = -1;
  const TargetPtr* pair_ = nullptr;  // the two halves
};

inline LoopItems::LoopItems(Interpreter& in, Value iterable, const LoopTarget& target) {
  if (target.takes_pairs()) pairs_ = pairs_of(iterable);
  if (pairs_.is_none()) cursor_ = Cursor(in, std::move(iterable));
}

}  // namespace gasell
