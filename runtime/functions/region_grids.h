// Parallel loops of one call of a compiled function on a GPU: its regions' grids over the memory that the function works on.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "compiler/functions/function.h"
#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/storage.h"

namespace gasell {
class GpuDevice;
}

namespace gasell::functions {

/// The grids of a function as the GPUs have loaded them, by region; made when first wanted.
using LoadedGrids = std::vector<LoadedKernelRef>;

/// Compiled code has addresses of the host's memory; here are the storages they lie in, whose newest bytes may be on a GPU. What the host's
/// code uses is announced (compiler/functions/host_accesses.h).
class RegionGrids {
 public:
  RegionGrids(GpuDevice& gpus, const Compiled& function, LoadedGrids& loaded) : gpus_(gpus), function_(function), loaded_(loaded) {}

  /// Memory for the function to allocate: nowhere until somebody writes it.
  HostStorageRef allocate(int64_t bytes);
  /// The function uses this storage. It lives until remove(), or as long as the call.
  void add(HostStorage& storage);
  void remove(const HostStorage& storage);

  /// Pieces of a reduction, a block of threads each.
  static int64_t pieces(int64_t iterations);

  /// What became of a region.
  struct Outcome {
    bool ran = false;                // false: it has no grid; its memory is at home, and the host shall run it
    std::array<int64_t, 4> error{};  // as a function's
    std::optional<Error> failure;    // of the GPU, or for want of memory
    bool interrupted = false;
  };
  /// `arrays`, `scalars`, `extents`: of the call of gasell_parallel. Throws nothing.
  Outcome run(size_t region, int64_t units, void* const* arrays, const int64_t* scalars, std::array<int64_t, 3> extents) noexcept;
  /// The host will read, or write, what lies at this address.
  std::optional<Error> bring_home(const void* address, bool writes) noexcept;

 private:
  void launch(size_t region, int64_t units, void* const* arrays, const int64_t* scalars, std::array<int64_t, 3> extents, Outcome& outcome);
  HostStorage* find(const void* address) const;

  GpuDevice& gpus_;
  const Compiled& function_;
  LoadedGrids& loaded_;
  mutable std::mutex mutex_;
  std::map<const char*, HostStorage*> storages_;  // by where they begin
};

}  // namespace gasell::functions
