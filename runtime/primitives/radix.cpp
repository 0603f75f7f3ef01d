#include "runtime/primitives/radix.h"

#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace gasell {
namespace {

constexpr int kBucketBits = 11;
constexpr int64_t kBuckets = int64_t{1} << kBucketBits;
/// Fewer pairs than this are one core's work.
constexpr int64_t kAlone = 1 << 15;
constexpr int64_t kPairsBetweenChecks = 1 << 20;

struct Pairs {
  uint64_t* keys;
  uint32_t* rows;
  Pairs operator+(int64_t i) const { return {keys + i, rows + i}; }
};

void copy(const Pairs& from, const Pairs& to, int64_t count) {
  std::memcpy(to.keys, from.keys, static_cast<size_t>(count) * sizeof(uint64_t));
  std::memcpy(to.rows, from.rows, static_cast<size_t>(count) * sizeof(uint32_t));
}

uint64_t differing_bits(const uint64_t* keys, int64_t count) {
  uint64_t bits = 0;
  for (int64_t i = 1; i < count; ++i) bits |= keys[i] ^ keys[0];
  return bits;
}

void insertion_sort(const Pairs& p, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    const uint64_t key = p.keys[i];
    const uint32_t row = p.rows[i];
    int64_t j = i;
    for (; j > 0 && p.keys[j - 1] > key; --j) {
      p.keys[j] = p.keys[j - 1];
      p.rows[j] = p.rows[j - 1];
    }
    p.keys[j] = key;
    p.rows[j] = row;
  }
}

constexpr int kDigit = 8;  // bits
using Ends = std::array<int64_t, size_t{1} << kDigit>;

/// work(i) for each of them. `engine`: where interrupts are looked for, or null.
template <class Work>
void for_each_pair(Engine* engine, int64_t count, const Work& work) {
  const auto part = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) work(i);
  };
  if (!engine || count <= kPairsBetweenChecks) return part(0, count);
  in_turn(*engine, count, part);
}

/// The pairs in the order of one digit of their keys, those of one digit in their own; where each digit's end.
Ends distribute(Engine* engine, const Pairs& from, const Pairs& to, int64_t count, int shift) {
  const auto digit = [&](int64_t i) { return (from.keys[i] >> shift) & ((1 << kDigit) - 1); };
  Ends ends{};
  for_each_pair(engine, count, [&](int64_t i) { ++ends[digit(i)]; });
  int64_t sum = 0;
  for (int64_t& e : ends) e = std::exchange(sum, sum + e);
  for_each_pair(engine, count, [&](int64_t i) {
    const int64_t at = ends[digit(i)]++;
    to.keys[at] = from.keys[i];
    to.rows[at] = from.rows[i];
  });
  return ends;
}

/// Sorts `from`; the result is in `to`. Both are overwritten. `engine`: where interrupts are looked for, or null.
void sort_alone(Engine* engine, Pairs from, Pairs to, int64_t count) {
  if (count <= 32) {
    insertion_sort(from, count);
    return copy(from, to, count);
  }
  uint64_t bits = differing_bits(from.keys, count);
  const Pairs result = to;
  // Many pairs and many bits: divide by the highest ones first, so that what follows stays in the cache.
  if (count > kAlone && std::popcount(bits) > 2 * kDigit) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(bits)) - kDigit);
    const Ends ends = distribute(engine, from, to, count, shift);
    int64_t begin = 0;
    for (const int64_t end : ends) {
      if (end - begin > 1) {
        sort_alone(engine, to + begin, from + begin, end - begin);
        copy(from + begin, to + begin, end - begin);
      }
      begin = end;
    }
    return;
  }
  while (bits != 0) {
    const int shift = std::countr_zero(bits);
    distribute(engine, from, to, count, shift);
    std::swap(from, to);
    bits = shift + kDigit >= 64 ? 0 : bits >> (shift + kDigit) << (shift + kDigit);
  }
  if (from.keys != result.keys) copy(from, result, count);
}

/// Sorts `pairs` by way of `spare` of the same length; the result is in `pairs`.
void sort_on_all_cores(Engine& engine, Pairs pairs, Pairs spare, int64_t count) {
  const auto alone = [&](int64_t begin, int64_t n) {
    copy(pairs + begin, spare + begin, n);
    sort_alone(nullptr, spare + begin, pairs + begin, n);
  };
  if (count <= kAlone) return alone(0, count);
  std::mutex mutex;
  uint64_t bits = 0;
  over_rows(
      engine, count,
      [&](int64_t begin, int64_t end) {
        uint64_t mine = pairs.keys[begin] ^ pairs.keys[0];
        mine |= differing_bits(pairs.keys + begin, end - begin);
        const std::lock_guard lock(mutex);
        bits |= mine;
      },
      1 << 20);
  if (bits == 0) return;
  const int shift = std::max(0, static_cast<int>(std::bit_width(bits)) - kBucketBits);
  const auto bucket = [&](uint64_t key) { return (key >> shift) & (kBuckets - 1); };
  const int64_t parts = std::min<int64_t>(threads_of(engine), (count + kAlone - 1) / kAlone);
  const auto part_begin = [&](int64_t part) { return count / parts * part + std::min(part, count % parts); };
  std::vector<int64_t> places(static_cast<size_t>(parts * kBuckets));
  in_parallel(parts, [&](int64_t part) {
    int64_t* const counts = &places[static_cast<size_t>(part * kBuckets)];
    for (int64_t i = part_begin(part), end = part_begin(part + 1); i < end; ++i) {
      if (i % kPairsBetweenChecks == 0) check_interrupt(engine);
      ++counts[bucket(pairs.keys[i])];
    }
  });
  std::vector<int64_t> begins(static_cast<size_t>(kBuckets + 1));
  int64_t sum = 0;
  for (int64_t b = 0; b < kBuckets; ++b) {
    begins[static_cast<size_t>(b)] = sum;
    for (int64_t part = 0; part < parts; ++part) {
      int64_t& place = places[static_cast<size_t>(part * kBuckets + b)];
      place = std::exchange(sum, sum + place);
    }
  }
  begins.back() = sum;
  in_parallel(parts, [&](int64_t part) {
    int64_t* const place = &places[static_cast<size_t>(part * kBuckets)];
    for (int64_t i = part_begin(part), end = part_begin(part + 1); i < end; ++i) {
      if (i % kPairsBetweenChecks == 0) check_interrupt(engine);
      const int64_t at = place[bucket(pairs.keys[i])]++;
      spare.keys[at] = pairs.keys[i];
      spare.rows[at] = pairs.rows[i];
    }
  });
  check_interrupt(engine);
  // Neighbouring small buckets are one task; one that holds much of the whole is divided again.
  struct Task {
    int64_t first, last;
  };
  std::vector<Task> tasks;
  std::vector<int64_t> large;
  const int64_t much = std::max<int64_t>(count / (2 * threads_of(engine)), 1 << 18);
  for (int64_t b = 0; b < kBuckets; ++b) {
    const int64_t n = begins[static_cast<size_t>(b + 1)] - begins[static_cast<size_t>(b)];
    if (shift > 0 && n > much && threads_of(engine) > 1) {
      large.push_back(b);
      continue;
    }
    if (!tasks.empty() && tasks.back().last == b &&
        begins[static_cast<size_t>(b + 1)] - begins[static_cast<size_t>(tasks.back().first)] <= kRowsATask)
      tasks.back().last = b + 1;
    else
      tasks.push_back({b, b + 1});
  }
  in_parallel(static_cast<int64_t>(tasks.size()), [&](int64_t number) {
    check_interrupt(engine);
    for (int64_t b = tasks[static_cast<size_t>(number)].first; b < tasks[static_cast<size_t>(number)].last; ++b) {
      const int64_t begin = begins[static_cast<size_t>(b)], n = begins[static_cast<size_t>(b + 1)] - begin;
      if (n > 0) sort_alone(&engine, spare + begin, pairs + begin, n);
    }
  });
  for (const int64_t b : large) {
    const int64_t begin = begins[static_cast<size_t>(b)], n = begins[static_cast<size_t>(b + 1)] - begin;
    over_rows(
        engine, n, [&](int64_t first, int64_t last) { copy(spare + (begin + first), pairs + (begin + first), last - first); }, 1 << 20);
    sort_on_all_cores(engine, pairs + begin, spare + begin, n);
  }
}

}  // namespace

void sort_by_keys_alone(uint64_t* keys, uint32_t* rows, uint64_t* spare_keys, uint32_t* spare_rows, int64_t count) {
  copy({keys, rows}, {spare_keys, spare_rows}, count);
  sort_alone(nullptr, {spare_keys, spare_rows}, {keys, rows}, count);
}

void sort_by_keys(Engine& engine, Scratch<uint64_t>& keys, Scratch<uint32_t>& rows, int64_t count) {
  if (count < 2) return;
  const Scratch<uint64_t> spare_keys(engine, count);
  const Scratch<uint32_t> spare_rows(engine, count);
  sort_on_all_cores(engine, {keys.data(), rows.data()}, {spare_keys.data(), spare_rows.data()}, count);
}

}  // namespace gasell
