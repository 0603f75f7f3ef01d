// Mathematical functions of GPU kernels: paths of our own for the usual arguments of the commonest functions, emitted in line, and calls of
// a library of device functions for the rest.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string_view>
#include <vector>

#include "compiler/codegen/target.h"
#include "lang/dtype.h"

namespace gasell {

/// The function `name` (as in <cmath>) of arguments of `type`, f32 or f64. The builder's block may change. docs/accuracy.md has the errors.
///
/// sin, cos, exp and log of f64 have no branch for the usual arguments; the library is called for the others (large ones, NaN, subnormal
/// numbers). With a `rare` that is not null it is not: the result is then wrong for other arguments, and `rare` becomes true (an or with
/// what it was), so that the caller can begin anew. Methods: the argument is reduced by a product with the reciprocal and a Cody-Waite
/// subtraction in two or three parts with fused multiply-adds; the polynomials are minimax ones, found by Remez's exchange in 60 digits (of
/// sin and cos on [-pi/4, pi/4], of exp on [-ln2/2, ln2/2], of 2 atanh for log on [sqrt(1/2), sqrt(2)]); the steps of log, and of sinh and
/// cosh by expm1 and exp, are fdlibm's.
llvm::Value* emit_device_math(llvm::IRBuilder<>& b, MathLibrary library, std::string_view name, DType type,
                              const std::vector<llvm::Value*>& arguments, llvm::Value*& rare);

}  // namespace gasell
