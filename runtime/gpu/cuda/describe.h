// What GPUs there are, for `gasell doctor` and the like.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "runtime/gpu/cuda/driver.h"
#include "runtime/gpu/gpu.h"

namespace gasell::cuda {

/// Asks the driver alone: no context is made.
GpuProperties properties_of(const Driver& driver, int ordinal);

struct PeerLink {
  int ordinal = 0;       // of the other GPU
  bool reach = false;    // memory can be read and written directly
  bool atomics = false;  // so that it is NVLink, not PCIe
};

struct GpuDescription {
  GpuProperties properties;
  int64_t free_memory = -1;  // -1 when the GPU cannot be had
  std::string problem;       // why it cannot be had, with the remedy; empty when it can
  std::vector<PeerLink> links;
  /// What the libraries that were found answered when they were started on it, by GpuLibrary: 0 is well.
  std::array<int, 3> library_status{};
};

/// Starts on each GPU for a moment, to ask for its free memory (some 0.2 s each). `loaded` must be ready.
std::vector<GpuDescription> describe_gpus(const LoadedDriver& loaded);

/// "535.104.05", the version of the driver's release, from the kernel; empty when it is not shown.
std::string driver_release();

}  // namespace gasell::cuda
