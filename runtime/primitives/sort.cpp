#include "runtime/primitives/sort.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/primitives/order_keys.h"
#include "runtime/primitives/radix.h"
#include "runtime/primitives/scratch.h"

namespace gasell {
namespace {

/// Fewer elements than this are one core's work.
constexpr int64_t kAlone = 1 << 15;
/// So few are sorted without setting up more than std::sort does.
constexpr int64_t kFew = 48;

/// More elements than this are put in order by numbers for keys.
constexpr int64_t kFewByKeys = 256;
/// More numbers of four bytes than this are sorted by their digits.
constexpr int64_t kManyDigits = 1 << 10;
/// More numbers than this are not sorted in one go, which nothing can interrupt.
constexpr int64_t kMostInOneGo = 1 << 22;

template <class T>
constexpr bool kVectorised = (std::is_arithmetic_v<T> || is_real_element<T>) && sizeof(T) >= 2;

/// Floats as integers in their order, and back: all bits but the sign turn over where that is set.
template <class T, class Integer>
void turn_over(T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Integer bits = std::bit_cast<Integer>(values[i]);
    bits = static_cast<Integer>(bits ^ ((bits >> (8 * sizeof(T) - 1)) & std::numeric_limits<Integer>::max()));
    values[i] = std::bit_cast<T>(bits);
  }
}

/// Numbers of four bytes by their digits, from the lowest one up: on some processors Highway's sort is several times slower for them than
/// for wider ones.
template <class T>
void sort_by_digits(T* values, int64_t count) {
  constexpr int kDigits = 4, kValues = 256;
  constexpr uint32_t kSign = std::is_signed_v<T> ? uint32_t{1} << 31 : 0;
  int64_t places[kDigits][kValues] = {};
  for (int64_t i = 0; i < count; ++i)
    for (int d = 0; d < kDigits; ++d) ++places[d][((static_cast<uint32_t>(values[i]) ^ kSign) >> (8 * d)) & (kValues - 1)];
  const std::unique_ptr<T[]> spare(new T[static_cast<size_t>(count)]);
  T *from = values, *to = spare.get();
  for (int d = 0; d < kDigits; ++d) {
    int64_t sum = 0;
    if (*std::max_element(places[d], places[d] + kValues) == count) continue;
    for (int64_t& p : places[d]) p = std::exchange(sum, sum + p);
    for (int64_t i = 0; i < count; ++i) to[places[d][((static_cast<uint32_t>(from[i]) ^ kSign) >> (8 * d)) & (kValues - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != values) std::copy_n(from, count, values);
}

/// Sorts numbers, none of them NaN; -0.0 is before 0.0. Floats go as integers: Highway 1.0 makes infinities finite.
template <class T>
void sort_numbers(T* values, int64_t count) {
  if constexpr (!kVectorised<T>) {
    std::sort(values, values + count);
  } else if constexpr (is_real_element<T>) {
    using Integer = std::conditional_t<sizeof(T) == 2, int16_t, std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
    turn_over<T, Integer>(values, count);
    sort_numbers(reinterpret_cast<Integer*>(values), count);
    turn_over<T, Integer>(values, count);
  } else if (count <= kFew) {
    std::sort(values, values + count);
  } else if (sizeof(T) == 4 && count > kManyDigits) {
    sort_by_digits(values, count);
  } else {
    hwy::Sorter()(values, static_cast<size_t>(count), hwy::SortAscending());
  }
}

/// 255 splitters of a sample, as a search tree in an array: node k has children 2k and 2k + 1.
template <class T>
class Splitters {
 public:
  static constexpr int kLevels = 8;
  static constexpr int64_t kBuckets = 1 << kLevels;

  Splitters(const T* values, int64_t count) {
    constexpr int64_t kOversampling = 16;
    std::vector<T> sample(static_cast<size_t>(kBuckets * kOversampling));
    uint64_t state = 0x9e3779b97f4a7c15;
    for (T& s : sample) {  // Knuth's linear congruential generator: any spread of places will do
      state = state * 6364136223846793005 + 1442695040888963407;
      s = values[static_cast<uint64_t>((static_cast<unsigned __int128>(state) * static_cast<uint64_t>(count)) >> 64)];
    }
    sort_numbers(sample.data(), static_cast<int64_t>(sample.size()));
    place(sample.data() + kOversampling - 1, kOversampling, 0, kBuckets - 1, 1);
  }
  /// Elements of a bucket are above all splitters before it, and none is above those behind.
  int64_t bucket(const T& value) const {
    int64_t node = 1;
    for (int level = 0; level < kLevels; ++level) node = 2 * node + (tree_[static_cast<size_t>(node)] < value);
    return node - kBuckets;
  }

 private:
  void place(const T* first, int64_t step, int64_t begin, int64_t end, int64_t node) {
    if (begin >= end) return;
    const int64_t middle = (begin + end) / 2;
    tree_[static_cast<size_t>(node)] = first[middle * step];
    place(first, step, begin, middle, 2 * node);
    place(first, step, middle + 1, end, 2 * node + 1);
  }
  std::array<T, kBuckets> tree_{};
};

/// Sorts `from` into `to`; `from` is kept. No element is NaN.
template <class T>
void sort_by_sample(Engine& engine, const T* from, T* to, int64_t count, int depth = 0) {
  if (count <= kAlone) {
    std::copy_n(from, count, to);
    return sort_numbers(to, count);
  }
  using Buckets = Splitters<T>;
  const Buckets splitters(from, count);
  const int64_t parts = std::min<int64_t>(4 * threads_of(engine), (count + kAlone - 1) / kAlone);
  const auto part_begin = [&](int64_t part) { return count / parts * part + std::min(part, count % parts); };
  const Scratch<uint8_t> buckets(engine, count);
  std::vector<int64_t> places(static_cast<size_t>(parts * Buckets::kBuckets));
  /// work(i, places of the part's buckets) for each element of each part.
  const auto over_parts = [&](const auto& work) {
    in_parallel(parts, [&](int64_t part) {
      int64_t* const place = &places[static_cast<size_t>(part * Buckets::kBuckets)];
      const int64_t first = part_begin(part);
      in_turn(engine, part_begin(part + 1) - first, [&](int64_t begin, int64_t end) {
        for (int64_t i = first + begin; i < first + end; ++i) work(i, place);
      });
    });
  };
  over_parts([&](int64_t i, int64_t* counts) {
    const int64_t bucket = splitters.bucket(from[i]);
    buckets[i] = static_cast<uint8_t>(bucket);
    ++counts[bucket];
  });
  std::vector<int64_t> begins(static_cast<size_t>(Buckets::kBuckets + 1));
  int64_t sum = 0;
  for (int64_t b = 0; b < Buckets::kBuckets; ++b) {
    begins[static_cast<size_t>(b)] = sum;
    for (int64_t part = 0; part < parts; ++part) {
      int64_t& place = places[static_cast<size_t>(part * Buckets::kBuckets + b)];
      place = std::exchange(sum, sum + place);
    }
  }
  begins.back() = sum;
  over_parts([&](int64_t i, int64_t* place) { to[place[buckets[i]]++] = from[i]; });
  // A bucket that holds much of the whole is divided again, where its elements differ at all.
  const int64_t much = std::clamp<int64_t>(count / (2 * threads_of(engine)), int64_t{1} << 20, kMostInOneGo);
  std::vector<int64_t> large;
  for (int64_t b = 0; b < Buckets::kBuckets; ++b)
    if (begins[static_cast<size_t>(b + 1)] - begins[static_cast<size_t>(b)] > much && depth < 2) large.push_back(b);
  in_parallel(Buckets::kBuckets, [&](int64_t b) {
    check_interrupt(engine);
    if (std::binary_search(large.begin(), large.end(), b)) return;
    sort_numbers(to + begins[static_cast<size_t>(b)], begins[static_cast<size_t>(b + 1)] - begins[static_cast<size_t>(b)]);
  });
  for (const int64_t b : large) {
    T* const bucket = to + begins[static_cast<size_t>(b)];
    const int64_t n = begins[static_cast<size_t>(b + 1)] - begins[static_cast<size_t>(b)];
    const auto [least, most] = std::minmax_element(bucket, bucket + n);
    if (*least == *most) continue;
    const Scratch<T> copy(engine, n);
    copy_elements<T>(engine, bucket, n, copy.data());
    sort_by_sample(engine, copy.data(), bucket, n, depth + 1);
  }
}

/// Sorts by counting how often each value is there: types of one byte.
template <class T>
void sort_by_counting(Engine& engine, const T* from, T* to, int64_t count) {
  constexpr int64_t kValues = 256;
  const int64_t tasks = (count + kRowsATask - 1) / kRowsATask;
  std::vector<int64_t> counts(static_cast<size_t>(std::max<int64_t>(tasks, 1) * kValues));
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    int64_t* const mine = &counts[static_cast<size_t>(begin / kRowsATask * kValues)];
    for (int64_t i = begin; i < end; ++i) ++mine[static_cast<uint8_t>(from[i])];
  });
  for (int64_t task = 1; task < tasks; ++task)
    for (int64_t v = 0; v < kValues; ++v) counts[static_cast<size_t>(v)] += counts[static_cast<size_t>(task * kValues + v)];
  constexpr int kFirst = std::is_signed_v<T> ? -128 : 0;
  for (int v = kFirst; v < kFirst + kValues; ++v) to = std::fill_n(to, counts[static_cast<uint8_t>(v)], static_cast<T>(v));
}

/// How many of the first `place` elements of the merged sorted vectors a and b are a's, of which equal ones come first.
template <class T, class Before>
int64_t share_of_first(const T* a, int64_t size_a, const T* b, int64_t size_b, int64_t place, const Before& before) {
  int64_t low = std::max<int64_t>(0, place - size_b), high = std::min(place, size_a);
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (before(b[place - middle - 1], a[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Sorts by comparing, equal elements in their order: short runs, then merged two by two, each core a range of the result.
template <class T, class Before>
void merge_sort(Engine& engine, T* values, int64_t count, const Before& before) {
  if (count <= kAlone) return static_cast<void>(std::stable_sort(values, values + count, before));
  over_rows(engine, count, [&](int64_t begin, int64_t end) { std::stable_sort(values + begin, values + end, before); }, kAlone);
  const Scratch<T> spare(engine, count);
  T *from = values, *to = spare.data();
  for (int64_t width = kAlone; width < count; width *= 2) {
    over_rows(
        engine, count,
        [&](int64_t begin, int64_t end) {
          const int64_t pair = begin / (2 * width) * 2 * width;
          const T *const a = from + pair, *const b = from + std::min(pair + width, count);
          const int64_t size_a = b - a, size_b = std::min(pair + 2 * width, count) - pair - size_a;
          const int64_t a_begin = share_of_first(a, size_a, b, size_b, begin - pair, before);
          const int64_t a_end = share_of_first(a, size_a, b, size_b, end - pair, before);
          std::merge(a + a_begin, a + a_end, b + (begin - pair - a_begin), b + (end - pair - a_end), to + begin, before);
        },
        2 * kAlone);
    std::swap(from, to);
  }
  if (from != values) copy_elements<T>(engine, from, count, values);
}

template <class T>
bool is_negative_zero(T v) {
  return v == 0 && std::signbit(static_cast<std::conditional_t<sizeof(T) == 2, float, T>>(v));
}

/// The zeros among floats, in their order, where there are negative ones.
template <class T>
std::vector<T> signed_zeros(const T* values, int64_t count) {
  std::vector<T> zeros;
  if (std::none_of(values, values + count, [](T v) { return is_negative_zero(v); })) return zeros;
  std::copy_if(values, values + count, std::back_inserter(zeros), [](T v) { return v == 0; });
  return zeros;
}

/// Floats: what is NaN goes to the end, in its order; the rest is sorted as numbers; then zeros get back their signs, in their order.
template <class T>
void sort_floats(Engine& engine, const T* from, T* to, int64_t count) {
  struct Found {
    int64_t missing = 0, negative_zeros = 0;
  };
  std::vector<Found> found(static_cast<size_t>((count + kRowsATask - 1) / kRowsATask));
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    Found f;
    for (int64_t i = begin; i < end; ++i) {
      f.missing += from[i] != from[i];
      f.negative_zeros += is_negative_zero(from[i]);
    }
    found[static_cast<size_t>(begin / kRowsATask)] = f;
  });
  Found all;
  for (const Found& f : found) all = {all.missing + f.missing, all.negative_zeros + f.negative_zeros};
  const int64_t numbers = count - all.missing;
  if (all.missing == 0) {
    sort_by_sample(engine, from, to, count);
  } else {
    const Scratch<T> kept(engine, numbers);
    T *number = kept.data(), *missing = to + numbers;
    in_turn(engine, count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) *(from[i] == from[i] ? number : missing)++ = from[i];
    });
    sort_by_sample(engine, static_cast<const T*>(kept.data()), to, numbers);
  }
  if (all.negative_zeros == 0) return;
  T* zero = std::lower_bound(to, to + numbers, T{0});
  in_turn(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (from[i] == 0) *zero++ = from[i];
  });
}

}  // namespace

void sort_alone(DType dtype, void* elements, int64_t count) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    T* const values = static_cast<T*>(elements);
    if (count <= kFew || std::is_class_v<T>) return static_cast<void>(std::stable_sort(values, values + count, ordered_before<T>));
    if constexpr (is_real_element<T>) {
      T* const end = std::stable_partition(values, values + count, [](T v) { return v == v; });
      const std::vector<T> zeros = signed_zeros(values, end - values);
      sort_numbers(values, end - values);
      std::copy(zeros.begin(), zeros.end(), std::lower_bound(values, end, T{0}));
    } else if constexpr (!std::is_class_v<T>) {
      sort_numbers(values, count);
    }
  });
}

void sort(Engine& engine, DType dtype, const void* from, void* to, int64_t count) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const source = static_cast<const T*>(from);
    T* const target = static_cast<T*>(to);
    if (count <= kAlone) {
      std::copy_n(source, count, target);
      sort_alone(dtype, target, count);
    } else if constexpr (is_real_element<T>) {
      sort_floats(engine, source, target, count);
    } else if constexpr (std::is_class_v<T>) {
      copy_elements(engine, source, count, target);
      merge_sort(engine, target, count, ordered_before<T>);
    } else if constexpr (kVectorised<T>) {
      sort_by_sample(engine, source, target, count);
    } else {
      sort_by_counting(engine, source, target, count);
    }
  });
}

void argsort_alone(DType dtype, const void* from, int64_t* order, int64_t count) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const source = static_cast<const T*>(from);
    if constexpr (!std::is_class_v<T>) {
      if (count > kFewByKeys && count <= std::numeric_limits<uint32_t>::max()) {
        const auto n = static_cast<size_t>(count);
        const std::unique_ptr<uint64_t[]> keys(new uint64_t[2 * n]);
        const std::unique_ptr<uint32_t[]> places(new uint32_t[2 * n]);
        for (size_t i = 0; i < n; ++i) {
          keys[i] = order_key(source[i]);
          places[i] = static_cast<uint32_t>(i);
        }
        sort_by_keys_alone(keys.get(), places.get(), keys.get() + n, places.get() + n, count);
        return static_cast<void>(std::copy_n(places.get(), n, order));
      }
    }
    std::iota(order, order + count, int64_t{0});
    std::stable_sort(order, order + count, [source](int64_t a, int64_t b) { return ordered_before(source[a], source[b]); });
  });
}

void argsort(Engine& engine, DType dtype, const void* from, int64_t* order, int64_t count) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const source = static_cast<const T*>(from);
    if constexpr (!std::is_class_v<T>) {
      if (count > kFewByKeys && count <= std::numeric_limits<uint32_t>::max()) {
        Scratch<uint64_t> keys(engine, count);
        Scratch<uint32_t> places(engine, count);
        over_rows(engine, count, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            keys[i] = order_key(source[i]);
            places[i] = static_cast<uint32_t>(i);
          }
        });
        sort_by_keys(engine, keys, places, count);
        return over_rows(engine, count,
                         [&](int64_t begin, int64_t end) { std::copy(places.data() + begin, places.data() + end, order + begin); });
      }
    }
    over_rows(engine, count, [&](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
    merge_sort(engine, order, count, [source](int64_t a, int64_t b) { return ordered_before(source[a], source[b]); });
  });
}

}  // namespace gasell
