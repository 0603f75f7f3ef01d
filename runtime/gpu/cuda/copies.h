// Copies between host and GPU. Pinned memory is copied by the GPU itself; other memory goes through pinned buffers: each of several host
// threads has a few of its own, and fills (or empties) one while the GPU copies another. Buffers small enough to stay in the processor's
// caches spare the memory two thirds of the traffic.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/device/workers.h"
#include "runtime/gpu/cuda/context.h"
#include "runtime/gpu/cuda/pinned.h"
#include "runtime/gpu/cuda/streams.h"

namespace gasell::cuda {

/// Pinned buffers that one thread at a time uses one after the other; each may be under way in a copy.
class StagingRing {
 public:
  StagingRing(ContextRef context, PinnedMemory& pinned, int buffers) : context_(std::move(context)), pinned_(pinned), buffers_(buffers) {}
  /// Waits for the copies under way.
  ~StagingRing();

  struct Buffer {
    std::shared_ptr<void> memory;
    int64_t capacity = 0;
    OwnedEvent done;
    bool under_way = false;
  };
  /// The next buffer, with room for `bytes` and no copy under way (waits for that). Null when there is no pinned memory to have.
  Buffer* next(int64_t bytes);
  /// The copy that `stream` was given last uses the buffer.
  void under_way(Buffer& buffer, Stream stream);
  void wait(Buffer& buffer);

 private:
  ContextRef context_;
  PinnedMemory& pinned_;
  std::vector<Buffer> buffers_;
  size_t position_ = 0;
};

struct StagingShape {
  int threads = 0;          // that fill or empty buffers, each way; 0: by the cores there are for each GPU
  int buffers = 2;          // of each thread
  int64_t bytes = 2 << 20;  // of each buffer
};

class HostCopies {
 public:
  HostCopies(ContextRef context, Streams& streams, PinnedMemory& pinned, StagingShape shape);

  /// As Gpu's copy_in and copy_out. The context must be current.
  void in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream);
  void out(void* to, GpuAddress from, int64_t bytes, GpuStream stream);

 private:
  /// A part of a copy that goes through one buffer.
  struct Piece {
    int64_t begin, bytes;
  };
  using NextPiece = std::function<std::optional<Piece>()>;
  /// The threads of one way, each with its buffers.
  struct Lanes {
    Lanes(const ContextRef& context, PinnedMemory& pinned, const StagingShape& shape);
    std::mutex mutex;  // one copy at a time
    std::deque<StagingRing> rings;
    Workers workers;
  };
  /// work(a thread's buffers, the pieces that are left) on as many threads as the copy has pieces for.
  void share(Lanes& lanes, int64_t bytes, const std::function<void(StagingRing&, const NextPiece&)>& work);
  void stage_in(StagingRing& ring, int64_t capacity, GpuAddress to, const char* from, int64_t bytes, GpuStream stream);
  void enqueue_in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream);
  void enqueue_out(void* to, GpuAddress from, int64_t bytes, GpuStream stream);

  ContextRef context_;
  Streams& streams_;
  const StagingShape shape_;
  Lanes in_, out_;
  StagingRing small_in_;  // with in_'s mutex
};

}  // namespace gasell::cuda
