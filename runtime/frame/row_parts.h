// Columns some rows of which can be had before all of them are made.
#pragma once

#include <functional>

#include "runtime/frame/column.h"

namespace gasell::frame {

/// The column, whose values wait, with a way to its rows [begin, end) alone, which slice() goes where they are few.
Column with_row_parts(Column column, std::function<Column(int64_t begin, int64_t end)> part);

}  // namespace gasell::frame
