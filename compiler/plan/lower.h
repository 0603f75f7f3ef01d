// Kernels from flattened expressions: one file a shape of loop.
#pragma once

#include <string>
#include <vector>

#include "compiler/plan/kernel_builder.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/pull.h"

namespace gasell::plan {

/// Where a root's values go.
struct Output {
  StorageRef storage;
  Access access;  // source null
};

/// Every element of the space once: outputs[k][…] = root k. Units are rows × segments of the innermost axis.
Step lower_elementwise(Pulled pulled, std::vector<Output> outputs, int64_t chunk);

/// Reduces the one root of `pulled` over `axes` into `output`, whose access walks the axes that are kept. Appends the kernel, and where the work is
/// more than one unit an output, the kernels that combine partial states in a fixed tree. The bits depend on the shape alone.
void lower_reduction(std::vector<Step>& steps, Pulled pulled, graph::ReduceOp op, const std::vector<int>& axes, int64_t ddof, DType result, Output output,
                     int64_t chunk);

}  // namespace gasell::plan
