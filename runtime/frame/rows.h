// Which rows a column has: an expression over the rows of columns in memory. Nobody gathers before a column is read, and then the rules
// (rules.h) say what is made of the expression. Columns of one frame share their node, so that their rows are found once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "runtime/frame/keys.h"

namespace gasell::frame {

class Rows;
using RowsRef = std::shared_ptr<const Rows>;

/// All rows of columns that are there.
struct MemoryRows {};
/// The rows of `of` where the mask is true.
struct FilterRows {
  RowsRef of;
  NodeRef mask;     // boolean, one a row of `of`
  NodeRef numbers;  // int64, where it is true; may wait
};
/// The rows in the order of keys, int64, as GPUs find them; null: the host shall order them.
using OrderOnGpus = std::function<NodeRef(const std::vector<Column>& keys, const std::vector<KeyOrder>& order)>;
/// A stable order by keys. What is found of it is kept, guarded by `mutex` (run.cpp).
struct Order {
  std::vector<Column> keys;
  std::vector<KeyOrder> order;  // one a key
  OrderOnGpus on_gpus = {};     // where there may be some
  struct Found {
    std::recursive_mutex mutex;
    NodeRef rows;             // all rows in the order
    Scratch<uint32_t> first;  // the first of these
  };
  mutable Found found = {};

  int64_t size() const { return keys[0].size(); }
};
using OrderRef = std::shared_ptr<const Order>;
/// The rows of `of` in that order.
struct OrderRows {
  RowsRef of;
  OrderRef by;
};
/// The first rows of that; a rule makes it.
struct FirstRows {
  RowsRef of;
  OrderRef by;
};
/// The rows of `of` that have these numbers.
struct TakeRows {
  RowsRef of;
  NodeRef numbers;  // int64; may wait
  bool may_miss;    // numbers of -1 are rows that are missing
};
/// Rows first, first + step … of `of`.
struct SliceRows {
  RowsRef of;
  int64_t first, step;
};

/// Immutable; what is found of it is kept.
class Rows {
 public:
  using Kind = std::variant<MemoryRows, FilterRows, OrderRows, FirstRows, TakeRows, SliceRows>;
  Rows(int64_t count, Kind kind);

  int64_t count() const { return count_; }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&kind_);
  }
  bool is_memory() const { return as<MemoryRows>(); }
  /// What the rows are rows of; null for those in memory.
  const RowsRef& of() const;
  /// The number of nodes below.
  int depth() const { return depth_; }
  /// Whether some of them may be missing.
  bool may_miss() const { return may_miss_; }

  /// The rows of the memory, where they were found; guarded by `mutex` (run.cpp).
  struct Found {
    std::recursive_mutex mutex;
    NodeRef numbers;
  };
  Found& found() const { return found_; }

 private:
  int64_t count_;
  Kind kind_;
  int depth_ = 0;
  bool may_miss_ = false;
  mutable Found found_;
};

// Makers; equal nodes are one node while somebody holds it.
RowsRef memory_rows(int64_t count);
RowsRef filter_rows(const RowsRef& of, const NodeRef& mask, const NodeRef& numbers);
RowsRef ordered_rows(const RowsRef& of, const OrderRef& by);
RowsRef first_of_order(const RowsRef& of, const OrderRef& by, int64_t count);
RowsRef take_rows(const RowsRef& of, const NodeRef& numbers, bool may_miss);
RowsRef slice_rows(const RowsRef& of, int64_t first, int64_t count, int64_t step = 1);

/// A tree: a line a node, what it is of indented below it.
std::string to_text(const Rows& rows);

}  // namespace gasell::frame
