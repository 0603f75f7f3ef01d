// The machine code of a function's parallel loops.
#pragma once

#include <span>
#include <vector>

#include "compiler/codegen/jit.h"

namespace gasell::functions {

/// Regions are compiled when they first run: where arrays are small, most never do.
class RegionKernels {
 public:
  /// `kernels` live as long as this.
  RegionKernels(Jit& jit, std::span<const ir::Kernel> kernels) : jit_(jit), kernels_(kernels), functions_(kernels.size(), nullptr) {}

  /// Throws as Jit::compile does.
  HostKernelFunction function(size_t region) {
    if (!functions_[region]) functions_[region] = jit_.compile(kernels_[region]).function;
    return functions_[region];
  }

 private:
  Jit& jit_;
  std::span<const ir::Kernel> kernels_;
  std::vector<HostKernelFunction> functions_;
};

}  // namespace gasell::functions
