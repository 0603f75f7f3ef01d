// Parallel loops of a function as kernels of their own.
#pragma once

#include <set>
#include <string>

#include "compiler/functions/function.h"
#include "compiler/functions/grids.h"

namespace gasell::functions {

/// Takes every unit loop out of the kernel's body into a region; what the loop uses from around it becomes the region's parameters.
///
///   for u in 0 .. units unit { y[u] = x[u] * a }
///   →  local arrays_1: i64[…]  arrays_1[0] = address(x) …  local scalars_1: i64[…]  scalars_1[0] = bits_i64(a)
///      call gasell_parallel(address(context), 0, units, address(arrays_1), address(scalars_1), x, y, z)
///      if (error[0] != 0) { raise 1() }
///
/// `written`: the memories that are stored to. `may_overlap`: nothing says that the arrays of a region lie apart.
///
/// Where regions have grids, what stands around them says which memory it uses: call gasell_host(address(context), address(x), 1).
void outline_parallel_loops(Compiled& function, const ParallelLoops& loops, const std::set<std::string>& written, bool may_overlap);

}  // namespace gasell::functions
