#include <algorithm>

#include "lang/diagnostic.h"
#include "runtime/frame/filling.h"
#include "runtime/frame/window.h"

namespace gasell::frame {

Windows windows_by_count(Engine& engine, int64_t rows, int64_t size, bool center, Closed closed) {
  Windows result{Scratch<int64_t>(engine, rows), Scratch<int64_t>(engine, rows)};
  const int64_t ahead = center ? (size - 1) / 2 : 0;
  const int64_t earlier = closed == Closed::left || closed == Closed::both ? 1 : 0,
                shorter = closed == Closed::left || closed == Closed::neither ? 1 : 0;
  over_rows(engine, rows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t stop = i + 1 + ahead;
      result.begin[i] = std::clamp<int64_t>(stop - size - earlier, 0, rows);
      result.end[i] = std::clamp<int64_t>(stop - shorter, 0, rows);
    }
  });
  return result;
}

Windows windows_by_time(Engine& engine, const Column& times, int64_t size, bool center, Closed closed) {
  Column source = times;
  const ColumnData data = read(engine, source);
  const int64_t rows = data.count;
  const int64_t* const at = data.as<int64_t>();
  bool ascending = true, descending = true;
  for (int64_t i = 0; i < rows; ++i) {
    if (at[i] == kNotATime) throw Error("ValueError", "index values must not have NaT");
    if (i > 0) {
      ascending &= at[i] >= at[i - 1];
      descending &= at[i] <= at[i - 1];
    }
  }
  if (!ascending && !descending) throw Error("ValueError", "index must be monotonic", "sort the rows by their times");
  const int64_t sign = ascending ? 1 : -1;
  const auto time = [&](int64_t i) { return sign * at[i]; };
  Windows result{Scratch<int64_t>(engine, rows), Scratch<int64_t>(engine, rows)};
  const bool with_left = closed == Closed::left || closed == Closed::both, with_right = closed == Closed::right || closed == Closed::both;
  const int64_t back = center ? size / 2 : size;
  int64_t first = 0, last = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t bound = time(i) - back;
    while (first < i && (with_left ? time(first) < bound : time(first) <= bound)) ++first;
    result.begin[i] = first;
    if (center) {
      const int64_t until = time(i) + size / 2;
      while (last < rows && (with_right ? time(last) <= until : time(last) < until)) ++last;
    } else
      last = with_right ? i + 1 : i;
    result.end[i] = std::max(first, last);
  }
  return result;
}

Windows windows_from_start(Engine& engine, int64_t rows) {
  Windows result{Scratch<int64_t>(engine, rows), Scratch<int64_t>(engine, rows)};
  for (int64_t i = 0; i < rows; ++i) {
    result.begin[i] = 0;
    result.end[i] = i + 1;
  }
  return result;
}

}  // namespace gasell::frame
