#include "runtime/primitives/search.h"

#include <algorithm>

#include "runtime/primitives/order_keys.h"
#include "runtime/primitives/scratch.h"

namespace gasell {
namespace {

/// Halving without branches, which no processor foresees, for several values beside each other, so that their reads overlap.
template <class T, class GoesBefore>
void search_together(const T* sorted, int64_t size, const T* values, int64_t count, int64_t* places, const GoesBefore& goes_before) {
  constexpr int64_t kTogether = 16;
  int64_t i = 0;
  for (; i + kTogether <= count && size > 0; i += kTogether) {
    const T* base[kTogether];
    std::fill_n(base, kTogether, sorted);
    int64_t rest = size;
    for (; rest > 1; rest -= rest / 2)
      for (int64_t k = 0; k < kTogether; ++k) base[k] += goes_before(base[k][rest / 2 - 1], values[i + k]) ? rest / 2 : 0;
    for (int64_t k = 0; k < kTogether; ++k) places[i + k] = base[k] - sorted + goes_before(*base[k], values[i + k]);
  }
  for (; i < count; ++i)
    places[i] = std::partition_point(sorted, sorted + size, [&](const T& x) { return goes_before(x, values[i]); }) - sorted;
}

}  // namespace

void search_sorted(Engine& engine, DType dtype, const void* sorted, int64_t size, const void* values, int64_t count, bool right,
                   int64_t* places) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const T *from = static_cast<const T*>(sorted), *wanted = static_cast<const T*>(values);
    over_rows(
        engine, count,
        [&](int64_t begin, int64_t end) {
          const auto part = [&](const auto& goes_before) {
            search_together(from, size, wanted + begin, end - begin, places + begin, goes_before);
          };
          if (right)
            part([](const T& x, const T& value) { return !ordered_before(value, x); });
          else
            part([](const T& x, const T& value) { return ordered_before(x, value); });
        },
        1 << 14);
  });
}

}  // namespace gasell
