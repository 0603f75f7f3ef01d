// The memory of one simulated GPU: the host's, under addresses that fault when the host follows them, with guards around every allocation.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "runtime/gpu/gpu.h"

namespace gasell {

/// How many operations each stream has run, or was given.
using StreamCounts = std::array<int64_t, kGpuStreams>;

/// Ends the process with a message where the GPU's memory is misused. Not thread-safe.
class SimulatedMemory {
 public:
  /// `bytes` in all, of the GPU with this ordinal.
  SimulatedMemory(int ordinal, int64_t bytes) : ordinal_(ordinal), bytes_(bytes) {}
  /// Everything must have been freed.
  ~SimulatedMemory();

  int64_t free_bytes() const { return bytes_ - used_; }
  bool fits(int64_t bytes) const;
  /// Memory that holds a pattern. Throws MemoryError when it does not fit, or when `none` says so.
  GpuAddress allocate(int64_t bytes, bool none);
  /// It stays until the streams have run so many operations.
  void free(GpuAddress address, const StreamCounts& until) noexcept;
  /// Gives back what was freed and is not used any more when the streams `ran` so many; all that was freed when `all`.
  void release(const StreamCounts& ran, bool all);
  /// Whether the address lies in a living allocation.
  bool has(GpuAddress address) const;
  /// The host's address of bytes within one living allocation.
  char* at(GpuAddress address, int64_t bytes) const;
  /// The same of an address that need not lie in any.
  static char* pointer(GpuAddress address);

 private:
  struct Block {
    int64_t bytes, size;
    bool freed = false;
    StreamCounts until{};
  };

  const int ordinal_;
  const int64_t bytes_;
  int64_t used_ = 0;
  std::map<GpuAddress, Block> blocks_;
};

/// Says what is wrong and ends the process.
[[noreturn]] void simulation_broken(const char* what);

}  // namespace gasell
