// The scalar operations: one table for the array graph, the loop IR and the emitter.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lang/dtype.h"

namespace gasell {

/// Semantics. Integers wrap. Integer floordiv and mod round towards minus infinity; by zero they give 0, and MIN // -1 gives MIN
/// (NumPy's array rules; the session's Python scalars raise before they come here). Shifts by the width or more give 0 (or the sign).
/// min/max propagate NaN (np.minimum); fmin/fmax do not. Comparisons and logical operations give boolean; all other results have the
/// operand type, except abs, real, imag of a complex (its real type). Operands have one common type, except `select(bool, T, T)`; shift
/// counts have the type of what they shift. Which types an operation takes stands in its row (accepts()).
enum class ScalarOp : uint8_t {
  // arithmetic
  add,
  sub,
  mul,
  div,
  floordiv,
  mod,
  fmod,
  pow,
  neg,
  abs,
  sign,
  min,
  max,
  fmin,
  fmax,
  mulhi,      // the high half of the product
  fma,        // a * b + c, rounded once where the target can
  div_count,  // a / b for a number of things b, to 2^53: an infinite quotient may be NaN
  // bits
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shl,
  shr,
  // comparison and logic
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_xor,
  logical_not,
  select,
  // floating-point inspection
  isnan,
  isinf,
  isfinite,
  signbit,
  copysign,
  nextafter,
  // rounding
  floor,
  ceil,
  trunc,
  rint,
  // roots, exponentials, logarithms
  sqrt,
  cbrt,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  hypot,
  // trigonometric, hyperbolic
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  // complex
  conj,
  real,
  imag,
  make_complex,
  count_
};

struct ScalarOpInfo {
  std::string_view name;  // in IR text and plans
  int arity;
  enum class Result : uint8_t { operand, boolean, real, complex } result;
  /// The kinds of operands (of select: of what is chosen from) that it is defined for: kind() of their type.
  std::string_view kinds;
  bool commutative;
  /// Rough cost in units of one floating-point addition, for fusion.
  int cost;
};
const ScalarOpInfo& info(ScalarOp op);
std::optional<ScalarOp> scalar_op_from_name(std::string_view name);
bool accepts(ScalarOp op, DType operand);
DType result_type(ScalarOp op, DType operand);
/// Constant folding with exactly the semantics above.
Scalar evaluate(ScalarOp op, const Scalar* operands);

}  // namespace gasell
