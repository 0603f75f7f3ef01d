// One value a group from a column's rows.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/frame/groups.h"

namespace gasell::frame {

enum class Aggregate : uint8_t {
  size,
  count,
  sum,
  prod,
  mean,
  min,
  max,
  first,
  last,
  var,
  std,
  sem,
  skew,
  any,
  all,
  idxmin,
  idxmax,  // row numbers, int64; missing where nothing is there
  median,
  quantile,
  nunique,
};
enum class Interpolation : uint8_t { linear, lower, higher, nearest, midpoint };

struct AggregateRequest {
  Aggregate how;
  Column column;          // size looks at its length alone
  int64_t min_count = 0;  // fewer values than this make the result missing
  int64_t ddof = 1;       // var std sem
  double quantile = 0.5;
  Interpolation interpolation = Interpolation::linear;
  bool skip_missing = true;  // any all nunique: false: what is missing counts (nunique: as one value; any and all: as true)
};

/// Columns of groups.count() rows, in pandas' types: sums of integers have their type where they fit, else 64
/// bits, means float64 (of float32 float32), of times times;
/// from nullable columns come nullable ones. What is missing is skipped. All in one pass over the rows where that is possible; floats are
/// summed with compensation, variances by Welford's method. The same bits whatever the number of threads. Throws TypeError where pandas
/// does.
std::vector<Column> aggregate(Engine& engine, const Groups& groups, const std::vector<AggregateRequest>& requests);

/// pandas' name of an aggregate.
std::string_view name_of(Aggregate how);

}  // namespace gasell::frame
