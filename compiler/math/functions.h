// The elementary functions by the names of the scalar operations. Results are within a unit of the last place for floats and two for
// doubles (docs/accuracy.md has what is measured); special values as C99's Annex F has them.
#pragma once

#include "compiler/ir/scalar_op.h"
#include "compiler/math/exponential.h"
#include "compiler/math/logarithm.h"
#include "compiler/math/number.h"
#include "compiler/math/trigonometric.h"

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
    case ScalarOp::tan: return true;
    default: return false;
  }
}

/// op(x), or op(x, y), of one that it has.
template <class R>
R compute(ScalarOp op, R x, [[maybe_unused]] R y) {
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
    default: return x;
  }
}

/// The same on this machine: of a function that the library has. math/host.cpp.
double evaluate(ScalarOp op, double x, double y = 0);
float evaluate(ScalarOp op, float x, float y = 0);

}  // namespace gasell::math
