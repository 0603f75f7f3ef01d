#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Terms that several sums of integers have in common are added once, whatever the order in which a sum names them: that of integers is the
/// same in any order. Sums are what additions in statements beside each other come to, through the names between them. What is chosen
/// first is what saves most on a machine that adds three numbers at once, as GPUs do; between equals, what comes first.
///
///   let a: i32 = (((x + y) + z) + u)             let sum0_shared: i32 = ((y + z) + u)
///   let b: i32 = (((y + z) + u) + v)      →      let a: i32 = (sum0_shared + x)
///                                                let b: i32 = (sum0_shared + v)
///
/// After L. L. Paar, Optimized Arithmetic for Reed-Solomon Encoders, 1997, with sets of terms in the place of pairs.
Kernel share_sums(const Kernel& kernel);

}  // namespace gasell::ir
