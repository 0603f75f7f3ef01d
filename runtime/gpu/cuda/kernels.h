// Kernels: PTX from the compiler, machine code from the driver, kept on disk and in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "compiler/codegen/gpu.h"
#include "compiler/ir/ir.h"
#include "runtime/device/device.h"
#include "runtime/gpu/cuda/context.h"
#include "runtime/gpu/cuda/machine_code.h"

namespace gasell::cuda {

/// A kernel on one GPU.
class CudaKernel final : public LoadedKernel {
 public:
  OwnedModule module;
  Function function = nullptr;
  int threads = 0;            // a block
  unsigned shared_bytes = 0;  // dynamic, a block
  int blocks_at_once = 0;     // that all multiprocessors hold together
  size_t arrays = 0;          // array parameters
};

/// compile_ptx, or a test's.
using PtxCompiler = std::function<std::optional<GpuCode>(const ir::Kernel& kernel, int capability)>;

class Kernels {
 public:
  /// `compiler` names what `compile` is, so that machine code is found by the kernel's text without compiling; empty: it is found by its
  /// PTX. `cache` may be null.
  Kernels(ContextRef context, PtxCompiler compile, std::string compiler, std::shared_ptr<MachineCodes> codes,
          std::shared_ptr<const KernelCache> cache, int driver_version);

  /// Null when `compile` makes nothing of the kernel. The context must be current. Throws what `compile` throws; SystemError when the
  /// driver refuses the kernel, with what it said.
  LoadedKernelRef load(const ir::Kernel& kernel);
  /// Lets blocks of the kernel have so much shared memory, which the GPU must have. The context must be current.
  void allow_shared(const CudaKernel& kernel, int64_t bytes);

 private:
  LoadedKernelRef make(const ir::Kernel& kernel, const std::string& text);
  std::shared_ptr<CudaKernel> load_code(const MachineCode& code);
  /// Throws Error("SystemError", …) with the driver's words when it does not take the PTX.
  std::string link(const std::string& ptx);
  /// What machine code is kept by; it depends on `text`.
  std::string key(const char* kind, const std::string& text) const;

  ContextRef context_;
  PtxCompiler compile_;
  std::string compiler_;
  std::shared_ptr<MachineCodes> codes_;
  std::shared_ptr<const KernelCache> cache_;
  int capability_, multiprocessors_, driver_version_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_future<LoadedKernelRef>> loaded_;  // by the kernel's text; some are being made
};

}  // namespace gasell::cuda
