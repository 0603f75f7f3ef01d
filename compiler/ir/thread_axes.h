// Which axis of a grid's threads walks along rows of memory.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Whether a kernel of threads (Kernel::simt) uses memory better when a GPU's warps go along y: neighbours of 32 threads along x are in
/// rows beside each other, as in `i, j = cuda.grid(2); … a[i, j]`, and along y in one row. Counts accesses by the coefficient of either
/// axis in their index. False where the kernel can tell what warps its threads are in.
bool prefers_warps_along_y(const Kernel& kernel);

}  // namespace gasell::ir
