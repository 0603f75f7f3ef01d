#include "gpu/fake_cuda/streams.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace fake_cuda {

void step(Stream stream) {
  if (stream->busy) return unlocked([] { std::this_thread::sleep_for(std::chrono::microseconds(20)); });  // another thread is at it
  auto work = std::move(stream->work.front());
  stream->work.pop_front();
  stream->busy = true;
  if (fake.sticky == Result::success) work();
  stream->busy = false;
}
bool idle(Stream stream) { return stream->work.empty() && !stream->busy; }
void run(Stream stream) {
  while (!idle(stream)) step(stream);
}
void run_until(Stream stream, const std::shared_ptr<bool>& reached) {
  while (!*reached && !idle(stream)) step(stream);
}
std::shared_ptr<bool> mark(Stream stream) {
  auto reached = std::make_shared<bool>(false);
  stream->work.push_back([reached] { *reached = true; });
  return reached;
}
void wait_for(Stream waiter, Stream stream, const std::shared_ptr<bool>& reached) {
  waiter->work.push_back([stream, reached] { run_until(stream, reached); });
}

namespace {

Result stream_create(Stream* stream, unsigned flags) {
  const Entry entry("cuStreamCreate");
  if (!entry) return entry.result();
  if (flags != kStreamNonBlocking) return Result::invalid_value;
  *stream = new StreamObject{current.back()->device, {}};
  fake.streams.insert(*stream);
  return Result::success;
}
Result stream_destroy(Stream stream) {
  const Entry entry("cuStreamDestroy");
  if (!entry) return entry.result();
  run(stream);
  std::erase(freeing(), stream);
  fake.streams.erase(stream);
  delete stream;
  return Result::success;
}
Result stream_synchronize(Stream stream) {
  const Entry entry("cuStreamSynchronize");
  if (!entry) return entry.result();
  run(stream);
  return fake.sticky;
}
Result stream_query(Stream stream) {
  const Entry entry("cuStreamQuery");
  if (!entry) return entry.result();
  if (idle(stream)) return Result::success;
  if (!stream->busy) step(stream);  // time passes
  return fake.sticky != Result::success ? fake.sticky : Result::not_ready;
}
Result stream_wait_event(Stream stream, Event event, unsigned) {
  const Entry entry("cuStreamWaitEvent");
  if (!entry) return entry.result();
  if (event->reached && !*event->reached) wait_for(stream, event->stream, event->reached);
  return Result::success;
}
Result event_create(Event* event, unsigned flags) {
  const Entry entry("cuEventCreate");
  if (!entry) return entry.result();
  if (flags != kEventDisableTiming && flags != kEventTimed) return Result::invalid_value;
  *event = new EventObject{current.back()->device, nullptr, nullptr, flags == kEventTimed, nullptr};
  fake.events.insert(*event);
  return Result::success;
}
Result event_destroy(Event event) {
  const Entry entry("cuEventDestroy");
  if (!entry) return entry.result();
  fake.events.erase(event);
  delete event;
  return Result::success;
}
Result event_record(Event event, Stream stream) {
  const Entry entry("cuEventRecord");
  if (!entry) return entry.result();
  if (event->device != stream->device) return static_cast<Result>(400);  // as the real one: they must be of one context
  event->stream = stream;
  if (event->timed) {
    event->when = std::make_shared<std::chrono::steady_clock::time_point>();
    stream->work.push_back([when = event->when] { *when = std::chrono::steady_clock::now(); });
  }
  event->reached = mark(stream);
  return Result::success;
}
Result event_elapsed_time(float* milliseconds, Event from, Event to) {
  const Entry entry("cuEventElapsedTime");
  if (!entry) return entry.result();
  if (!from->timed || !to->timed || !from->reached || !to->reached || from->device != to->device) return static_cast<Result>(400);
  if (!*from->reached || !*to->reached) return Result::not_ready;
  *milliseconds = std::chrono::duration<float, std::milli>(*to->when - *from->when).count();
  return Result::success;
}
Result event_synchronize(Event event) {
  const Entry entry("cuEventSynchronize");
  if (!entry) return entry.result();
  if (event->reached && !*event->reached) run_until(event->stream, event->reached);
  return fake.sticky;
}

}  // namespace

std::vector<Symbol> streams_entries() {
  return {
      symbol("cuStreamCreate", 2000, stream_create),           symbol("cuStreamDestroy", 4000, stream_destroy),
      symbol("cuStreamSynchronize", 2000, stream_synchronize), symbol("cuStreamQuery", 2000, stream_query),
      symbol("cuStreamWaitEvent", 3020, stream_wait_event),    symbol("cuEventCreate", 2000, event_create),
      symbol("cuEventDestroy", 4000, event_destroy),           symbol("cuEventRecord", 2000, event_record),
      symbol("cuEventSynchronize", 2000, event_synchronize),   symbol("cuEventElapsedTime", 2000, event_elapsed_time),
  };
}

}  // namespace fake_cuda
