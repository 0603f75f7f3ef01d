#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// Puts constants and copies in the place of the lets that name them, and folds what becomes constant.
///
///   let a: i64 = 4                   let c: i64 = (n + 8)
///   let b: i64 = (a * 2)      →
///   let c: i64 = (n + b)
Kernel propagate_constants(const Kernel& kernel);

}  // namespace gasell::ir
