// Columns that are rows of other columns and that nobody read yet.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/frame/rows.h"

namespace gasell::frame {

/// What a column keeps while nobody has read it.
struct PendingRows {
  Column source;
  RowsRef rows;  // of the source; null: `part` gives them
  /// Rows [begin, end) of `source`, which waits.
  std::function<Column(int64_t begin, int64_t end)> part = {};
};
using Gather = PendingRows;

/// What the column is made of, or null: it is there, or it is an expression.
std::shared_ptr<const Gather> gather_of(const Column& column);
/// The rows of each column that `over` gives of the rows that it has: made when somebody reads them, on the GPUs where the engine has some.
std::vector<Column> gather(Engine& engine, const std::vector<Column>& columns, const std::function<RowsRef(const RowsRef&)>& over);
/// The column as it was over those rows, which are among what its gather's rows are made of.
Column over_rows_below(Engine& engine, const Column& column, const RowsRef& below);
/// Of memory that waits: the gather whose values it will be, where its rows are a filter's; else null.
std::shared_ptr<const Gather> filtered_into(const StorageRef& memory);

}  // namespace gasell::frame
