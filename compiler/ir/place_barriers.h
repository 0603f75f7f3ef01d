// Barriers of a kernel mapped to a grid: where a thread may use what another one wrote, or write what another one still uses.
//
//   for l in 0 .. 64 within 256 { a[l] = x[l] }          for l in 0 .. 64 within 256 { a[l] = x[l] }
//   let s: f64 = (a[0] + a[1])                     →     barrier block
//                                                        let s: f64 = (a[0] + a[1])
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Takes the barriers that are there as given. Uses of one element by the thread that owns it (index is the variable of loops of one width
/// that begin at 0) need none.
Kernel place_barriers(const Kernel& kernel);

}  // namespace gasell::ir
