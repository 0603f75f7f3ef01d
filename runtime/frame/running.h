// Values that depend on the rows before in the same group: running sums, moved rows, gaps filled.
#pragma once

#include "runtime/frame/groups.h"

namespace gasell::frame {

enum class Running : uint8_t { sum, prod, min, max };

/// The running aggregate of each row's group up to the row. What is missing stays so and is skipped, or (`skip_missing` false) makes what
/// follows missing. Sums and products of integers are 64 bits wide. Rows without a group are missing.
Column running(Engine& engine, const Groups& groups, Running how, const Column& column, bool skip_missing = true);

/// How many rows of its group stand before each row (behind, if not `ascending`); -1 for rows without a group.
Column running_count(Engine& engine, const Groups& groups, bool ascending = true);

/// The row `periods` before each row in its group, or -1: int64.
Column shifted_rows(Engine& engine, const Groups& groups, int64_t periods);

/// The last row before (forward) or the first behind each in its group, the row itself included, that is not missing in `missing`
/// (booleans), at most `limit` rows of its group away (-1: any number), or -1.
Column filling_rows(Engine& engine, const Groups& groups, const Column& missing, bool forward, int64_t limit);

}  // namespace gasell::frame
