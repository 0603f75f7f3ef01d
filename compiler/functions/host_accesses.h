// Of functions with grids: what their own code, which the host runs, uses of the memory that GPUs use, too.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::functions {

/// The body of a function's kernel with a call before every statement that uses memory (and holds no call of gasell_parallel): it brings
/// home what a GPU has written, and tells of what the host will write.
///
///   call gasell_parallel(…)  x[0] = y[1]
///   →  call gasell_parallel(…)  call gasell_host(address(context), address(x), 1)  call gasell_host(address(context), address(y), 0)  x[0]
///   = y[1]
ir::Body announce_host_accesses(const ir::Body& body);

}  // namespace gasell::functions
