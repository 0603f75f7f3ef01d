// What needs all of a group's values at once: quantiles, and the number of different ones.
#pragma once

#include "runtime/frame/aggregate.h"

namespace gasell::frame {

/// The q-quantile (0 to 1) of each group's values. Throws TypeError for what has none.
Column quantiles(Engine& engine, const Groups& groups, const Column& column, double q, Interpolation interpolation);
/// How many different values each group has; with `skip_missing` false, what is missing counts as one.
Column distinct_values(Engine& engine, const Groups& groups, const Column& column, bool skip_missing);

}  // namespace gasell::frame
