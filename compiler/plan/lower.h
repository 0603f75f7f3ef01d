// Kernels from flattened expressions: one file a shape of loop.
#pragma once

#include <algorithm>
#include <optional>
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

/// What stands around an expression that is there only for elements [begin, end) of the space, on each axis.
struct Border {
  std::vector<int64_t> begin, end;
  Scalar value;
};

/// Every element of the space once: outputs[k][…] = root k. Units are rows × segments of the innermost axis.
Step lower_elementwise(Pulled pulled, std::vector<Output> outputs, const Grain& grain, const Border* border = nullptr);

/// The same for Grain::rolled where elements read what elements beside them along an outer axis read, too; nullopt: they do not. `results`:
/// where the outputs lie in the space, as `pulled` walks it.
std::optional<Step> lower_tiles(const Pulled& pulled, const std::vector<Output>& outputs, const std::vector<Access>& results,
                                const Grain& grain, const Border* border);

/// Whether an access walks across its memory, as in a transposition: the space's neighbouring rows, not columns, share its cache lines.
bool crosses_memory(const Shape& space, const Access& access);
/// The same for Grain::rolled where inputs are walked across their memory and results are not: squares of the inputs go through memory that
/// the threads of a unit share; nullopt: something else is asked for. `results` as for lower_tiles.
std::optional<Step> lower_crossing(const Pulled& pulled, const std::vector<Output>& outputs, const std::vector<Access>& results);

/// Reduces the one root of `pulled` over `axes` into `output`, whose access walks the axes that are kept. Appends the kernel, and where the
/// work is more than one unit an output, the kernels that combine partial states in a fixed tree. The bits depend on the shape alone.
void lower_reduction(std::vector<Step>& steps, Pulled pulled, graph::ReduceOp op, const std::vector<int>& axes, int64_t ddof, DType result,
                     Output output, const Grain& grain);

inline bool has_random(const Pulled& pulled) {
  return std::any_of(pulled.accesses.begin(), pulled.accesses.end(),
                     [](const Access& a) { return a.source->as<graph::RandomNode>() != nullptr; });
}

}  // namespace gasell::plan
