// Work on the vectors along one axis of an array, which are its lanes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/primitives/budget_vector.h"
#include "runtime/primitives/scratch.h"

namespace gasell {

/// A shape around one axis: element (o, i, k) of [outer, extent, inner] is at (o * extent + i) * inner + k.
struct Lanes {
  int64_t outer = 1, extent = 1, inner = 1;
  Lanes(const graph::Shape& shape, int axis) {
    for (int k = 0; k < static_cast<int>(shape.size()); ++k)
      (k < axis ? outer : k == axis ? extent : inner) *= shape[static_cast<size_t>(k)];
  }
  int64_t count() const { return outer * inner; }
};

/// Makes the lanes of `to`, `extent` elements each, of those of `from`: work(lane, result, alone) sees both as they lie side by side in
/// memory. Many lanes are shared among the cores, `alone` then being true; few have all of them each, and so have long ones, whose work
/// takes memory that should not be taken several times.
template <class From, class To, class Work>
void map_lanes(Engine& engine, const From* from, const Lanes& lanes, To* to, int64_t extent, const Work& work) {
  constexpr int64_t kLong = 1 << 20;
  const bool many = lanes.count() >= 2 * threads_of(engine) && lanes.extent <= kLong;
  const auto over = [&](int64_t count, int64_t elements, const auto& part) {
    if (many) return over_rows(engine, count, part, std::max<int64_t>(1, kRowsATask / 4 / std::max<int64_t>(1, elements)));
    for (int64_t i = 0; i < count; ++i) {
      check_interrupt(engine);
      part(i, i + 1);
    }
  };
  if (lanes.inner == 1) {
    return over(lanes.outer, lanes.extent, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) work(from + o * lanes.extent, to + o * extent, many);
    });
  }
  // Neighbouring lanes go through memory of their own together, so that lines of the cache are read and written once.
  constexpr int64_t kMostTogether = 16, kElementsTogether = 1 << 22;
  if (lanes.count() == 0) return;
  const int64_t together =
      std::clamp<int64_t>(kElementsTogether / std::max<int64_t>(1, lanes.extent), 1, std::min(kMostTogether, lanes.inner));
  const int64_t blocks = (lanes.inner + together - 1) / together;
  over(lanes.outer * blocks, lanes.extent * together, [&](int64_t begin, int64_t end) {
    const BudgetAllocator<char> budget(engine);
    BudgetVector<char> in_memory(static_cast<size_t>(lanes.extent * together) * sizeof(From), budget);
    BudgetVector<char> out_memory(static_cast<size_t>(extent * together) * sizeof(To), budget);
    From* const in = reinterpret_cast<From*>(in_memory.data());
    To* const out = reinterpret_cast<To*>(out_memory.data());
    for (int64_t block = begin; block < end; ++block) {
      const int64_t o = block / blocks, first = block % blocks * together, width = std::min(together, lanes.inner - first);
      const From* const source = from + o * lanes.extent * lanes.inner + first;
      To* const target = to + o * extent * lanes.inner + first;
      for (int64_t i = 0; i < lanes.extent; ++i)
        for (int64_t k = 0; k < width; ++k) in[k * lanes.extent + i] = source[i * lanes.inner + k];
      for (int64_t k = 0; k < width; ++k) work(in + k * lanes.extent, out + k * extent, many);
      for (int64_t i = 0; i < extent; ++i)
        for (int64_t k = 0; k < width; ++k) target[i * lanes.inner + k] = out[k * extent + i];
    }
  });
}

}  // namespace gasell
