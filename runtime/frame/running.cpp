#include "runtime/frame/running.h"

#include <algorithm>
#include <optional>

#include "runtime/frame/filling.h"
#include "runtime/frame/sums.h"

namespace gasell::frame {
namespace {

/// f(row, group) for the rows of each group in order; each thread has some of the groups.
template <class F>
void in_order(Engine& engine, const Groups& groups, bool forward, const F& f) {
  const int64_t rows = groups.rows(), count = groups.count();
  const int32_t* const ids = groups.ids();
  const int64_t ranges = rows < kRowsATask ? 1 : std::min<int64_t>(threads_of(engine), std::max<int64_t>(count, 1));
  in_parallel(ranges, [&](int64_t range) {
    const auto low = static_cast<int32_t>(count * range / ranges);
    const auto width = static_cast<uint32_t>(count * (range + 1) / ranges - low);
    for (int64_t k = 0; k < rows; ++k) {
      const int64_t row = forward ? k : rows - 1 - k;
      if (static_cast<uint32_t>(ids[row] - low) < width) f(row, ids[row]);
      if ((k & 0xfffff) == 0) check_interrupt(engine);
    }
  });
}

/// What a running aggregate accumulates in, and what it is shown as.
template <class V, Running kHow>
struct Accumulated {
  using T = typename V::Type;
  static constexpr bool kWide = kHow == Running::sum || kHow == Running::prod;
  using Out = std::conditional_t<V::kIsFloat || V::kIsTime || !kWide, T,
                                 std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>, uint64_t, int64_t>>;
};

template <Running kHow, class V>
Column run(Engine& engine, const Groups& groups, const Column& column, V values, bool skip_missing) {
  using T = typename V::Type;
  using Out = typename Accumulated<V, kHow>::Out;
  struct State {
    std::conditional_t<kHow == Running::sum && V::kIsFloat, CompensatedSum, Out> value;
    bool any, stopped;
  };
  const int64_t rows = groups.rows();
  const Scratch<State> states(engine, groups.count());
  fill(engine, states, State{});
  ColumnType type = column.type;
  if (!V::kIsTime) type.dtype = dtype_of<Out>();
  NewValues results(engine, type.dtype, rows), valid(engine, DType::boolean, rows);
  Out* const to = results.as<Out>();
  bool* const flags = valid.as<bool>();
  const auto put_missing = [&](int64_t row) {
    flags[row] = false;
    to[row] = Out{};
    if constexpr (V::kIsFloat) to[row] = std::numeric_limits<Out>::quiet_NaN();
    if constexpr (V::kIsTime) to[row] = kNotATime;
  };
  if (!groups.has_all_rows())
    over_rows(engine, rows, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (groups.ids()[i] < 0) put_missing(i);
    });
  std::atomic<bool> missing = !groups.has_all_rows();
  in_order(engine, groups, true, [&](int64_t row, int32_t group) {
    State& s = states[group];
    T v;
    const bool there = values.get(row, v);
    if (!there && !skip_missing) s.stopped = true;
    if (!there || s.stopped) {
      missing.store(true, std::memory_order_relaxed);
      return put_missing(row);
    }
    if constexpr (kHow == Running::sum && V::kIsFloat) {
      s.value.add(static_cast<double>(v));
      to[row] = static_cast<Out>(s.value.value());
    } else {
      if constexpr (kHow == Running::sum)
        s.value = static_cast<Out>(static_cast<uint64_t>(s.value) + static_cast<uint64_t>(v));
      else if constexpr (kHow == Running::prod)
        s.value = !s.any        ? static_cast<Out>(v)
                  : V::kIsFloat ? static_cast<Out>(s.value * static_cast<Out>(v))
                                : static_cast<Out>(static_cast<uint64_t>(s.value) * static_cast<uint64_t>(v));
      else if (!s.any || (kHow == Running::min ? v < s.value : v > s.value))
        s.value = v;
      to[row] = s.value;
    }
    s.any = true;
    flags[row] = true;
  });
  Column result{type, results.node()};
  const bool own = !type.nullable && (type.is_time() || is_float(type.dtype));
  if (!own && missing) result.validity = valid.node();
  return result;
}

Column rows_column(const NewValues& rows) { return number_column(rows.node()); }

}  // namespace

Column running(Engine& engine, const Groups& groups, Running how, const Column& column, bool skip_missing) {
  if (column.type.has_codes() ||
      (column.type.is_time() && column.type.logical != Logical::timedelta && how != Running::min && how != Running::max) ||
      (column.type.is_time() && how == Running::prod)) {
    static constexpr const char* kNames[] = {"cumsum", "cumprod", "cummin", "cummax"};
    throw Error("TypeError", (column.type.has_codes() ? "object" : "datetime64") + std::string(" type does not support ") +
                                 kNames[static_cast<int>(how)] + " operations");
  }
  Column source = column;
  const ColumnData data = read(engine, source);
  return visit_values(column.type, data, [&](auto values) {
    switch (how) {
      case Running::sum: return run<Running::sum>(engine, groups, column, values, skip_missing);
      case Running::prod: return run<Running::prod>(engine, groups, column, values, skip_missing);
      case Running::min: return run<Running::min>(engine, groups, column, values, skip_missing);
      default: return run<Running::max>(engine, groups, column, values, skip_missing);
    }
  });
}

Column running_count(Engine& engine, const Groups& groups, bool ascending) {
  NewValues result(engine, DType::i64, groups.rows());
  int64_t* const to = result.as<int64_t>();
  const Scratch<int64_t> counts(engine, groups.count());
  fill(engine, counts, int64_t{0});
  if (!groups.has_all_rows()) std::fill(to, to + groups.rows(), -1);
  in_order(engine, groups, ascending, [&](int64_t row, int32_t group) { to[row] = counts[group]++; });
  return rows_column(result);
}

Column shifted_rows(Engine& engine, const Groups& groups, int64_t periods) {
  const Groups::Listing& listing = groups.listing(engine);
  periods = std::clamp(periods, -groups.rows(), groups.rows());  // beyond all rows there is nothing
  NewValues result(engine, DType::i64, groups.rows());
  int64_t* const to = result.as<int64_t>();
  if (!groups.has_all_rows()) std::fill(to, to + groups.rows(), -1);
  over_rows(engine, groups.count(), [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) {
      const int64_t begin = listing.starts[g], end = listing.starts[g + 1];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t from = i - periods;
        to[listing.rows[i]] = from >= begin && from < end ? int64_t{listing.rows[from]} : -1;
      }
    }
  });
  return rows_column(result);
}

Column filling_rows(Engine& engine, const Groups& groups, const Column& missing, bool forward, int64_t limit) {
  Column source = missing;
  const ColumnData data = read(engine, source);
  const bool* const gone = data.as<bool>();
  struct State {
    int64_t row, away;
  };
  const Scratch<State> states(engine, groups.count());
  fill(engine, states, State{-1, 0});
  NewValues result(engine, DType::i64, groups.rows());
  int64_t* const to = result.as<int64_t>();
  if (!groups.has_all_rows()) std::fill(to, to + groups.rows(), -1);
  in_order(engine, groups, forward, [&](int64_t row, int32_t group) {
    State& s = states[group];
    if (!gone[row])
      s = {row, 0};
    else
      ++s.away;
    to[row] = limit >= 0 && s.away > limit ? -1 : s.row;
  });
  return rows_column(result);
}

}  // namespace gasell::frame
