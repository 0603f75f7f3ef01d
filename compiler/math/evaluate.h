// The elementary functions by the names of the scalar operations. Results are within a unit of the last place for floats and two for
// doubles (docs/accuracy.md has what is measured); special values as C99's Annex F has them. Kernels of every device give the same bits.
#pragma once

#include "compiler/ir/scalar_op.h"

namespace gasell::math {

/// Whether the library has it.
constexpr bool has(ScalarOp op) {
  switch (op) {
    case ScalarOp::exp:
    case ScalarOp::exp2:
    case ScalarOp::expm1:
    case ScalarOp::log:
    case ScalarOp::log2:
    case ScalarOp::log10:
    case ScalarOp::log1p:
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tan:
    case ScalarOp::asin:
    case ScalarOp::acos:
    case ScalarOp::atan:
    case ScalarOp::atan2:
    case ScalarOp::sinh:
    case ScalarOp::cosh:
    case ScalarOp::tanh:
    case ScalarOp::asinh:
    case ScalarOp::acosh:
    case ScalarOp::atanh:
    case ScalarOp::cbrt:
    case ScalarOp::hypot:
    case ScalarOp::nextafter:
    case ScalarOp::pow: return true;
    default: return false;
  }
}

/// op(x), or op(x, y), of one that it has, on this machine. math/host.cpp.
double evaluate(ScalarOp op, double x, double y = 0);
float evaluate(ScalarOp op, float x, float y = 0);

}  // namespace gasell::math
