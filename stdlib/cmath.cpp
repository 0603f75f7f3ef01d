// cmath: functions of complex numbers.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "stdlib/bindings.h"
#include "stdlib/math.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;
using C = std::complex<double>;

C to_complex(Interpreter& in, const Value& v) {
  if (const auto* c = v.as<Complex>()) return c->value;
  if (v.is_object() && !v.as<Str>()) {
    if (const auto z = v.object()->to_complex(in)) return z->as<Complex>()->value;
  }
  return to_double(in, v);
}

bool finite(C z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
bool is_nan(C z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
bool is_inf(C z) { return std::isinf(z.real()) || std::isinf(z.imag()); }

Value checked(C argument, C result) {
  if (finite(argument)) {
    if (is_nan(result)) raise_math_domain();
    if (is_inf(result)) raise_math_range();
  }
  return Value::make<Complex>(result);
}

template <C (*f)(const C&)>
Value one(Interpreter& in, Args args) {
  const C z = to_complex(in, args[0]);
  return checked(z, f(z));
}
template <C (*f)(const C&)>
Value one_with_poles(Interpreter& in, Args args) {
  const C z = to_complex(in, args[0]), r = f(z);
  if (finite(z) && is_inf(r)) raise_math_domain();
  return checked(z, r);
}

C sqrt(const C& z) { return std::sqrt(z); }
C exp(const C& z) { return std::exp(z); }
C log10(const C& z) { return {std::log10(std::abs(z)), std::arg(z) / std::numbers::ln10}; }
C sin(const C& z) { return std::sin(z); }
C cos(const C& z) { return std::cos(z); }
C tan(const C& z) { return std::tan(z); }
C sinh(const C& z) { return std::sinh(z); }
C cosh(const C& z) { return std::cosh(z); }
C tanh(const C& z) { return std::tanh(z); }
C asin(const C& z) { return std::asin(z); }
C acos(const C& z) { return std::acos(z); }
C atan(const C& z) { return std::atan(z); }
C asinh(const C& z) { return std::asinh(z); }
C acosh(const C& z) { return std::acosh(z); }
C atanh(const C& z) { return std::atanh(z); }

Value log(Interpreter& in, Args args) {
  const C z = to_complex(in, args[0]);
  if (z == 0.0) raise_math_domain();
  const C r = std::log(z);
  if (is_missing(args[1])) return Value::make<Complex>(r);
  const C base = to_complex(in, args[1]);
  if (base == 0.0) raise_math_domain();
  return Value::make<Complex>(complex_divide(r, std::log(base)));
}

Value phase(Interpreter& in, Args args) { return Value::of(std::arg(to_complex(in, args[0]))); }

Value polar(Interpreter& in, Args args) {
  const C z = to_complex(in, args[0]);
  return make_tuple({Value::of(std::abs(z)), Value::of(std::arg(z))});
}

Value rect(Interpreter& in, Args args) {
  const double r = to_double(in, args[0]), angle = to_double(in, args[1]);
  if (std::isinf(angle) && r != 0 && !std::isnan(r)) raise_math_domain();
  if (angle == 0) return Value::make<Complex>(C(r, r * angle));
  return Value::make<Complex>(C(r * std::cos(angle), r * std::sin(angle)));
}

Value is_close(Interpreter& in, Args args) {
  const C a = to_complex(in, args[0]), b = to_complex(in, args[1]);
  const double relative = to_double(in, args[2]), absolute = to_double(in, args[3]);
  if (relative < 0 || absolute < 0) raise("ValueError", "tolerances must be non-negative");
  if (a == b) return Value::of(true);
  if (is_inf(a) || is_inf(b)) return Value::of(false);
  const double difference = std::abs(a - b);
  return Value::of(difference <= relative * std::abs(b) || difference <= relative * std::abs(a) || difference <= absolute);
}

}  // namespace

Value make_cmath(Interpreter&) {
  constexpr const char* kZ = "z, /";
  static const std::vector<NativeFunction> table = {
      {"sqrt", kZ, one<sqrt>, "Square root; the branch cut is the negative real axis."},
      {"exp", kZ, one<exp>, "e ** z."},
      {"log", "z, base=missing, /", log, "Logarithm; the branch cut is the negative real axis."},
      {"log10", kZ, one_with_poles<log10>, "Logarithm to base 10."},
      {"sin", kZ, one<sin>, "Sine."},
      {"cos", kZ, one<cos>, "Cosine."},
      {"tan", kZ, one<tan>, "Tangent."},
      {"sinh", kZ, one<sinh>, "Hyperbolic sine."},
      {"cosh", kZ, one<cosh>, "Hyperbolic cosine."},
      {"tanh", kZ, one<tanh>, "Hyperbolic tangent."},
      {"asin", kZ, one<asin>, "Arc sine."},
      {"acos", kZ, one<acos>, "Arc cosine."},
      {"atan", kZ, one_with_poles<atan>, "Arc tangent."},
      {"asinh", kZ, one<asinh>, "Inverse hyperbolic sine."},
      {"acosh", kZ, one<acosh>, "Inverse hyperbolic cosine."},
      {"atanh", kZ, one_with_poles<atanh>, "Inverse hyperbolic tangent."},
      {"phase", kZ, phase, "The angle, in radians."},
      {"polar", kZ, polar, "(absolute value, angle)."},
      {"rect", "r, phi, /", rect, "The number of that absolute value and angle."},
      {"isfinite", kZ, [](Interpreter& in, Args a) { return Value::of(finite(to_complex(in, a[0]))); }, "Whether both parts are finite."},
      {"isinf", kZ, [](Interpreter& in, Args a) { return Value::of(is_inf(to_complex(in, a[0]))); }, "Whether a part is infinite."},
      {"isnan", kZ, [](Interpreter& in, Args a) { return Value::of(is_nan(to_complex(in, a[0]))); }, "Whether a part is nan."},
      {"isclose", "a, b, *, rel_tol=1e-09, abs_tol=0.0", is_close, "Whether two numbers are close to each other."},
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Value module = make_module("cmath", table);
  set_member(module, "pi", Value::of(std::numbers::pi));
  set_member(module, "e", Value::of(std::numbers::e));
  set_member(module, "tau", Value::of(2 * std::numbers::pi));
  set_member(module, "inf", Value::of(HUGE_VAL));
  set_member(module, "nan", Value::of(kNan));
  set_member(module, "infj", Value::make<Complex>(C(0, HUGE_VAL)));
  set_member(module, "nanj", Value::make<Complex>(C(0, kNan)));
  return module;
}

}  // namespace gasell
