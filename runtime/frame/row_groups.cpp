#include "runtime/frame/row_groups.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/frame/rules.h"
#include "runtime/frame/run.h"

namespace gasell::frame {

RowGroups::RowGroups(Engine& engine, const std::vector<Column>& keys, GroupOrder order, MissingKeys missing) {
  const int64_t stayed = keys[0].size();
  Input all{keys};
  // Rows that the mask leaves out have no key, which says that they are in no group only where missing keys are dropped.
  if (missing != MissingKeys::dropped || place_of_gathers(engine) == Place::gpus ||
      !apply(engine, filter_into_operator(), all, [&](const Input& made) { return made.mask->size() < 2 * stayed; })) {
    made_ = group_rows(engine, keys, order, missing);
    return;
  }
  NodeRef& validity = all.columns[0].validity;
  validity = validity ? graph::map(ScalarOp::logical_and, {validity, all.mask}) : all.mask;
  made_ = group_rows(engine, all.columns, order, missing);
  filter_ = all.filter;
}

Scratch<int64_t> RowGroups::first_rows(Engine& engine) const {
  Scratch<int64_t> first(engine, count());
  std::copy_n(made_->first_rows(), count(), first.data());
  if (!filter_) return first;
  const ColumnData numbers = read(engine, number_column(numbers_of(engine, filter_)));
  const auto* const begin = numbers.as<int64_t>();
  over_rows(engine, count(), [&](int64_t low, int64_t high) {
    for (int64_t g = low; g < high; ++g) first[g] = std::lower_bound(begin, begin + numbers.count, first[g]) - begin;
  });
  return first;
}

const Groups& RowGroups::groups(Engine& engine) const {
  if (!filter_) return *made_;
  const std::lock_guard lock(mutex_);
  if (chosen_) return *chosen_;
  const ColumnData numbers = read(engine, number_column(numbers_of(engine, filter_)));
  Scratch<int32_t> ids(engine, numbers.count);
  std::atomic<bool> all_rows = true;
  over_rows(engine, numbers.count, [&](int64_t begin, int64_t end) {
    bool dropped = false;
    for (int64_t i = begin; i < end; ++i) {
      ids[i] = made_->ids()[numbers.as<int64_t>()[i]];
      dropped |= ids[i] < 0;
    }
    if (dropped) all_rows = false;
  });
  chosen_ = std::make_shared<Groups>(std::move(ids), first_rows(engine), count(), all_rows);
  return *chosen_;
}

std::vector<Column> RowGroups::aggregate(Engine& engine, std::vector<AggregateRequest> requests) const {
  if (!filter_) return frame::aggregate(engine, *made_, requests);
  // Places of extremes are numbers of the rows that were chosen.
  const bool has_places =
      std::any_of(requests.begin(), requests.end(), [](const auto& r) { return r.how == Aggregate::idxmin || r.how == Aggregate::idxmax; });
  Input all;
  for (const AggregateRequest& r : requests) all.columns.push_back(r.column);
  if (has_places || !apply(engine, filter_into_operator(), all, [&](const Input& made) { return made.filter == filter_; }))
    return frame::aggregate(engine, groups(engine), requests);
  for (size_t k = 0; k < requests.size(); ++k) requests[k].column = all.columns[k];
  return frame::aggregate(engine, *made_, requests);
}

}  // namespace gasell::frame
