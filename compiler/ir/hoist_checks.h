// Bounds checks of loops over arrays, done once before the loops.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// A loop nest comes twice: without the checks that are known to hold for all its indices, when that is so, and as it was:
///
///   for i in 0 .. m {                                if ((0 <= a) && ((m - 1) + a) < n) {
///     check k = (i + a) of n else 1                    for i in 0 .. m {
///     y[i] = x[k]                                        let k: i64 = (i + a)
///   }                                          →         y[i] = x[k]
///                                                      }
///                                                    } else {
///                                                      for i in 0 .. m { … as it was … }
///                                                    }
///
/// Such checks have an extent that stays the same and an index that is affine in the variables of the nest's counted loops, whose bounds
/// may be affine in those around them (triangles), or minima, maxima, quotients and remainders of such. The condition is sufficient, not
/// necessary: it asks whether the least and the largest of such indices are inside, without counting from the end, and that no number in
/// that computation is so large that it could overflow. The versions are made of the outermost loops from whose innermost loops most
/// checks are taken out; what is left in them stays. `if c { raise … }` is such a check where c stays the same: a divisor that is 0, say.
/// Checks beside inner loops alone are no reason for versions.
Kernel hoist_checks(const Kernel& kernel);

}  // namespace gasell::ir
