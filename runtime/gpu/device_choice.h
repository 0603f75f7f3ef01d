// Which devices an engine computes on: what --device and GASELL_DEVICE say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/gpu/gpu.h"

namespace gasell {

struct DeviceChoice {
  enum class Kind : uint8_t {
    automatic,  // the GPUs that there are, for what is worth it; else the host
    host,
    gpu,  // as chosen, for everything
    simulated,
  } kind = Kind::automatic;
  std::vector<int> ordinals;  // of "gpu:0,2" and "sim:4" (0 to 3); empty for "gpu": all
};

/// "auto", "cpu", "gpu", "gpu:0,2", "sim:4"; empty is "auto". Throws Error("ValueError", …).
DeviceChoice parse_device(const std::string& text);

/// Throws make_gpus' errors where NVIDIA's driver or one of the chosen GPUs is not there.
void require_gpus(const DeviceChoice& choice);

/// The chosen GPUs; none for the host, or where automatic choice finds none. Throws Error("RuntimeError", …) when a chosen one does not
/// exist or cannot be used. `cache`: whether and where compiled kernels are kept.
struct GpuCacheOptions {
  bool disk_cache = true;
  std::string directory;
};
std::vector<std::unique_ptr<Gpu>> make_gpus(const DeviceChoice& choice, const GpuCacheOptions& cache);

}  // namespace gasell
