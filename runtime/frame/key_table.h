// A hash table from keys, as numbers, to group numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "runtime/frame/keys.h"

namespace gasell::frame {

inline uint64_t hash_of_key(uint64_t key) {
  const auto product = Wide{key ^ 0x9e3779b97f4a7c15U} * 0xd6e8feb86659fd93U;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Open addressing from keys to numbers 0, 1, 2 …
class KeyTable {
 public:
  /// For up to `most` keys without growing.
  explicit KeyTable(int64_t most) { clear(most); }
  void clear(int64_t most) {
    const size_t slots = std::bit_ceil(static_cast<size_t>(std::max<int64_t>(most, 8)) * 2);
    numbers_.assign(slots, -1);
    keys_.resize(slots);
    shift_ = 64 - std::countr_zero(slots);
    count_ = 0;
  }
  int64_t size() const { return count_; }
  /// The key's number; size() grew where it is new.
  int32_t add(uint64_t key, uint64_t hash) {
    size_t slot = hash << 12 >> shift_;  // the highest bits chose the part
    const size_t mask = numbers_.size() - 1;
    for (; numbers_[slot] >= 0; slot = (slot + 1) & mask)
      if (keys_[slot] == key) return numbers_[slot];
    keys_[slot] = key;
    numbers_[slot] = static_cast<int32_t>(count_);
    if (++count_ * 2 > static_cast<int64_t>(numbers_.size())) grow();
    return static_cast<int32_t>(count_ - 1);
  }
  template <class F>
  void each(const F& f) const {
    for (size_t slot = 0; slot < numbers_.size(); ++slot)
      if (numbers_[slot] >= 0) f(keys_[slot], numbers_[slot]);
  }

 private:
  void grow() {
    std::vector<uint64_t> keys = std::move(keys_);
    std::vector<int32_t> numbers = std::move(numbers_);
    numbers_.assign(numbers.size() * 4, -1);
    keys_.assign(numbers_.size(), 0);
    shift_ -= 2;
    const size_t mask = numbers_.size() - 1;
    for (size_t old = 0; old < numbers.size(); ++old) {
      if (numbers[old] < 0) continue;
      size_t slot = hash_of_key(keys[old]) << 12 >> shift_;
      while (numbers_[slot] >= 0) slot = (slot + 1) & mask;
      keys_[slot] = keys[old];
      numbers_[slot] = numbers[old];
    }
  }
  std::vector<uint64_t> keys_;
  std::vector<int32_t> numbers_;
  int shift_ = 0;
  int64_t count_ = 0;
};

}  // namespace gasell::frame
