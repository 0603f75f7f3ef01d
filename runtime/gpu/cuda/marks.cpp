#include "runtime/gpu/cuda/marks.h"

#include <chrono>

namespace gasell::cuda {
namespace {

// Milliseconds as a float, as the driver gives them, still have half a microsecond then.
constexpr double kSecondsAnOrigin = 5;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

OwnedEvent Marks::take_event() {
  if (spare_.empty()) return make_timed_event(context_);
  OwnedEvent event = std::move(spare_.back());
  spare_.pop_back();
  return event;
}

void Marks::begin_origin() {
  if (!idle_) idle_ = make_stream(context_);
  if (!origins_.empty() && origins_.rbegin()->second.used == 0) {
    spare_.push_back(std::move(origins_.rbegin()->second.event));
    origins_.erase(std::prev(origins_.end()));
  }
  Origin origin{take_event()};
  const Driver& driver = context_->driver();
  context_->check(driver.event_record(origin.event.get(), idle_.get()), "reading its clock");
  context_->check(driver.event_synchronize(origin.event.get()), "reading its clock");
  origin.time = now();
  origins_.emplace(++next_, std::move(origin));
}

int64_t Marks::set(GpuStream stream) {
  const std::lock_guard lock(mutex_);
  if (origins_.empty() || now() - origins_.rbegin()->second.time > kSecondsAnOrigin) begin_origin();
  auto& [number, origin] = *origins_.rbegin();
  Mark mark{take_event(), number};
  context_->check(context_->driver().event_record(mark.event.get(), streams_[stream]), "reading its clock");
  ++origin.used;
  marks_.emplace(++next_, std::move(mark));
  return next_;
}

double Marks::time_of(int64_t mark) {
  const std::lock_guard lock(mutex_);
  const auto found = marks_.find(mark);
  const auto origin = origins_.find(found->second.origin);
  float milliseconds = 0;
  context_->check(context_->driver().event_elapsed_time(&milliseconds, origin->second.event.get(), found->second.event.get()),
                  "reading its clock");
  const double time = origin->second.time + 1e-3 * static_cast<double>(milliseconds);
  spare_.push_back(std::move(found->second.event));
  marks_.erase(found);
  if (--origin->second.used == 0 && std::next(origin) != origins_.end()) {
    spare_.push_back(std::move(origin->second.event));
    origins_.erase(origin);
  }
  return time;
}

}  // namespace gasell::cuda
