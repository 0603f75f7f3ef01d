// The pipeline is a value: a list of named passes. The runner verifies, times and dumps; a pass does nothing but its transformation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace gasell::ir {

struct Pass {
  std::string name;
  std::function<Kernel(const Kernel&)> run;
  std::string why_here;
};

/// What every kernel of array expressions goes through before code generation, in order.
const std::vector<Pass>& pipeline();
/// What compiled functions go through.
const std::vector<Pass>& function_pipeline();
/// What the kernel goes through before code generation: one of these two, or what functions do that are mapped to a grid already.
const std::vector<Pass>& pipeline_of(const Kernel& kernel);
/// The same for kernels that map_to_grid takes next.
const std::vector<Pass>& grid_pipeline();

/// Called after each pass (and with "input" before the first) with the kernel's text, when a dump is wanted.
using Observer = std::function<void(const std::string& pass, const Kernel& kernel, double seconds)>;
Kernel run_passes(const Kernel& kernel, const std::vector<Pass>& passes, const Observer& observer = {});

}  // namespace gasell::ir
