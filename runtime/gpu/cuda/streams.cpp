#include "runtime/gpu/cuda/streams.h"

#include <algorithm>

namespace gasell::cuda {

Streams::Streams(ContextRef context) : context_(std::move(context)) {
  for (int s = 0; s < kGpuStreams; ++s) {
    streams_[s] = make_stream(context_);
    events_[s] = make_event(context_);
    work_events_[s] = make_event(context_);
  }
}

Result Streams::order(GpuStream stream, GpuStream other) noexcept {
  const uint64_t so_far = given(other);
  if (is_done(other, so_far)) return Result::success;
  {
    const std::lock_guard lock(mutex_);
    uint64_t& behind = ordered_behind_[index(stream)][index(other)];
    if (behind >= so_far) return Result::success;
    behind = so_far;
  }
  const Result result = order((*this)[stream], other);
  ordered(stream);
  return result;
}

// A wait takes the event as it is at the call, so that it can be recorded again at once.
Result Streams::order(Stream waiter, GpuStream other) noexcept {
  const std::lock_guard lock(mutex_);
  const Driver& driver = context_->driver();
  const Event event = events_[index(other)].get();
  if (const Result result = driver.event_record(event, (*this)[other]); result != Result::success) return result;
  return driver.stream_wait_event(waiter, event, 0);
}

void Streams::read_by(Streams& reader, GpuStream stream) {
  const std::lock_guard lock(mutex_);
  const std::pair both(&reader, stream);
  if (std::find(readers_.begin(), readers_.end(), both) == readers_.end()) readers_.push_back(both);
  ordered(GpuStream::compute);
}

Result Streams::settle() noexcept {
  std::vector<std::pair<Streams*, GpuStream>> readers;
  {
    const std::lock_guard lock(mutex_);
    readers.swap(readers_);
  }
  for (const auto& [reader, stream] : readers)
    if (const Result result = reader->order((*this)[GpuStream::compute], stream); result != Result::success) return result;
  if (!readers.empty()) ordered(GpuStream::compute);
  return Result::success;
}

Result Streams::order_behind_work(Stream waiter, GpuStream other) noexcept {
  const std::lock_guard lock(mutex_);
  const Driver& driver = context_->driver();
  const Event event = work_events_[index(other)].get();
  const uint64_t worked = worked_[index(other)].load(std::memory_order_acquire);
  if (worked != work_asked_[index(other)]) {
    if (const Result result = driver.event_record(event, (*this)[other]); result != Result::success) return result;
    work_asked_[index(other)] = worked;
  }
  return driver.stream_wait_event(waiter, event, 0);
}

}  // namespace gasell::cuda
