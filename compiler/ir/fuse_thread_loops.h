// For GPUs: what independent iterations do one after the other becomes one loop over them, so that a thread keeps its element's state in
// registers.
//
//   local acc: f64[64]                              for l in 0 .. 64 simd {
//   for l in 0 .. 64 simd { acc[l] = 0.0 }            var acc_r: f64 = 0.0
//   for k in 0 .. n {                          →      for k in 0 .. n {
//     let first: i64 = (k * 64)                         let first: i64 = (k * 64)
//     for m in 0 .. 64 simd {                           acc_r = (acc_r + x[(first + l)])
//       acc[m] = (acc[m] + x[(first + m)])            }
//     }                                               acc[l] = acc_r
//   }                                               }
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Joins runs of simd loops over the same range, and serial loops that hold nothing but such loops, where the local arrays they write are
/// used at the loop's own element only. A local array that nothing else uses disappears.
Kernel fuse_thread_loops(const Kernel& kernel);

}  // namespace gasell::ir
