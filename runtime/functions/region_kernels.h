// The machine code of a function's parallel loops.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "compiler/codegen/jit.h"

namespace gasell::functions {

/// Regions are compiled when they first run: where arrays are small, most never do.
class RegionKernels {
 public:
  /// `kernels` live as long as this. Thread-safe.
  RegionKernels(Jit& jit, std::span<const ir::Kernel> kernels) : jit_(jit), kernels_(kernels), functions_(kernels.size()) {}

  /// Throws as Jit::compile does.
  HostKernelFunction function(size_t region) {
    HostKernelFunction function = functions_[region].load(std::memory_order_acquire);
    if (function) return function;
    function = jit_.compile(kernels_[region]).function;
    functions_[region].store(function, std::memory_order_release);
    return function;
  }

 private:
  Jit& jit_;
  std::span<const ir::Kernel> kernels_;
  std::vector<std::atomic<HostKernelFunction>> functions_;
};

}  // namespace gasell::functions
