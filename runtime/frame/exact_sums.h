// Sums of integers a group, of several columns in one pass. They are exact, so the rows may be divided among threads in any way, and each
// thread needs one table: a group's sums stand side by side in it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/frame/groups.h"

namespace gasell::frame {

__extension__ typedef __int128 WideInteger;

struct ExactSums {
  Scratch<int64_t> counts;    // rows of each group
  Scratch<WideInteger> sums;  // a row of them a group
  int64_t columns = 0;
  WideInteger sum(int64_t group, int64_t column) const { return sums[group * columns + column]; }
};

/// Whether a column can be one of those: integers that fit in int64, none of them missing.
bool has_exact_sums(const Column& column);

/// Of columns that have them. Those that are not computed yet, and are element by element what others are, are computed a stretch of rows
/// at a time and not kept. Nothing where a thread's table would outgrow its cache.
std::optional<ExactSums> exact_sums(Engine& engine, const Groups& groups, const std::vector<Column>& columns);

}  // namespace gasell::frame
