// Compiled functions end soon when they are asked to.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Puts polls where a function that has a parameter `interrupt`, or a kernel of threads, would run long without one: in each iteration of
/// `while` and of loops that contain others, and every few thousand iterations of innermost loops, which are cut into strips for that and
/// stay free of polls:
///
///   for i in 0 .. n { y[i] = x[i] }   →   let end: i64 = max(n, 0)
///                                         var first: i64 = 0
///                                         scope strips {
///                                           while true {
///                                             let last: i64 = select((u64((end - first)) > 4096u64), (first + 4096), end)
///                                             for i in first .. last { y[i] = x[i] }
///                                             if (last == end) { leave strips }
///                                             poll
///                                             first = last
///                                           }
///                                         }
///
/// Loops over a constant range that is short count as plain statements.
Kernel poll_interrupts(const Kernel& kernel);

}  // namespace gasell::ir
