// Running aggregates: element i of a lane is what its elements up to i come to.
// Operations that round take them as compiler/graph/scan_blocks.h says, and so does `stdlib/_gpu/scans_of_lanes.gsl` on GPUs.
#pragma once

#include <memory>
#include <vector>

#include "compiler/graph/scan_blocks.h"
#include "runtime/primitives/lanes.h"

namespace gasell {

/// What stands before the next block of a lane: that of whole runs of kScanBlocks blocks, and that of the blocks since.
template <class T>
class ScanCarry {
 public:
  bool is_empty() const { return !has_runs_ && !has_blocks_; }
  /// Of one that is not empty.
  template <class Combine>
  T value(const Combine& combined) const {
    return !has_runs_ ? blocks_ : !has_blocks_ ? runs_ : combined(runs_, blocks_);
  }
  template <class Combine>
  void add(const T& block, const Combine& combined) {
    blocks_ = has_blocks_ ? combined(blocks_, block) : block;
    has_blocks_ = true;
    if (++count_ % kScanBlocks != 0) return;
    runs_ = has_runs_ ? combined(runs_, blocks_) : blocks_;
    has_runs_ = true;
    has_blocks_ = false;
  }

 private:
  T runs_{}, blocks_{};
  bool has_runs_ = false, has_blocks_ = false;
  int64_t count_ = 0;
};

namespace scan_details {

/// The running values of `blocks` whole blocks, each by itself, in `to`, or nowhere; totals[b]: what block b comes to. Four at a time,
/// which do not wait for each other.
template <bool stores, class T, class Combine>
void run_blocks(const T* from, T* to, int64_t blocks, T* totals, const Combine& combined) {
  int64_t b = 0;
  for (; b + 4 <= blocks; b += 4) {
    const T* const x = from + b * kScanBlock;
    T* const y = to + b * kScanBlock;
    T t0 = x[0], t1 = x[kScanBlock], t2 = x[2 * kScanBlock], t3 = x[3 * kScanBlock];
    for (int64_t i = 0;;) {
      if constexpr (stores) y[i] = t0, y[kScanBlock + i] = t1, y[2 * kScanBlock + i] = t2, y[3 * kScanBlock + i] = t3;
      if (++i == kScanBlock) break;
      t0 = combined(t0, x[i]);
      t1 = combined(t1, x[kScanBlock + i]);
      t2 = combined(t2, x[2 * kScanBlock + i]);
      t3 = combined(t3, x[3 * kScanBlock + i]);
    }
    totals[b] = t0, totals[b + 1] = t1, totals[b + 2] = t2, totals[b + 3] = t3;
  }
  for (; b < blocks; ++b) {
    T total = from[b * kScanBlock];
    for (int64_t i = 0;;) {
      if constexpr (stores) to[b * kScanBlock + i] = total;
      if (++i == kScanBlock) break;
      total = combined(total, from[b * kScanBlock + i]);
    }
    totals[b] = total;
  }
}

/// Whole blocks behind a carry, on this thread.
template <class T, class Combine>
void run_behind(const T* from, T* to, int64_t blocks, ScanCarry<T>& carry, const Combine& combined) {
  constexpr int64_t kTogether = 4;  // that stay in the nearest cache
  T totals[kTogether];
  for (int64_t b = 0; b < blocks; b += kTogether) {
    const int64_t here = std::min(kTogether, blocks - b);
    run_blocks<true>(from + b * kScanBlock, to + b * kScanBlock, here, totals, combined);
    for (int64_t k = 0; k < here; ++k) {
      if (!carry.is_empty()) {
        const T before = carry.value(combined);
        T* const y = to + (b + k) * kScanBlock;
        for (int64_t i = 0; i < kScanBlock; ++i) y[i] = combined(before, y[i]);
      }
      carry.add(totals[k], combined);
    }
  }
}

/// A lane that lies in one piece. Where it is `alone`, its blocks are shared among the cores: stretches that stay in the caches, first what
/// their blocks come to, then their elements.
template <class T, class Combine>
void run_lane(Engine& engine, const T* from, T* to, int64_t count, bool alone, const Combine& combined) {
  const int64_t blocks = count / kScanBlock, threads = alone ? threads_of(engine) : 1;
  constexpr int64_t kShare = 64;
  ScanCarry<T> carry;
  if (threads == 1 || blocks < 2 * kShare) {
    for (int64_t b = 0; b < blocks; b += kShare) {
      check_interrupt(engine);
      run_behind(from + b * kScanBlock, to + b * kScanBlock, std::min(kShare, blocks - b), carry, combined);
    }
  } else {
    const std::unique_ptr<T[]> totals(new T[static_cast<size_t>(threads * kShare)]);
    std::vector<ScanCarry<T>> carries(static_cast<size_t>(threads));
    for (int64_t first = 0; first < blocks; first += threads * kShare) {
      const int64_t here = std::min(threads * kShare, blocks - first);
      const auto shares = [&](const auto& work) {
        over_rows(engine, here, [&](int64_t begin, int64_t end) { work(first + begin, end - begin, begin); }, kShare);
      };
      shares([&](int64_t b, int64_t n, int64_t at) { run_blocks<false>(from + b * kScanBlock, to, n, totals.get() + at, combined); });
      for (int64_t k = 0; k < here; ++k) {
        if (k % kShare == 0) carries[static_cast<size_t>(k / kShare)] = carry;
        carry.add(totals[k], combined);
      }
      shares([&](int64_t b, int64_t n, int64_t at) {
        run_behind(from + b * kScanBlock, to + b * kScanBlock, n, carries[static_cast<size_t>(at / kShare)], combined);
      });
    }
  }
  T total{};
  for (int64_t i = blocks * kScanBlock; i < count; ++i) {
    total = i > blocks * kScanBlock ? combined(total, from[i]) : from[i];
    to[i] = carry.is_empty() ? total : combined(carry.value(combined), total);
  }
}

/// Elements `begin` to `end` of rows that lie one behind the other, `inner` elements each: as many lanes beside each other.
template <class T, class Combine>
void run_columns(Engine& engine, const T* from, T* to, int64_t extent, int64_t inner, int64_t begin, int64_t end, int64_t block,
                 const Combine& combined) {
  const int64_t width = end - begin;
  const std::unique_ptr<T[]> totals(new T[static_cast<size_t>(width)]), before(new T[static_cast<size_t>(extent > block ? width : 0)]);
  std::vector<ScanCarry<T>> carries(static_cast<size_t>(extent > block ? width : 0));
  const int64_t rows_together = (1 << 20) / std::max<int64_t>(1, width) + 1;
  for (int64_t i = 0; i < extent; ++i) {
    if (i % rows_together == 0) check_interrupt(engine);
    const T* const x = from + i * inner + begin;
    T* const y = to + i * inner + begin;
    if (i % block == 0) {
      if (i > 0)
        for (int64_t k = 0; k < width; ++k) {
          carries[static_cast<size_t>(k)].add(totals[k], combined);
          before[k] = carries[static_cast<size_t>(k)].value(combined);
        }
      std::copy(x, x + width, totals.get());
    } else {
      for (int64_t k = 0; k < width; ++k) totals[k] = combined(totals[k], x[k]);
    }
    if (i < block)
      std::copy(totals.get(), totals.get() + width, y);
    else
      for (int64_t k = 0; k < width; ++k) y[k] = combined(before[k], totals[k]);
  }
}

}  // namespace scan_details

/// Running values `begin` to `end` of a vector that comes in pieces of whole blocks (the last one may be any length): what scan_lanes()
/// gives there, in the same order, without the others.
template <class T>
class ScanPart {
 public:
  ScanPart(int64_t begin, int64_t end, T* to) : begin_(begin), end_(end), to_(to) {}
  /// The next `count` elements.
  template <class Combine>
  void add(Engine& engine, const T* from, int64_t count, const Combine& combined) {
    const int64_t blocks = count / kScanBlock, before = std::clamp<int64_t>((begin_ - at_) / kScanBlock, 0, blocks);
    // Blocks before the part: what they come to, by all cores.
    const std::unique_ptr<T[]> totals(new T[static_cast<size_t>(before)]);
    over_rows(
        engine, before,
        [&](int64_t first, int64_t last) {
          scan_details::run_blocks<false>(from + first * kScanBlock, static_cast<T*>(nullptr), last - first, totals.get() + first,
                                          combined);
        },
        64);
    for (int64_t b = 0; b < before; ++b) carry_.add(totals[b], combined);
    for (int64_t i = before * kScanBlock; i < count && at_ + i < end_; i += kScanBlock) {
      const int64_t here = std::min(kScanBlock, count - i);
      T total = from[i];
      for (int64_t k = 0;; total = combined(total, from[i + k])) {
        const int64_t place = at_ + i + k;
        if (place >= begin_ && place < end_) to_[place - begin_] = carry_.is_empty() ? total : combined(carry_.value(combined), total);
        if (++k == here) break;
      }
      if (here == kScanBlock) carry_.add(total, combined);
    }
    at_ += count;
  }

 private:
  int64_t begin_, end_;
  T* to_;
  int64_t at_ = 0;  // elements that came
  ScanCarry<T> carry_;
};

/// The running values of lanes by `combined`, in their own order where `in_order` says that the operation may not be regrouped.
template <class T, class Combine>
void scan_lanes(Engine& engine, const T* from, const Lanes& lanes, T* to, bool in_order, const Combine& combined) {
  if (lanes.extent == 0) return;
  if (lanes.inner == 1) {
    return map_lanes(engine, from, lanes, to, lanes.extent, [&](const T* lane, T* result, bool one_of_many) {
      if (!in_order) return scan_details::run_lane(engine, lane, result, lanes.extent, !one_of_many, combined);
      T total = result[0] = lane[0];
      for (int64_t i = 1; i < lanes.extent; ++i) {
        if (i % kRowsATask == 0) check_interrupt(engine);
        result[i] = total = combined(total, lane[i]);
      }
    });
  }
  // Rows one behind the other, as they lie in memory; each core has a range of their elements.
  const int64_t width = std::max<int64_t>(64, (lanes.inner + threads_of(engine) - 1) / threads_of(engine));
  for (int64_t o = 0; o < lanes.outer; ++o) {
    const int64_t first = o * lanes.extent * lanes.inner;
    over_rows(
        engine, lanes.inner,
        [&](int64_t begin, int64_t end) {
          scan_details::run_columns(engine, from + first, to + first, lanes.extent, lanes.inner, begin, end,
                                    in_order ? lanes.extent : kScanBlock, combined);
        },
        width);
  }
}

}  // namespace gasell
