#include "runtime/device/handout.h"

#include <algorithm>

namespace gasell {
namespace {

constexpr double kRangeSeconds = 2e-3;
// Below this the lock and the two clock readings of a range would show.
constexpr double kLeastSeconds = 20e-6;

}  // namespace

void UnitClock::record(int64_t units, double seconds) {
  last_ = units;
  const double now = seconds / static_cast<double>(units);
  seconds_per_unit_ = seconds_per_unit_ == 0 ? now : 0.5 * (seconds_per_unit_ + now);
}

int64_t UnitClock::units_in(double seconds) const {
  if (last_ == 0) return 1;
  const int64_t most = last_ < (int64_t{1} << 50) ? last_ * 8 : last_;
  return static_cast<int64_t>(std::clamp(seconds / std::max(seconds_per_unit_, 1e-12), 1.0, static_cast<double>(most)));
}

Handout::Handout(int64_t begin, int64_t end, int workers, int64_t largest)
    // At least four ranges a worker where there are so many units.
    : next_(begin), end_(end), workers_(workers), largest_(std::max<int64_t>(1, std::min(largest, (end - begin) / (4 * workers)))) {}

UnitRange Handout::take(const UnitClock& clock) {
  const int64_t wanted = clock.units_in(kRangeSeconds), least = clock.units_in(kLeastSeconds);
  const std::lock_guard lock(mutex_);
  const int64_t left = end_ - next_;
  if (left <= 0) return {};
  // Towards the end the ranges shrink, so that the workers finish together.
  const int64_t share = std::max(left / (2 * workers_), least);
  const UnitRange range{next_, next_ + std::clamp<int64_t>(std::min(wanted, share), 1, std::min(largest_, left))};
  next_ = range.end;
  return range;
}

void Handout::stop() {
  const std::lock_guard lock(mutex_);
  next_ = end_;
}

}  // namespace gasell
