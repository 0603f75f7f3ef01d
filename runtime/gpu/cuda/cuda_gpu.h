// NVIDIA GPUs through the driver's own interface: no toolkit, no runtime library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/gpu/cuda/copies.h"
#include "runtime/gpu/cuda/driver.h"
#include "runtime/gpu/cuda/machine_code.h"
#include "runtime/gpu/gpu.h"

namespace gasell {

struct CudaOptions {
  /// Makes PTX of kernels for a compute capability; null: compile_ptx.
  std::function<std::optional<GpuCode>(const ir::Kernel& kernel, int capability)> compile;
  /// What `compile` makes depends on the kernel's text, the capability and this, so that machine code is found on disk without
  /// compiling. Empty: it is found by its PTX. Without `compile`: compile_ptx's own.
  std::string compiler;
  /// GPUs made from copies of one set of options share it.
  std::shared_ptr<cuda::MachineCodes> codes = std::make_shared<cuda::MachineCodes>();
  std::shared_ptr<const KernelCache> cache;  // null: machine code is not kept on disk
  /// False (or GASELL_GPU_POOLS=0): every allocation is the driver's own, which compute-sanitizer can watch.
  bool pools = true;
  cuda::StagingShape staging;              // what copies of pageable memory go through
  int64_t pinned_keep = int64_t{1} << 30;  // bytes of pinned memory that wait for reuse at most
  /// Blocks a launch at most, in times what the GPU holds at once.
  int waves = 16;
  /// Bytes of the GPU's memory that may be used; 0: all.
  int64_t memory = 0;
  const cuda::LoadedDriver* driver = nullptr;  // null: the process's
};

/// GPUs that the process's driver serves; 0 without one (cuda::process_driver().status says why).
int cuda_gpu_count();

/// One of them. Throws Error: RuntimeError when there is no driver to use, or the GPU cannot be had (exclusive use by another process);
/// ValueError for an ordinal that does not exist; MemoryError when nothing is left on it. Safe to call from any thread; threads that share
/// a stream order themselves what they give it.
std::unique_ptr<Gpu> make_cuda_gpu(int ordinal, CudaOptions options);

}  // namespace gasell
