// The first rows of each group in an order of the rows, without ordering them and without numbering the groups in an order of theirs.
#pragma once

#include <optional>
#include <vector>

#include "runtime/frame/keys.h"

namespace gasell::frame {

struct FirstsOfGroups {
  std::vector<Column> keys;  // of the groups
  MissingKeys missing = MissingKeys::dropped;
  NodeRef mask = nullptr;            // boolean: the rows that count; null: all
  std::vector<Column> by;            // the order, equal rows as they stand; none: as the rows stand
  std::vector<KeyOrder> order = {};  // one a column of `by`
  int64_t count = 1;                 // at least 1: of each group
  bool last = false;                 // the last ones instead
  bool only_last_of_them = false;    // only the count-th of each group
};

/// Those rows, in the order; what group_rows() over ordered rows and a running count in each group give. Nothing where that is the better
/// way: groups have few rows, or what is kept of them does not fit in memory. Throws as order_rows() and group_rows().
std::optional<Scratch<uint32_t>> firsts_of_groups(Engine& engine, const FirstsOfGroups& wanted);

}  // namespace gasell::frame
