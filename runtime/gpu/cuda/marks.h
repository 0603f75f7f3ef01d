// When streams came to points in them, by the GPU's clock.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/gpu/cuda/context.h"
#include "runtime/gpu/cuda/streams.h"

namespace gasell::cuda {

/// Timed events, used again once their time was asked for. Their distances are known to half a microsecond; where they lie in the host's
/// time is measured anew every few seconds, on an idle stream, since the two clocks part. Thread-safe.
class Marks {
 public:
  Marks(ContextRef context, const Streams& streams) : context_(std::move(context)), streams_(streams) {}

  /// A point behind what the stream was given so far. Here and in time_of() the context must be current.
  int64_t set(GpuStream stream);
  /// In seconds of std::chrono::steady_clock, once for each; the stream must have come there.
  double time_of(int64_t mark);

 private:
  /// A point on the idle stream whose time the host knows.
  struct Origin {
    OwnedEvent event;
    double time = 0;
    int64_t used = 0;  // by so many marks
  };
  struct Mark {
    OwnedEvent event;
    int64_t origin;
  };
  OwnedEvent take_event();
  void begin_origin();

  ContextRef context_;
  const Streams& streams_;
  std::mutex mutex_;
  OwnedStream idle_;
  std::map<int64_t, Origin> origins_;  // the last is the one for new marks
  std::map<int64_t, Mark> marks_;
  std::vector<OwnedEvent> spare_;
  int64_t next_ = 0;
};

}  // namespace gasell::cuda
