// Orders of rows that nobody wanted yet: what asks only for the first rows, or for a few of each group, need not order all of them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/frame/keys.h"

namespace gasell::frame {

/// A stable order of rows by keys.
struct LaterOrder {
  std::vector<Column> keys;
  std::vector<KeyOrder> order;
  NodeRef rows;  // int64: all rows in that order, made when somebody reads them

  /// The first rows of the order, at least `count`; those found are kept, since each column asks for the same.
  const Scratch<uint32_t>& first(Engine& engine, int64_t count) const;

 private:
  mutable std::mutex mutex_;
  mutable Scratch<uint32_t> first_;
};
using LaterOrderRef = std::shared_ptr<const LaterOrder>;

/// The columns in the order of the keys, equal rows as they stand, when somebody reads them. Throws NotImplementedError for complex keys.
/// Not where the engine has GPUs: rows come from the host.
std::vector<Column> sort_later(Engine& engine, const std::vector<Column>& columns, const std::vector<Column>& keys,
                               const std::vector<KeyOrder>& order);

struct Unordered {
  std::vector<Column> columns;
  LaterOrderRef order;
};
/// Columns that came from one sort_later() and that nobody read yet: as they were before. Nothing where they are not.
std::optional<Unordered> before_order(const std::vector<Column>& columns);

}  // namespace gasell::frame
