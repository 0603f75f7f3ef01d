// Kernels for GPUs: units become blocks of threads.
//
// At the level of a block and of a warp everything is uniform: all threads compute the same scalars and take the same branches. `simd`
// loops are spread over the threads of a block, or of a warp inside a `team` loop, whose iterations go to the block's warps. Single stores
// are done by one thread. Local arrays become memory of the block or the warp, and barriers stand wherever a thread might see what another
// one writes.
#pragma once

#include <optional>

#include "compiler/ir/ir.h"

namespace gasell::ir {

struct GridLimits {
  int most_threads = 256;           // a block, a power of two
  int64_t shared_bytes = 48 << 10;  // local arrays of a block and its warps, at most
};

/// Nothing when the kernel has no unit loop or needs more shared memory than a block of one warp may take.
std::optional<Kernel> map_to_grid(const Kernel& kernel, const GridLimits& limits);

/// Bytes of a mapped kernel's local arrays outside of threads, for a whole block.
int64_t shared_bytes(const Kernel& kernel);

}  // namespace gasell::ir
