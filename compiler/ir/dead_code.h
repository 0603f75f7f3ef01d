#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Takes out lets, vars and local arrays that nothing reads, the stores and assignments to them, and loops and branches left empty.
///
///   let a: i64 = (n * 2)             y[0] = x[0]
///   local t: f64[64]          →
///   t[0] = 1.0
///   y[0] = x[0]
Kernel eliminate_dead_code(const Kernel& kernel);

}  // namespace gasell::ir
