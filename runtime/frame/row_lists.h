// The rows of each group, group by group.
#pragma once

#include <cstdint>

#include "runtime/primitives/scratch.h"

namespace gasell::frame {

/// Those of group g are rows[starts[g], starts[g + 1]), ascending.
template <class Start>
struct RowLists {
  Scratch<Start> starts;  // one a group, and the end
  Scratch<uint32_t> rows;
};

/// Of rows [0, count) by their groups, which are in [0, groups), or -1: not listed. Where the lists do not fit in memory the groups are
/// divided into ranges that do, each of which reads all of `ids`. Start: uint32_t or int64_t.
template <class Start>
RowLists<Start> list_rows(Engine& engine, const int32_t* ids, int64_t count, int64_t groups);

}  // namespace gasell::frame
