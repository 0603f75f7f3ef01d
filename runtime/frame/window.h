// Statistics over windows of rows, in one pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/frame/column.h"
#include "runtime/frame/quantiles.h"
#include "runtime/primitives/scratch.h"

namespace gasell::frame {

/// Window i is the rows [begin[i], end[i]).
struct Windows {
  Scratch<int64_t> begin, end;
};
/// Which ends of a window belong to it: pandas' closed=.
enum class Closed : uint8_t { right, left, both, neither };
/// `size` rows up to each row (centered: around it).
Windows windows_by_count(Engine& engine, int64_t rows, int64_t size, bool center, Closed closed);
/// The rows less than `size` before each row's time (centered: half of it to both sides). `times` ascend or descend, or ValueError is
/// thrown.
Windows windows_by_time(Engine& engine, const Column& times, int64_t size, bool center, Closed closed);
/// All rows up to each row.
Windows windows_from_start(Engine& engine, int64_t rows);

enum class WindowStatistic : uint8_t { sum, mean, var, std, sem, min, max, count, median, quantile, skew, kurt };
struct WindowOptions {
  int64_t min_periods = 1;  // fewer values make the result missing
  int64_t ddof = 1;
  double quantile = 0.5;
  Interpolation interpolation = Interpolation::linear;
};
/// float64; sem is pandas' std / sqrt(count - ddof). Missing and infinite values are skipped. Sums and variances are updated with
/// compensation as windows move.
Column window_statistic(Engine& engine, const Column& column, const Windows& windows, WindowStatistic what, const WindowOptions& options);

/// The rank of each window's last value among the values of the window, float64.
enum class TiedRank : uint8_t { average, min, max };
Column window_rank(Engine& engine, const Column& column, const Windows& windows, TiedRank ties, bool ascending, bool of_one,
                   int64_t min_periods);

/// Exponentially weighted moments with decay `alpha`.
struct DecayOptions {
  double alpha = 0.5;
  bool adjust = true, ignore_missing = false, bias = false;
  int64_t min_periods = 0;
  /// How many times each row's weight has decayed since the row before it (none: once).
  std::optional<Column> apart = {};
};
enum class DecayStatistic : uint8_t { mean, var, std, sum };
Column decayed(Engine& engine, const Column& column, DecayStatistic what, const DecayOptions& options);
/// The covariance of two columns, over the rows that both have.
Column decayed_covariance(Engine& engine, const Column& a, const Column& b, const DecayOptions& options);

}  // namespace gasell::frame
