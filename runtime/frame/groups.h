// Rows that have equal keys: group numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/frame/keys.h"
#include "runtime/frame/row_lists.h"

namespace gasell::frame {

enum class GroupOrder : uint8_t {
  sorted,      // by the keys, those that are missing last
  appearance,  // by the groups' first rows
  any,
};

/// Every row's group. Immutable; what is computed later is kept.
class Groups {
 public:
  Groups(Scratch<int32_t> ids, Scratch<int64_t> first_rows, int64_t count, bool all_rows);

  int64_t rows() const { return ids_.size(); }
  int64_t count() const { return count_; }
  /// One a row: in [0, count()), or -1: a key is missing, and such rows were dropped.
  const int32_t* ids() const { return ids_.data(); }
  /// The first row of each group.
  const int64_t* first_rows() const { return first_rows_.data(); }
  /// No row was dropped.
  bool has_all_rows() const { return all_rows_; }

  using Listing = RowLists<int64_t>;
  const Listing& listing(Engine& engine) const;

 private:
  Scratch<int32_t> ids_;
  Scratch<int64_t> first_rows_;
  int64_t count_;
  bool all_rows_;
  mutable std::once_flag listed_;
  mutable Listing listing_;
};
using GroupsRef = std::shared_ptr<const Groups>;

/// Groups of the rows of columns of equal length by their values: of a missing one those that are missing (dropped: none). NaN are missing.
/// Small ranges of numbers and codes are groups by a table, other keys by hashing: in a small table a thread where groups are few, else
/// divided into parts by their hashes.
GroupsRef group_rows(Engine& engine, const std::vector<Column>& keys, GroupOrder order = GroupOrder::sorted,
                     MissingKeys missing = MissingKeys::dropped);

/// Numbers for rows of several tables such that equal keys have equal ones: [0, bound), -1: dropped; of the tables one behind the other.
struct RowCodes {
  Scratch<int32_t> codes;
  int64_t bound = 0;
};
RowCodes number_rows(Engine& engine, RowKeys keys);

}  // namespace gasell::frame
