#include "runtime/frame/row_lists.h"

namespace gasell::frame {
namespace {

constexpr int64_t kBlock = 1024;

/// f(row) for the rows of groups [first, last), ascending. Reading all numbers is much cheaper than writing out of order.
template <class F>
void rows_of_range(Engine& engine, const int32_t* ids, int64_t count, int64_t first, int64_t last, const F& f) {
  const auto low = static_cast<int32_t>(first);
  const auto width = static_cast<uint32_t>(last - first);
  uint32_t found[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    if ((begin & 0xfffff) == 0) check_interrupt(engine);
    int64_t n = 0;
    for (int64_t i = begin, end = std::min(count, begin + kBlock); i < end; ++i) {
      found[n] = static_cast<uint32_t>(i);
      n += static_cast<uint32_t>(ids[i] - low) < width;
    }
    for (int64_t k = 0; k < n; ++k) f(found[k]);
  }
}

}  // namespace

template <class Start>
RowLists<Start> list_rows(Engine& engine, const int32_t* ids, int64_t count, int64_t groups) {
  const int64_t bytes = groups * static_cast<int64_t>(sizeof(Start)) + count * static_cast<int64_t>(sizeof(uint32_t));
  const int64_t at_a_time = count < kRowsATask ? 1 : threads_of(engine);
  const int64_t ranges = std::clamp<int64_t>(at_a_time * (bytes / random_room(engine) + 1), 1, std::max<int64_t>(1, groups));
  const auto over_ranges = [&](const auto& f) {
    in_parallel(ranges,
                [&](int64_t range) { rows_of_range(engine, ids, count, groups * range / ranges, groups * (range + 1) / ranges, f); });
  };
  RowLists<Start> lists{Scratch<Start>(engine, groups + 1), {}};
  // Counted two places further on, so that each group's place, which filling moves to its end, becomes the next one's start.
  Start* const starts = lists.starts.data();
  fill(engine, lists.starts, Start{0});
  Start beyond = 0;  // of the last group: there is no second place behind it
  over_ranges([&](uint32_t row) {
    const int64_t group = ids[row];
    ++(group + 1 < groups ? starts[group + 2] : beyond);
  });
  for (int64_t g = 2; g <= groups; ++g) starts[g] += starts[g - 1];
  lists.rows = Scratch<uint32_t>(engine, groups > 0 ? static_cast<int64_t>(starts[groups] + beyond) : 0);
  over_ranges([&](uint32_t row) { lists.rows[static_cast<int64_t>(starts[int64_t{ids[row]} + 1]++)] = row; });
  return lists;
}

template RowLists<uint32_t> list_rows(Engine&, const int32_t*, int64_t, int64_t);
template RowLists<int64_t> list_rows(Engine&, const int32_t*, int64_t, int64_t);

}  // namespace gasell::frame
