// Groups of rows that a filter may have chosen: made of all rows where most of them stayed, so that nothing is gathered for it.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/frame/aggregate.h"
#include "runtime/frame/rows.h"

namespace gasell::frame {

/// Immutable; what is computed later is kept.
class RowGroups {
 public:
  /// As group_rows().
  RowGroups(Engine& engine, const std::vector<Column>& keys, GroupOrder order, MissingKeys missing);
  int64_t count() const { return made_->count(); }
  /// The groups of the rows that the keys have.
  const Groups& groups(Engine& engine) const;
  /// The first row of each.
  Scratch<int64_t> first_rows(Engine& engine) const;
  /// frame::aggregate() of columns with the keys' rows.
  std::vector<Column> aggregate(Engine& engine, std::vector<AggregateRequest> requests) const;

 private:
  GroupsRef made_;  // of all rows where there is a filter: those that it left out are in no group
  RowsRef filter_;  // null: none
  mutable std::mutex mutex_;
  mutable GroupsRef chosen_;  // of the filter's rows, where somebody wanted them
};

}  // namespace gasell::frame
