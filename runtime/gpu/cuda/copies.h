// Copies between host and GPU. Pinned memory is copied by the GPU itself; other memory goes through pinned buffers, which host threads fill
// (or empty) while the GPU copies the buffer before.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/gpu/cuda/context.h"
#include "runtime/gpu/cuda/pinned.h"
#include "runtime/gpu/cuda/streams.h"

namespace gasell::cuda {

/// Pinned buffers used one after the other; each may be under way in a copy.
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

class HostCopies {
 public:
  /// Buffers of `buffer_bytes`, `buffers` of them each way.
  HostCopies(ContextRef context, Streams& streams, PinnedMemory& pinned, int buffers, int64_t buffer_bytes);

  /// As Gpu's copy_in and copy_out. The context must be current.
  void in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream);
  void out(void* to, GpuAddress from, int64_t bytes, GpuStream stream);

 private:
  int64_t piece(int64_t bytes) const;
  void enqueue_in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream);
  void enqueue_out(void* to, GpuAddress from, int64_t bytes, GpuStream stream);

  ContextRef context_;
  Streams& streams_;
  int64_t buffer_bytes_;
  std::mutex in_mutex_, out_mutex_;
  StagingRing small_in_, in_, out_;
  int out_buffers_;
};

/// memcpy by several threads where that is faster than by one: a core moves about 10 GB/s, a link 25 to 60.
void copy_bytes(void* to, const void* from, int64_t bytes);

}  // namespace gasell::cuda
