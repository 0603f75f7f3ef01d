// The places of what is true in a mask, found by the process's cores together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/primitives/budget_vector.h"
#include "runtime/primitives/scratch.h"

namespace gasell::numpy {

class Trues {
 public:
  /// `mask`: n bytes, true where they are not 0, which outlive this.
  Trues(Engine& engine, const char* mask, int64_t n)
      : engine_(engine), mask_(mask), size_(n), before_(static_cast<size_t>((n + kRowsATask - 1) / kRowsATask) + 1) {
    over_rows(engine, n, [&](int64_t begin, int64_t end) {
      int64_t count = 0, at = begin;
      for (; at + kWord <= end; at += kWord) count += std::popcount(trues_at(at));
      for (; at < end; ++at) count += mask_[at] != 0;
      before_[static_cast<size_t>(begin / kRowsATask) + 1] = count;
    });
    std::partial_sum(before_.begin(), before_.end(), before_.begin());
  }
  int64_t count() const { return before_.back(); }

  /// f(number among those that are true, place), in no order.
  template <class F>
  void for_each(const F& f) const {
    over_rows(engine_, size_, [&](int64_t begin, int64_t end) {
      int64_t number = before_[static_cast<size_t>(begin / kRowsATask)], at = begin;
      for (; at + kWord <= end; at += kWord)
        for (uint64_t word = trues_at(at); word; word &= word - 1) f(number++, at + std::countr_zero(word) / 8);
      for (; at < end; ++at)
        if (mask_[at]) f(number++, at);
    });
  }
  BudgetVector<int64_t> places() const {
    BudgetVector<int64_t> result(static_cast<size_t>(count()), BudgetAllocator<int64_t>(engine_));
    for_each([&](int64_t number, int64_t place) { result[static_cast<size_t>(number)] = place; });
    return result;
  }

 private:
  static constexpr int64_t kWord = sizeof(uint64_t);
  /// The highest bit of each byte of a word that is not 0.
  uint64_t trues_at(int64_t at) const {
    constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
    uint64_t word;
    std::memcpy(&word, mask_ + at, kWord);
    return (((word & kLow) + kLow) | word) & ~kLow;
  }

  Engine& engine_;
  const char* mask_;
  int64_t size_;
  std::vector<int64_t> before_;  // how many are true before each share; all, behind the last
};

}  // namespace gasell::numpy
