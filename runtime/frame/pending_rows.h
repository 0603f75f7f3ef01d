// What a column that take_later() gave keeps while nobody has read it.
#pragma once

#include <functional>
#include <memory>

#include "runtime/frame/later_order.h"

namespace gasell::frame {

struct PendingRows {
  Column source;
  NodeRef rows;  // int64, in memory unless they come later
  bool may_miss;
  NodeRef mask;  // where the rows are those that it chose
  /// Where there are no `rows`: rows [begin, end) of `source`, which waits.
  std::function<Column(int64_t begin, int64_t end)> part = {};
  /// Where the rows are all of an order's: the column before it was ordered, of which `source` may be the source.
  LaterOrderRef order = {};
  std::shared_ptr<const Column> before = {};
};

/// Whether the column's rows are those of another one and were not made yet.
bool is_pending(const Column& column);

/// take_later() of rows that are all of an order's; they are not made now.
std::vector<Column> take_in_order(Engine& engine, const std::vector<Column>& columns, const LaterOrderRef& order);

}  // namespace gasell::frame
