#include "runtime/gpu/shares.h"

#include <algorithm>

namespace gasell {
namespace {

// Units move only where they are done in this part of the time that their owner needs to come to them.
constexpr double kWorth = 0.7;

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Shares::Shares(const std::vector<UnitRange>& shares, int64_t together) : together_(together) {
  for (const UnitRange& units : shares) shares_.push_back({units, 0, 0, 0, {}});
}

double Shares::pace(const Share& share, Clock::time_point now) {
  const double known = share.done > 0 ? share.seconds / static_cast<double>(share.done) : 0;
  if (share.under_way == 0) return known;
  return std::max(known, seconds_between(share.since, now) / static_cast<double>(share.under_way));
}

double Shares::remaining(const Share& share, Clock::time_point now) {
  if (share.under_way == 0) return 0;
  return std::max(0.0, pace(share, now) * static_cast<double>(share.under_way) - seconds_between(share.since, now));
}

void Shares::end_piece(Share& share, Clock::time_point now) {
  if (share.under_way == 0) return;
  share.done += share.under_way;
  share.seconds += seconds_between(share.since, now);
  share.under_way = 0;
}

void Shares::begin_piece(Share& share, int64_t units, Clock::time_point now) {
  share.under_way = units;
  share.since = now;
}

UnitRange Shares::take(size_t share, int64_t blocks) {
  const std::lock_guard lock(mutex_);
  Share& own = shares_[share];
  const auto now = Clock::now();
  end_piece(own, now);
  const UnitRange units{own.left.begin, std::min(own.left.begin + blocks * together_, own.left.end)};
  if (units.empty()) return {};
  own.left.begin = units.end;
  begin_piece(own, units.size(), now);
  return units;
}

void Shares::finish(size_t share) {
  const std::lock_guard lock(mutex_);
  end_piece(shares_[share], Clock::now());
}

Shares::Loot Shares::steal(size_t thief, int64_t blocks, const Moving& moving) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  Share& own = shares_[thief];
  end_piece(own, now);
  const double own_pace = pace(own, now);
  Loot best;
  double longest = 0;
  for (size_t owner = 0; owner < shares_.size(); ++owner) {
    const Share& share = shares_[owner];
    if (owner == thief || share.left.empty()) continue;
    const double under_way = remaining(share, now);
    const double until_done = under_way + pace(share, now) * static_cast<double>(share.left.size());
    if (until_done <= longest) continue;
    // At most half of what is left, from a border of blocks on.
    const int64_t left = (share.left.size() + together_ - 1) / together_;
    const int64_t count = std::clamp<int64_t>((left + 1) / 2, 1, std::max<int64_t>(1, blocks));
    const UnitRange units{share.left.begin + (left - count) * together_, share.left.end};
    const std::optional<double> cost = moving(owner, units, under_way);
    if (!cost || *cost + own_pace * static_cast<double>(units.size()) > kWorth * until_done) continue;
    longest = until_done;
    best = {owner, units};
  }
  if (best.units.empty()) return {};
  shares_[best.owner].left.end = best.units.begin;
  begin_piece(own, best.units.size(), now);
  return best;
}

void Shares::stop() {
  const std::lock_guard lock(mutex_);
  for (Share& share : shares_) share.left.end = share.left.begin;
}

double Shares::expected(size_t share, int64_t units) const {
  const std::lock_guard lock(mutex_);
  const Share& own = shares_[share];
  return own.done > 0 ? own.seconds / static_cast<double>(own.done) * static_cast<double>(units) : 0;
}

}  // namespace gasell
