// The elementary functions' templates by the names of the scalar operations.
#pragma once

#include "compiler/math/evaluate.h"
#include "compiler/math/exponential.h"
#include "compiler/math/hyperbolic.h"
#include "compiler/math/inverse_trigonometric.h"
#include "compiler/math/logarithm.h"
#include "compiler/math/neighbour.h"
#include "compiler/math/number.h"
#include "compiler/math/power.h"
#include "compiler/math/roots.h"
#include "compiler/math/trigonometric.h"

namespace gasell::math {

/// op(x), or op(x, y), of one that it has.
template <class R>
R compute(ScalarOp op, R x, R y) {
  switch (op) {
    case ScalarOp::exp: return exp(x);
    case ScalarOp::exp2: return exp2(x);
    case ScalarOp::expm1: return expm1(x);
    case ScalarOp::log: return log(x);
    case ScalarOp::log2: return log2(x);
    case ScalarOp::log10: return log10(x);
    case ScalarOp::log1p: return log1p(x);
    case ScalarOp::sin: return sin(x);
    case ScalarOp::cos: return cos(x);
    case ScalarOp::tan: return tan(x);
    case ScalarOp::asin: return asin(x);
    case ScalarOp::acos: return acos(x);
    case ScalarOp::atan: return atan(x);
    case ScalarOp::atan2: return atan2(x, y);
    case ScalarOp::sinh: return sinh(x);
    case ScalarOp::cosh: return cosh(x);
    case ScalarOp::tanh: return tanh(x);
    case ScalarOp::asinh: return asinh(x);
    case ScalarOp::acosh: return acosh(x);
    case ScalarOp::atanh: return atanh(x);
    case ScalarOp::cbrt: return cbrt(x);
    case ScalarOp::hypot: return hypot(x, y);
    case ScalarOp::pow: return pow(x, y);
    case ScalarOp::nextafter: return nextafter(x, y);
    default: return x;
  }
}

}  // namespace gasell::math
