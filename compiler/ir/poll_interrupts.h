// Compiled functions end soon when they are asked to.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Puts polls where a function that has a parameter `interrupt` would run long without one: in each iteration of `while` and of loops that
/// contain others, and every few thousand iterations of innermost loops, which are cut into strips for that and stay free of polls:
///
///   for i in 0 .. n { y[i] = x[i] }   →   let end: i64 = n
///                                         let last: i64 = i64((u64(max(end, 0)) >> 12u64))
///                                         for s in 0 .. (last + 1) {
///                                           poll
///                                           let first: i64 = (s * 4096)
///                                           for i in first .. select((s < last), (first + 4096), end) { y[i] = x[i] }
///                                         }
///
/// Loops over a constant range that is short count as plain statements.
Kernel poll_interrupts(const Kernel& kernel);

}  // namespace gasell::ir
