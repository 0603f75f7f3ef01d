// Integer arithmetic in the narrowest type that holds it.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Computes in i16 or i32 what is computed in a wider type from numbers that are so small that nothing in between needs it: vectors hold
/// more of them.
///
///   let a: i64 = i64(x[i])
///   y[i] = i8(((a + i64(x[j])) // 2))     →     y[i] = i8(((i16(a) + i16(x[j])) // 2i16))
///
/// The ranges of all parts follow from the types of what is converted (x: i8). Indices stay as they are: addresses have 64 bits. `least` is
/// the narrowest type that is worth it: i16 where vectors are, i32 else.
Kernel narrow_integers(const Kernel& kernel, DType least = DType::i16);

}  // namespace gasell::ir
