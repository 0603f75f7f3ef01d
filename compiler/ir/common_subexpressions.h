#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// A let whose value was named before, and cannot have changed since, becomes the earlier name. Values that read memory are left alone, and
/// so are names from bodies that are not around this one.
///
///   let a: i64 = (i * n)             let a: i64 = (i * n)
///   let b: i64 = (i * n)      →      x[a] = y[a]
///   x[a] = y[b]
Kernel eliminate_common_subexpressions(const Kernel& kernel);

}  // namespace gasell::ir
