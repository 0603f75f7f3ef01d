// The places of what is true in a mask, found by the process's cores together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/device/workers.h"
#include "runtime/primitives/budget_vector.h"

namespace gasell::numpy {

/// So many elements are a share of one core's; fewer are done at once.
inline constexpr int64_t kShareOfCore = 1 << 16;

/// f(begin, end) for shares of [0, n), none of them empty, beside each other.
template <class F>
void for_each_share(int64_t n, const F& f) {
  if (n <= 0) return;
  if (n <= kShareOfCore) return f(int64_t{0}, n);
  in_parallel((n + kShareOfCore - 1) / kShareOfCore,
              [&](int64_t share) { f(share * kShareOfCore, std::min(n, (share + 1) * kShareOfCore)); });
}

class Trues {
 public:
  /// `mask`: n bytes, true where they are not 0, which outlive this.
  Trues(const char* mask, int64_t n) : mask_(mask), size_(n), before_(static_cast<size_t>((n + kShareOfCore - 1) / kShareOfCore) + 1) {
    for_each_share(n, [&](int64_t begin, int64_t end) {
      int64_t count = 0, at = begin;
      for (; at + kWord <= end; at += kWord) count += std::popcount(trues_at(at));
      for (; at < end; ++at) count += mask_[at] != 0;
      before_[static_cast<size_t>(begin / kShareOfCore) + 1] = count;
    });
    std::partial_sum(before_.begin(), before_.end(), before_.begin());
  }
  int64_t count() const { return before_.back(); }

  /// f(number among those that are true, place), in no order.
  template <class F>
  void for_each(const F& f) const {
    for_each_share(size_, [&](int64_t begin, int64_t end) {
      int64_t number = before_[static_cast<size_t>(begin / kShareOfCore)], at = begin;
      for (; at + kWord <= end; at += kWord)
        for (uint64_t word = trues_at(at); word; word &= word - 1) f(number++, at + std::countr_zero(word) / 8);
      for (; at < end; ++at)
        if (mask_[at]) f(number++, at);
    });
  }
  BudgetVector<int64_t> places(Engine& engine) const {
    BudgetVector<int64_t> result(static_cast<size_t>(count()), BudgetAllocator<int64_t>(engine));
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

  const char* mask_;
  int64_t size_;
  std::vector<int64_t> before_;  // how many are true before each share; all, behind the last
};

}  // namespace gasell::numpy
