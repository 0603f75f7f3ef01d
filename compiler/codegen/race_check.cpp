#include "compiler/codegen/race_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace gasell {

void RaceChecker::end_process(const std::string& race) {
  std::fprintf(stderr, "gasell: internal error: %s\n", race.c_str());
  std::abort();
}

void RaceChecker::unit(int64_t number) {
  unit_epoch_ = ++epoch_;
  units_.emplace_back(epoch_, number);
}

void RaceChecker::barrier(ir::Space space, int64_t first, int64_t count) {
  if (space == ir::Space::block) {
    ++epoch_;
    return;
  }
  for (int64_t warp = first / kWarp; warp <= (first + count - 1) / kWarp; ++warp) ++warp_epochs_.at(static_cast<size_t>(warp));
}

RaceChecker::Element& RaceChecker::element(const AccessSite& site, int64_t index, int warp) {
  if (shadows_.size() <= static_cast<size_t>(site.number)) shadows_.resize(static_cast<size_t>(site.number) + 1);
  Shadow& shadow = shadows_[static_cast<size_t>(site.number)];
  int64_t page = index >> kPageBits;  // indices may be negative: a view's first element is anywhere in its memory
  // Every warp has its own of a warp's array.
  if (site.space == static_cast<int8_t>(ir::Space::warp)) page = page * kMostWarps + warp;
  if (!shadow.latest || page != shadow.latest_number) {
    std::unique_ptr<Page>& found = shadow.pages[page];
    if (!found) found = std::make_unique<Page>();
    shadow.latest = found.get();
    shadow.latest_number = page;
  }
  return (*shadow.latest)[static_cast<size_t>(index & (kPage - 1))];
}

bool RaceChecker::races(const Use& before, const Use& now) const {
  if (!before.site) return false;
  if (!is_of_this_unit(before)) return now.site->space == static_cast<int8_t>(ir::Space::automatic);
  if (before.epoch != now.epoch) return false;
  if (!before.is_of_one_warp() || !now.is_of_one_warp() || before.first_warp() != now.first_warp()) return true;
  if (before.warp_epoch != now.warp_epoch) return false;
  return before.first != now.first || before.count > 1 || now.count > 1;
}

/// What stays is such that a store which races with any of the loads so far races with one of the two.
void RaceChecker::keep_load(Element& element, const Use& now) const {
  Use &one = element.load, &other = element.other_load;
  const bool shared = now.site->space == static_cast<int8_t>(ir::Space::automatic);
  if (one.site && shared && !is_of_this_unit(one)) return;  // all stores to come are other units'
  if (!one.site || one.epoch != now.epoch) {
    one = now;
    other = {};
    return;
  }
  if (!one.is_of_one_warp() || (other.site && other.first_warp() != one.first_warp()))
    return;  // races with whatever is stored before a barrier
  if (!now.is_of_one_warp() || (now.first_warp() == one.first_warp() && (now.warp_epoch != one.warp_epoch || now.count > one.count))) {
    one = now;
    other = {};
  } else if (now.first_warp() != one.first_warp() || (one.count == 1 && now.first != one.first)) {
    other = now;
  }
}

void RaceChecker::access(const AccessSite& site, int64_t index, int64_t first, int64_t count) {
  Use now{&site, epoch_, 0, static_cast<uint16_t>(first), static_cast<uint16_t>(count)};
  if (now.is_of_one_warp()) now.warp_epoch = warp_epochs_.at(static_cast<size_t>(now.first_warp()));
  Element& at = element(site, index, now.first_warp());
  if (races(at.store, now)) report(at.store, now, index);
  if (!site.writes) return keep_load(at, now);
  if (count > 1) report(now, now, index);
  for (const Use* load : {&at.load, &at.other_load})
    if (races(*load, now)) report(*load, now, index);
  at = {now, {}, {}};
}

int64_t RaceChecker::unit_of(const Use& use) const {
  const auto after =
      std::upper_bound(units_.begin(), units_.end(), use.epoch, [](uint32_t epoch, const auto& unit) { return epoch < unit.first; });
  return after == units_.begin() ? 0 : std::prev(after)->second;
}

void RaceChecker::report(const Use& before, const Use& now, int64_t index) {
  if (!reported_.emplace(before.site->statement, now.site->statement).second) return;
  const AccessSite &a = *before.site, &b = *now.site;
  // Two threads that have no order, where many come into question.
  int one = before.first, other = now.first;
  const auto warp = [](int thread) { return thread / kWarp; };
  if (is_of_this_unit(before)) {
    const bool one_warp = before.is_of_one_warp() && now.is_of_one_warp() && before.first_warp() == now.first_warp();
    if (!one_warp && warp(one) == warp(other)) {
      if (now.count > 1 && now.last_warp() != warp(one))
        other = now.last_warp() * kWarp;
      else
        one = before.last_warp() * kWarp;
    }
    if (one == other) (now.count > 1 ? other : one) += 1;
  }
  const auto verb = [](const AccessSite& site) { return site.writes ? "writes" : "reads"; };
  const std::string place = fmt::format("kernel {} has a race: {}[{}]", a.kernel, a.array, index);
  if (!is_of_this_unit(before))
    return report_(fmt::format("{} is used by two units: thread {} of unit {} {} it in '{}', thread {} of unit {} {} it in '{}'", place,
                               one, unit_of(before), verb(a), a.statement, other, unit_of(now), verb(b), b.statement));
  if (&a == &b && before.count > 1 && now.count > 1 && b.writes)
    return report_(fmt::format("{} is written by {} threads of unit {} at once, in '{}'", place, now.count, unit_of(now), b.statement));
  report_(fmt::format("{} is used by two threads of unit {} with no barrier between: thread {} {} it in '{}', thread {} {} it in '{}'",
                      place, unit_of(now), one, verb(a), a.statement, other, verb(b), b.statement));
}

void race_unit(RaceChecker* checker, int64_t number) noexcept { checker->unit(number); }
void race_barrier(RaceChecker* checker, int32_t space, int64_t first, int64_t count) noexcept {
  checker->barrier(static_cast<ir::Space>(space), first, count);
}
void race_access(RaceChecker* checker, const AccessSite* site, int64_t index, int64_t first, int64_t count) noexcept {
  checker->access(*site, index, first, count);
}

}  // namespace gasell
