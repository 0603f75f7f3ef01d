#include "runtime/primitives/divide.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/primitives/order_keys.h"
#include "runtime/primitives/scratch.h"
#include "runtime/primitives/sort.h"

namespace gasell {
namespace {

/// The kind of an element: 2k + 1 where it equals pivot k, 2k where it is before that and behind the others.
template <class T>
int64_t kind_of(const T& x, const T* pivots, int64_t pivot_count) {
  int64_t kind = 0;
  for (int64_t k = 0; k < pivot_count; ++k) {
    const bool behind = ordered_before(pivots[k], x);
    kind = behind ? 2 * k + 2 : kind;
    if (!behind) return kind + !ordered_before(x, pivots[k]);
  }
  return kind;
}

/// The same of one pivot that is a number, without branches; NaN is behind it.
template <class T>
int64_t kind_beside(T x, T pivot) {
  return 1 - static_cast<int64_t>(x < pivot) + static_cast<int64_t>(!(x <= pivot));
}

/// put(place, i): element i of `from` is the one at `place` of the divided vector.
template <class T, class Kind, class Put>
void divide_by(Engine& engine, const T* from, int64_t count, int64_t kinds, bool alone, const Kind& kind, const Put& put) {
  const int64_t parts = alone ? 1 : std::clamp<int64_t>(count / kRowsATask, 1, 4 * threads_of(engine));
  const auto begin_of = [&](int64_t part) { return count / parts * part + std::min(part, count % parts); };
  std::vector<int64_t> places(static_cast<size_t>(parts * kinds));
  const auto over_parts = [&](const auto& work) {
    const auto part_of = [&](int64_t part) {
      constexpr int64_t kBetweenChecks = 1 << 18;
      for (int64_t i = begin_of(part), end = begin_of(part + 1); i < end;) {
        check_interrupt(engine);
        const int64_t stop = std::min(end, i + kBetweenChecks);
        work(i, stop, &places[static_cast<size_t>(part * kinds)]);
        i = stop;
      }
    };
    if (parts == 1) return part_of(0);
    in_parallel(parts, part_of);
  };
  over_parts([&](int64_t begin, int64_t end, int64_t* counts) {
    for (int64_t i = begin; i < end; ++i) ++counts[kind(from[i])];
  });
  int64_t sum = 0;
  for (int64_t k = 0; k < kinds; ++k)
    for (int64_t part = 0; part < parts; ++part) {
      int64_t& place = places[static_cast<size_t>(part * kinds + k)];
      place = std::exchange(sum, sum + place);
    }
  over_parts([&](int64_t begin, int64_t end, int64_t* next) {
    for (int64_t i = begin; i < end; ++i) put(next[kind(from[i])]++, i);
  });
}

template <class T, class Put>
void divide_elements(Engine& engine, const T* from, int64_t count, const T* pivots, int64_t pivot_count, bool alone, const Put& put) {
  const int64_t kinds = 2 * pivot_count + 1;
  if constexpr (!std::is_class_v<T>) {
    if (pivot_count == 1 && pivots[0] == pivots[0])
      return divide_by(engine, from, count, kinds, alone, [pivot = pivots[0]](T x) { return kind_beside(x, pivot); }, put);
  }
  divide_by(engine, from, count, kinds, alone, [=](const T& x) { return kind_of(x, pivots, pivot_count); }, put);
}

}  // namespace

void select(Engine& engine, DType dtype, const void* from, int64_t count, std::span<const int64_t> places, bool alone, void* found) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const source = static_cast<const T*>(from);
    T* to = static_cast<T*>(found);
    if (!alone) {
      const Scratch<T> sorted(engine, count);
      sort(engine, dtype, from, sorted.data(), count);
      for (const int64_t place : places) *to++ = sorted[place];
      return;
    }
    const std::unique_ptr<T[]> copy(new T[static_cast<size_t>(count)]);
    std::copy_n(source, count, copy.get());
    int64_t begin = 0;
    for (const int64_t place : places) {
      std::nth_element(copy.get() + begin, copy.get() + place, copy.get() + count, ordered_before<T>);
      *to++ = copy[place];
      begin = place;
    }
  });
}

void divide(Engine& engine, DType dtype, const void* from, int64_t count, const void* pivots, int64_t pivot_count, bool alone, void* to) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const source = static_cast<const T*>(from);
    T* const target = static_cast<T*>(to);
    divide_elements(engine, source, count, static_cast<const T*>(pivots), pivot_count, alone,
                    [=](int64_t place, int64_t i) { target[place] = source[i]; });
  });
}

void divide_places(Engine& engine, DType dtype, const void* from, int64_t count, const void* pivots, int64_t pivot_count, bool alone,
                   int64_t* to) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    divide_elements(engine, static_cast<const T*>(from), count, static_cast<const T*>(pivots), pivot_count, alone,
                    [=](int64_t place, int64_t i) { to[place] = i; });
  });
}

}  // namespace gasell
