#include "stdlib/numpy/floating_point_errors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "runtime/device/sandbox.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "runtime/session/warnings.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {
namespace {

struct Errors {
  bool divide = false, over = false, invalid = false;
};

bool has_nan(const Scalar& s) { return !s.is_integral() && (std::isnan(s.c.real()) || std::isnan(s.c.imag())); }
bool has_infinity(const Scalar& s) { return !s.is_integral() && (std::isinf(s.c.real()) || std::isinf(s.c.imag())); }
bool is_zero(const Scalar& s) { return s.is_integral() ? s.i == 0 : s.c == 0.0; }

bool divides(const Ufunc& f) {
  return f.op == ScalarOp::div || f.op == ScalarOp::floordiv || f.op == ScalarOp::mod || f.op == ScalarOp::fmod ||
         f.name == std::string_view("divmod");
}
bool is_reciprocal(const Ufunc& f) { return f.name == std::string_view("reciprocal"); }

/// Whether an infinite result of finite operands is a pole of the function, not a number beyond the largest.
bool is_pole(const Ufunc& f, std::span<const Scalar> operands) {
  switch (f.op) {
    case ScalarOp::log:
    case ScalarOp::log2:
    case ScalarOp::log10:
    case ScalarOp::log1p:
    case ScalarOp::atanh: return true;
    case ScalarOp::pow: return is_zero(operands[0]);
    default: return (divides(f) || is_reciprocal(f)) && is_zero(operands.back());
  }
}

Errors of_inexact(const Ufunc& f, std::span<const Scalar> operands, std::span<const Scalar> results) {
  Errors errors;
  if (std::ranges::any_of(operands, has_nan) || f.name == std::string_view("spacing")) return errors;
  errors.invalid = std::ranges::any_of(results, has_nan);
  if (std::ranges::any_of(results, has_infinity) && std::ranges::none_of(operands, has_infinity))
    (is_pole(f, operands) ? errors.divide : errors.over) = true;
  // The remainder that a quotient is rounded by means nothing where the quotient is beyond the largest number.
  if (errors.over && divides(f) && f.op != ScalarOp::div) errors.invalid = true;
  return errors;
}

Int128 whole(const Scalar& s) { return s.type == DType::u64 ? static_cast<Int128>(static_cast<uint64_t>(s.i)) : s.i; }

/// The result without the bounds of its dtype.
Int128 exact(ScalarOp op, std::span<const Scalar> operands, const Scalar& result) {
  const Int128 x = whole(operands[0]), y = whole(operands.back());
  switch (op) {
    case ScalarOp::add: return x + y;
    case ScalarOp::sub: return x - y;
    case ScalarOp::mul: return x * y;
    case ScalarOp::neg: return -x;
    case ScalarOp::abs: return x < 0 ? -x : x;
    case ScalarOp::floordiv: return y == -1 ? -x : whole(result);
    default: return whole(result);
  }
}

Errors of_integers(const Ufunc& f, bool operation, std::span<const Scalar> operands, const Scalar& result) {
  Errors errors;
  errors.divide = (divides(f) || is_reciprocal(f)) && is_zero(operands.back());
  errors.over = operation && !errors.divide && exact(f.op, operands, result) != whole(result);
  return errors;
}

/// NumPy has loops of its own for operators between its numbers; bools, and integers beside a float of Python's, go to the ufunc's.
bool is_scalar_operation(std::span<const Value> operands) {
  const bool real = std::ranges::any_of(operands, [](const Value& v) { return v.is_float(); });
  bool all_bools = true;
  for (const Value& v : operands) {
    const auto* scalar = v.as<NumpyScalar>();
    if (scalar && real && !is_float(scalar->dtype()) && !is_complex(scalar->dtype())) return false;
    all_bools &= scalar && scalar->dtype() == DType::boolean;
  }
  return !all_bools;
}

/// Nothing: no number, or none that is computed.
std::optional<Scalar> number(const Value& v) {
  if (v.is_float()) return Scalar::of_float(v.as_float());
  if (v.is_int() || v.is_bool()) return Scalar::of_int(v.as_int());
  if (const auto* z = v.as<Complex>()) return Scalar::of_complex(z->value);
  const auto* scalar = v.as<NumpyScalar>();
  if (scalar && scalar->known()) return *scalar->known();
  return {};
}

}  // namespace

ErrorHandling& error_handling() { return state_of_session<ErrorHandling>(); }

void check_numbers(Interpreter& in, const Ufunc& f, bool operation, std::span<const Value> operands, const Value& result) {
  const auto* several = result.as<Tuple>();
  const std::span<const Value> given = several ? std::span<const Value>(several->items) : std::span(&result, 1);
  std::array<Scalar, 2> numbers, results;
  for (size_t k = 0; k < given.size(); ++k) {
    const auto* scalar = given[k].as<NumpyScalar>();
    if (!scalar || !scalar->known() || scalar->dtype() == DType::boolean) return;
    results[k] = *scalar->known();
  }
  const bool inexact = !results[0].is_integral();
  const std::span<const Scalar> computed = std::span(results).first(given.size());
  if (inexact && std::ranges::none_of(computed, has_nan) && std::ranges::none_of(computed, has_infinity)) return;
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::optional<Scalar> n = number(operands[k]);
    if (!n) return;
    numbers[k] = *n;
  }
  const std::span<const Scalar> taken = std::span(numbers).first(operands.size());
  operation = operation && is_scalar_operation(operands);
  const Errors errors = inexact ? of_inexact(f, taken, computed) : of_integers(f, operation, taken, results[0]);
  if ((!errors.divide && !errors.over && !errors.invalid) || !is_script_running(in)) return;
  const ErrorHandling& handling = error_handling();
  const std::string where = std::string(" encountered in ") + (operation ? "scalar " : "") + f.name;
  const Type& category = *exception_type("RuntimeWarning");
  if (errors.divide && handling.divide) warn(in, category, "divide by zero" + where, "", true);
  if (errors.over && handling.over) warn(in, category, "overflow" + where, "", true);
  if (errors.invalid && handling.invalid) warn(in, category, "invalid value" + where, "", true);
}

}  // namespace gasell::numpy
