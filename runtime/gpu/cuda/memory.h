// A GPU's memory: a stream-ordered pool of ours, or plain allocations where the driver has no pools.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/gpu/cuda/context.h"
#include "runtime/gpu/cuda/streams.h"

namespace gasell::cuda {

/// Memory is handed out on a stream that is given nothing else and so is idle: it can be used on all streams at once, and none waits for
/// another. It is freed on a second stream, behind the work that the others were given until then. The driver takes freed memory again as
/// soon as its stream has come there, and when nothing else is left waits for that by an order between the two streams. Some freed blocks
/// are kept from the driver: they are handed out again for the same size, once all that was given before they were freed is known to be
/// done. So a loop that frees its result and makes it again asks the driver for nothing.
///
/// Without pools, freed memory waits until all streams are idle, since the driver's plain free would wait for them.
class GpuMemory {
 public:
  /// No more than `limit` bytes are handed out at a time. The context must be current, here and in allocate() and free_bytes().
  GpuMemory(ContextRef context, Streams& streams, bool pools, int64_t limit);
  /// Gives everything back to the driver. All work must be done.
  ~GpuMemory();

  /// Throws Error("MemoryError", "Unable to allocate 7.45 GiB on gpu:0 (NVIDIA H200)").
  GpuAddress allocate(int64_t bytes);
  void free(GpuAddress address) noexcept;
  /// What allocate() can hand out: what the GPU has free and what was freed here, some of it when the work under way is done.
  int64_t free_bytes();
  bool pooled() const { return static_cast<bool>(pool_); }
  /// Lets GPU `ordinal` reach this memory over a link.
  void open_to(int ordinal);

 private:
  /// A block of freed memory that is not the driver's again, and how much each stream had been given when it was freed.
  struct Kept {
    DevicePointer address;
    int64_t bytes;
    std::array<uint64_t, kGpuStreams> given;
  };
  /// One of this size that no work uses any more; 0: there is none.
  DevicePointer take_kept(int64_t bytes);
  /// Keeps the block, in the place of the one that was kept longest where there are many; gives back what the driver shall have. The mutex
  /// is held.
  std::vector<DevicePointer> keep(const Kept& block);
  void give_back(DevicePointer address) noexcept;
  void give_back_kept() noexcept;
  Result allocate_from_pool(size_t bytes, DevicePointer& address);
  /// With bytes that show where a result was never written.
  void fill(DevicePointer address, size_t bytes);
  Result allocate_plain(size_t bytes, DevicePointer& address);
  /// Frees what waits, if all streams are idle.
  void collect();
  void synchronize_all();
  [[noreturn]] void short_of_memory(int64_t bytes);

  ContextRef context_;
  Streams& streams_;
  OwnedPool pool_;
  OwnedStream allocations_, frees_;
  OwnedEvent allocated_;
  const int64_t limit_;
  const bool poisons_;  // GASELL_GPU_POISON=1
  std::mutex mutex_;
  std::array<uint64_t, kGpuStreams> freed_behind_{};  // how much of each stream's work frees_ has waited for
  using Blocks = std::map<DevicePointer, int64_t>;    // their bytes
  Blocks live_, waiting_;                             // waiting, without pools: freed, not yet given back
  int64_t live_bytes_ = 0, waiting_bytes_ = 0;
  std::deque<Kept> kept_;  // those freed first in front
  int64_t kept_bytes_ = 0;
};

}  // namespace gasell::cuda
