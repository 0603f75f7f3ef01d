// math: functions of one double and their errors. math_integers.cpp has the integer functions, math_sums.cpp the sums.
#include "stdlib/math.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "runtime/session/big_integer.h"
#include "runtime/session/number.h"
#include "runtime/session/str_text.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {

void raise_math_domain() { raise("ValueError", "math domain error"); }
void raise_math_range() { raise("OverflowError", "math range error"); }

namespace {

using Args = std::span<Value>;

/// The rule of CPython's math module: nan out of no nan is a domain error, an infinity out of a finite number a range or a domain error.
double checked(double x, double r, bool can_overflow) {
  if (std::isnan(r) && !std::isnan(x)) raise_math_domain();
  if (std::isinf(r) && std::isfinite(x)) {
    if (can_overflow) raise_math_range();
    raise_math_domain();
  }
  return r;
}

template <double (*f)(double), bool can_overflow = false>
Value one(Interpreter& in, Args args) {
  const double x = to_double(in, args[0]);
  return Value::of(checked(x, f(x), can_overflow));
}

/// floor, ceil, trunc: ints stay, the rest becomes an int.
constexpr const char kFloor[] = "__floor__", kCeil[] = "__ceil__", kTrunc[] = "__trunc__";
template <double (*f)(double), const char* method>
Value whole(Interpreter& in, Args args) {
  if (args[0].is_int() || args[0].is_bool()) return Value::of(args[0].as_int());
  if (args[0].as<BigInt>()) return args[0];
  if (args[0].is_object() && has_attribute(in, args[0], method)) return call(in, get_attribute(in, args[0], method), {});
  return float_to_integer(f(to_double(in, args[0])));
}

double log_of(Interpreter& in, const Value& v, double (*f)(double)) {
  if (const auto* big = v.as<BigInt>()) {
    if (big->value < 0) raise_math_domain();
    const int64_t beyond = std::max<int64_t>(0, bit_length(big->value) - 1000);  // the bits that a double does not reach
    return f(to_double(big->value >> static_cast<unsigned>(beyond))) + static_cast<double>(beyond) * f(2);
  }
  const double x = to_double(in, v);
  if (x <= 0) raise_math_domain();
  return f(x);
}

Value log(Interpreter& in, Args args) {
  const double numerator = log_of(in, args[0], std::log);
  if (is_missing(args[1])) return Value::of(numerator);
  const double denominator = log_of(in, args[1], std::log);
  if (denominator == 0) raise("ZeroDivisionError", "float division by zero");
  return Value::of(numerator / denominator);
}

Value pow(Interpreter& in, Args args) {
  const double x = to_double(in, args[0]), y = to_double(in, args[1]), r = std::pow(x, y);
  if (std::isfinite(x) && std::isfinite(y)) {
    if (std::isnan(r) || (std::isinf(r) && x == 0)) raise_math_domain();
    if (std::isinf(r)) raise_math_range();
  }
  return Value::of(r);
}

Value fmod(Interpreter& in, Args args) {
  const double x = to_double(in, args[0]), y = to_double(in, args[1]);
  if (std::isinf(y) && std::isfinite(x)) return Value::of(x);
  const double r = std::fmod(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) raise_math_domain();
  return Value::of(r);
}

Value remainder(Interpreter& in, Args args) {
  const double x = to_double(in, args[0]), y = to_double(in, args[1]), r = std::remainder(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) raise_math_domain();
  return Value::of(r);
}

Value gamma(Interpreter& in, Args args) {
  const double x = to_double(in, args[0]);
  if (x == -HUGE_VAL || (x <= 0 && x == std::floor(x))) raise_math_domain();
  const double r = std::tgamma(x);
  if (std::isinf(r) && std::isfinite(x)) raise_math_range();
  return Value::of(r);
}

/// log|gamma(x)|, without the C library's global sign.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

Value lgamma(Interpreter& in, Args args) {
  const double x = to_double(in, args[0]);
  if (std::isinf(x)) return Value::of(HUGE_VAL);
  if (x <= 0 && x == std::floor(x)) raise_math_domain();
  const double r = log_gamma(x);
  if (std::isinf(r)) raise_math_range();
  return Value::of(r);
}

Value frexp(Interpreter& in, Args args) {
  int exponent = 0;
  const double x = to_double(in, args[0]);
  const double m = std::isfinite(x) ? std::frexp(x, &exponent) : x;
  return make_tuple({Value::of(m), Value::of(exponent)});
}

Value ldexp(Interpreter& in, Args args) {
  const double x = to_double(in, args[0]);
  if (!is_integer(args[1])) raise("TypeError", "Expected an int as second argument to ldexp.");
  const BigInteger wanted = integer_of(args[1]);
  const int64_t exponent = wanted > 100000 ? 100000 : wanted < -100000 ? -100000 : static_cast<int64_t>(wanted);
  const double r = std::ldexp(x, static_cast<int>(exponent));
  if (std::isinf(r) && std::isfinite(x)) raise_math_range();
  return Value::of(r);
}

Value modf(Interpreter& in, Args args) {
  double whole_part = 0;
  const double fraction = std::modf(to_double(in, args[0]), &whole_part);
  return make_tuple({Value::of(fraction), Value::of(whole_part)});
}

Value is_close(Interpreter& in, Args args) {
  const double a = to_double(in, args[0]), b = to_double(in, args[1]), relative = to_double(in, args[2]), absolute = to_double(in, args[3]);
  if (relative < 0 || absolute < 0) raise("ValueError", "tolerances must be non-negative");
  if (a == b) return Value::of(true);
  if (std::isinf(a) || std::isinf(b)) return Value::of(false);
  const double difference = std::abs(a - b);
  return Value::of(difference <= std::abs(relative * b) || difference <= std::abs(relative * a) || difference <= absolute);
}

double degrees(double x) { return x * (180.0 / std::numbers::pi); }
double radians(double x) { return x * (std::numbers::pi / 180.0); }

template <double (*f)(double, double)>
Value two(Interpreter& in, Args args) {
  return Value::of(f(to_double(in, args[0]), to_double(in, args[1])));
}

double ulp(double x) {
  x = std::abs(x);
  if (std::isnan(x) || std::isinf(x)) return x;
  const double next = std::nextafter(x, HUGE_VAL);
  return std::isinf(next) ? x - std::nextafter(x, -HUGE_VAL) : next - x;
}

template <bool (*f)(double)>
Value asks(Interpreter& in, Args args) {
  return Value::of(f(to_double(in, args[0])));
}
bool is_finite(double x) { return std::isfinite(x); }
bool is_inf(double x) { return std::isinf(x); }
bool is_nan(double x) { return std::isnan(x); }

std::vector<NativeFunction> functions() {
  constexpr const char *kX = "x, /", *kXY = "x, y, /";
  std::vector<NativeFunction> table = {
      {"sin", kX, one<std::sin>, "Sine of radians."},
      {"cos", kX, one<std::cos>, "Cosine of radians."},
      {"tan", kX, one<std::tan>, "Tangent of radians."},
      {"asin", kX, one<std::asin>, "Arc sine, in radians."},
      {"acos", kX, one<std::acos>, "Arc cosine, in radians."},
      {"atan", kX, one<std::atan>, "Arc tangent, in radians."},
      {"atan2", "y, x, /", two<std::atan2>, "The angle of the point (x, y), in radians."},
      {"sinh", kX, one<std::sinh, true>, "Hyperbolic sine."},
      {"cosh", kX, one<std::cosh, true>, "Hyperbolic cosine."},
      {"tanh", kX, one<std::tanh>, "Hyperbolic tangent."},
      {"asinh", kX, one<std::asinh>, "Inverse hyperbolic sine."},
      {"acosh", kX, one<std::acosh>, "Inverse hyperbolic cosine."},
      {"atanh", kX, one<std::atanh>, "Inverse hyperbolic tangent."},
      {"exp", kX, one<std::exp, true>, "e ** x."},
      {"exp2", kX, one<std::exp2, true>, "2 ** x."},
      {"expm1", kX, one<std::expm1, true>, "e ** x - 1, exact for small x."},
      {"log", "x, base=missing, /", log, "Logarithm to base, e by default."},
      {"log2", kX, [](Interpreter& in, Args a) { return Value::of(log_of(in, a[0], std::log2)); }, "Logarithm to base 2."},
      {"log10", kX, [](Interpreter& in, Args a) { return Value::of(log_of(in, a[0], std::log10)); }, "Logarithm to base 10."},
      {"log1p", kX, one<std::log1p>, "log(1 + x), exact for small x."},
      {"sqrt", kX, one<std::sqrt>, "Square root."},
      {"cbrt", kX, one<std::cbrt>, "Cube root."},
      {"pow", kXY, pow, "x ** y of floats."},
      {"fabs", kX, one<std::fabs>, "Absolute value as a float."},
      {"floor", kX, whole<std::floor, kFloor>, "The largest int that is not greater."},
      {"ceil", kX, whole<std::ceil, kCeil>, "The smallest int that is not less."},
      {"trunc", kX, whole<std::trunc, kTrunc>, "Without the fraction, as an int."},
      {"fmod", kXY, fmod, "The remainder with the sign of x."},
      {"remainder", kXY, remainder, "The remainder nearest to zero (IEEE 754)."},
      {"modf", kX, modf, "(fraction, whole part)."},
      {"frexp", kX, frexp, "(m, e) with x == m * 2 ** e, 0.5 <= |m| < 1."},
      {"ldexp", "x, i, /", ldexp, "x * 2 ** i."},
      {"copysign", kXY, two<std::copysign>, "|x| with the sign of y."},
      {"nextafter", kXY, two<std::nextafter>, "The next float from x towards y."},
      {"ulp", kX, one<ulp>, "The value of the last bit of x."},
      {"gamma", kX, gamma, "Gamma function."},
      {"lgamma", kX, lgamma, "log(|gamma(x)|)."},
      {"erf", kX, one<std::erf>, "Error function."},
      {"erfc", kX, one<std::erfc>, "1 - erf(x)."},
      {"degrees", kX, one<degrees>, "Radians to degrees."},
      {"radians", kX, one<radians>, "Degrees to radians."},
      {"isfinite", kX, asks<is_finite>, "Neither infinite nor nan."},
      {"isinf", kX, asks<is_inf>, "Whether it is an infinity."},
      {"isnan", kX, asks<is_nan>, "Whether it is nan."},
      {"isclose", "a, b, *, rel_tol=1e-09, abs_tol=0.0", is_close, "Whether two numbers are close to each other."},
  };
  for (auto group : {math_integer_functions, math_sum_functions}) {
    for (NativeFunction& f : group()) table.push_back(std::move(f));
  }
  return table;
}

}  // namespace

Value make_math(Interpreter&) {
  static const std::vector<NativeFunction> table = functions();
  Value module = make_module("math", table);
  set_member(module, "pi", Value::of(std::numbers::pi));
  set_member(module, "e", Value::of(std::numbers::e));
  set_member(module, "tau", Value::of(2 * std::numbers::pi));
  set_member(module, "inf", Value::of(HUGE_VAL));
  set_member(module, "nan", Value::of(std::numeric_limits<double>::quiet_NaN()));
  return module;
}

}  // namespace gasell
