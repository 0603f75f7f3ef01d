#include "compiler/ir/scalar_op.h"

#include <array>
#include <cmath>
#include <limits>

#include "compiler/math/evaluate.h"
#include "lang/diagnostic.h"

namespace gasell {
namespace {

using R = ScalarOpInfo::Result;
constexpr std::array<ScalarOpInfo, static_cast<size_t>(ScalarOp::count_)> kInfo = {{
    {"add", 2, R::operand, "iufc", true, 1},
    {"sub", 2, R::operand, "iufc", false, 1},
    {"mul", 2, R::operand, "iufc", true, 1},
    {"div", 2, R::operand, "fc", false, 4},
    {"floordiv", 2, R::operand, "iuf", false, 8},
    {"mod", 2, R::operand, "iuf", false, 8},
    {"fmod", 2, R::operand, "iuf", false, 8},
    {"pow", 2, R::operand, "iufc", false, 30},
    {"neg", 1, R::operand, "iufc", false, 1},
    {"abs", 1, R::real, "iufc", false, 1},
    {"sign", 1, R::operand, "iuf", false, 2},
    {"min", 2, R::operand, "biuf", true, 1},
    {"max", 2, R::operand, "biuf", true, 1},
    {"fmin", 2, R::operand, "biuf", true, 1},
    {"fmax", 2, R::operand, "biuf", true, 1},
    {"mulhi", 2, R::operand, "iu", true, 4},
    {"fma", 3, R::operand, "f", false, 1},
    {"div_count", 2, R::operand, "f", false, 4},
    {"bit_and", 2, R::operand, "biu", true, 1},
    {"bit_or", 2, R::operand, "biu", true, 1},
    {"bit_xor", 2, R::operand, "biu", true, 1},
    {"bit_not", 1, R::operand, "biu", false, 1},
    {"shl", 2, R::operand, "iu", false, 1},
    {"shr", 2, R::operand, "iu", false, 1},
    {"eq", 2, R::boolean, "biufc", true, 1},
    {"ne", 2, R::boolean, "biufc", true, 1},
    {"lt", 2, R::boolean, "biuf", false, 1},
    {"le", 2, R::boolean, "biuf", false, 1},
    {"gt", 2, R::boolean, "biuf", false, 1},
    {"ge", 2, R::boolean, "biuf", false, 1},
    {"logical_and", 2, R::boolean, "biufc", true, 1},
    {"logical_or", 2, R::boolean, "biufc", true, 1},
    {"logical_xor", 2, R::boolean, "biufc", true, 1},
    {"logical_not", 1, R::boolean, "biufc", false, 1},
    {"select", 3, R::operand, "biufc", false, 1},
    {"isnan", 1, R::boolean, "biufc", false, 1},
    {"isinf", 1, R::boolean, "biufc", false, 1},
    {"isfinite", 1, R::boolean, "biufc", false, 1},
    {"signbit", 1, R::boolean, "biuf", false, 1},
    {"copysign", 2, R::operand, "f", false, 1},
    {"nextafter", 2, R::operand, "f", false, 10},
    {"floor", 1, R::operand, "iuf", false, 1},
    {"ceil", 1, R::operand, "iuf", false, 1},
    {"trunc", 1, R::operand, "iuf", false, 1},
    {"rint", 1, R::operand, "iuf", false, 1},
    {"sqrt", 1, R::operand, "fc", false, 6},
    {"cbrt", 1, R::operand, "f", false, 20},
    {"exp", 1, R::operand, "fc", false, 15},
    {"exp2", 1, R::operand, "f", false, 15},
    {"expm1", 1, R::operand, "f", false, 20},
    {"log", 1, R::operand, "fc", false, 15},
    {"log2", 1, R::operand, "f", false, 15},
    {"log10", 1, R::operand, "f", false, 15},
    {"log1p", 1, R::operand, "f", false, 20},
    {"hypot", 2, R::operand, "f", true, 15},
    {"sin", 1, R::operand, "fc", false, 18},
    {"cos", 1, R::operand, "fc", false, 18},
    {"tan", 1, R::operand, "fc", false, 25},
    {"asin", 1, R::operand, "fc", false, 20},
    {"acos", 1, R::operand, "fc", false, 20},
    {"atan", 1, R::operand, "fc", false, 20},
    {"atan2", 2, R::operand, "f", false, 25},
    {"sinh", 1, R::operand, "fc", false, 20},
    {"cosh", 1, R::operand, "fc", false, 20},
    {"tanh", 1, R::operand, "fc", false, 20},
    {"asinh", 1, R::operand, "fc", false, 25},
    {"acosh", 1, R::operand, "fc", false, 25},
    {"atanh", 1, R::operand, "fc", false, 25},
    {"conj", 1, R::operand, "biufc", false, 1},
    {"real", 1, R::real, "biufc", false, 0},
    {"imag", 1, R::real, "biufc", false, 0},
    {"make_complex", 2, R::complex, "f", false, 0},
}};

__extension__ typedef unsigned __int128 Unsigned128;
__extension__ typedef __int128 Signed128;

int bits_of(DType t) { return size_of(t) * 8; }

/// Integer operands as 64-bit patterns; the result is wrapped to the type by the caller.
int64_t integer_op(ScalarOp op, int64_t a, int64_t b, DType type) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const bool is_unsigned = kind(type) == 'u' || kind(type) == 'b';
  switch (op) {
    case ScalarOp::add: return static_cast<int64_t>(ua + ub);
    case ScalarOp::sub: return static_cast<int64_t>(ua - ub);
    case ScalarOp::mul: return static_cast<int64_t>(ua * ub);
    case ScalarOp::floordiv: {
      if (b == 0) return 0;
      if (is_unsigned) return static_cast<int64_t>(ua / ub);
      if (b == -1) return static_cast<int64_t>(0 - ua);
      return a / b - (a % b != 0 && (a < 0) != (b < 0));
    }
    case ScalarOp::mod: {
      if (b == 0) return 0;
      if (is_unsigned) return static_cast<int64_t>(ua % ub);
      if (b == -1) return 0;
      const int64_t r = a % b;
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case ScalarOp::fmod:
      if (b == 0 || (!is_unsigned && b == -1)) return 0;
      return is_unsigned ? static_cast<int64_t>(ua % ub) : a % b;
    case ScalarOp::pow: {
      if (!is_unsigned && b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
      uint64_t result = 1, base = ua;
      for (uint64_t e = ub; e; e >>= 1, base *= base)
        if (e & 1) result *= base;
      return static_cast<int64_t>(result);
    }
    case ScalarOp::min:
    case ScalarOp::fmin: return is_unsigned ? static_cast<int64_t>(std::min(ua, ub)) : std::min(a, b);
    case ScalarOp::max:
    case ScalarOp::fmax: return is_unsigned ? static_cast<int64_t>(std::max(ua, ub)) : std::max(a, b);
    case ScalarOp::mulhi:
      if (bits_of(type) < 64) return is_unsigned ? static_cast<int64_t>(ua * ub >> bits_of(type)) : a * b >> bits_of(type);
      return is_unsigned ? static_cast<int64_t>(static_cast<Unsigned128>(ua) * ub >> 64)
                         : static_cast<int64_t>(static_cast<Signed128>(a) * b >> 64);
    case ScalarOp::bit_and: return a & b;
    case ScalarOp::bit_or: return a | b;
    case ScalarOp::bit_xor: return a ^ b;
    case ScalarOp::shl: return ub >= static_cast<uint64_t>(bits_of(type)) ? 0 : static_cast<int64_t>(ua << ub);
    case ScalarOp::shr:
      if (ub >= static_cast<uint64_t>(bits_of(type))) return !is_unsigned && a < 0 ? -1 : 0;
      return is_unsigned ? static_cast<int64_t>(ua >> ub) : a >> b;
    default: throw Error("SystemError", "no such integer operation", "", Blame::internal);
  }
}

template <class T>
T float_op(ScalarOp op, T a, T b, T c) {
  if (math::has(op)) return math::evaluate(op, a, b);
  switch (op) {
    case ScalarOp::add: return a + b;
    case ScalarOp::sub: return a - b;
    case ScalarOp::mul: return a * b;
    case ScalarOp::div:
    case ScalarOp::div_count: return a / b;
    case ScalarOp::mod: {
      if (b == 0) return std::numeric_limits<T>::quiet_NaN();
      const T r = std::fmod(a, b);
      if (r == 0) return std::copysign(T(0), b);
      return (r < 0) != (b < 0) ? r + b : r;
    }
    case ScalarOp::floordiv: {
      if (b == 0) return a / b;
      const T r = std::fmod(a, b);
      T q = (a - r) / b;
      if (r != 0 && (r < 0) != (b < 0)) q -= 1;
      if (q == 0) return std::copysign(T(0), a / b);
      const T f = std::floor(q);
      return q - f > T(0.5) ? f + 1 : f;
    }
    case ScalarOp::fmod: return std::fmod(a, b);
    case ScalarOp::neg: return -a;
    case ScalarOp::abs: return std::fabs(a);
    case ScalarOp::sign: return std::isnan(a) ? a : a > 0 ? T(1) : a < 0 ? T(-1) : T(0);
    case ScalarOp::min: return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
    case ScalarOp::max: return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;
    case ScalarOp::fmin: return std::isnan(a) ? b : std::isnan(b) ? a : a < b ? a : b;
    case ScalarOp::fmax: return std::isnan(a) ? b : std::isnan(b) ? a : a > b ? a : b;
    case ScalarOp::fma: return std::fma(a, b, c);
    case ScalarOp::copysign: return std::copysign(a, b);
    case ScalarOp::floor: return std::floor(a);
    case ScalarOp::ceil: return std::ceil(a);
    case ScalarOp::trunc: return std::trunc(a);
    case ScalarOp::rint: return std::nearbyint(a);
    case ScalarOp::sqrt: return std::sqrt(a);
    case ScalarOp::conj:
    case ScalarOp::real: return a;
    case ScalarOp::imag: return 0;
    default: throw Error("SystemError", "no such floating-point operation", "", Blame::internal);
  }
}

/// As NumPy divides: R. L. Smith, Algorithm 116, Communications of the ACM 5 (1962).
template <class T>
std::complex<T> quotient(std::complex<T> a, std::complex<T> b) {
  const T size_re = std::fabs(b.real()), size_im = std::fabs(b.imag());
  if (size_re == 0 && size_im == 0) return {a.real() / size_re, a.imag() / size_re};
  if (size_re >= size_im) {
    const T ratio = b.imag() / b.real(), scale = T(1) / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const T ratio = b.real() / b.imag(), scale = T(1) / (b.imag() + b.real() * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

/// Zeros in results may have the sign of a NaN, which processors and GPUs do not agree about.
template <class T>
std::complex<T> with_plain_nans(std::complex<T> a) {
  const auto plain = [](T x) { return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x; };
  return {plain(a.real()), plain(a.imag())};
}

template <class T>
std::complex<T> product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// a ** b as NumPy computes it: by products where b is a small whole number, and without a value where 0 is raised to what is not above 0.
template <class T>
std::complex<T> power(std::complex<T> a, std::complex<T> b) {
  constexpr T kNone = std::numeric_limits<T>::quiet_NaN();
  if (b == T(0)) return T(1);
  if (a == T(0)) return b.real() > 0 ? std::complex<T>(0) : std::complex<T>(kNone, kNone);
  const bool by_products = b.imag() == 0 && std::abs(b.real()) < 100 && b.real() == std::trunc(b.real());
  if (!by_products) return std::pow(a, b);
  const int n = static_cast<int>(b.real());
  if (n == 1) return a;
  if (n == 2) return product(a, a);
  if (n == 3) return product(a, product(a, a));
  std::complex<T> result(1);
  for (int rest = std::abs(n); rest > 0; rest >>= 1) {
    if (rest & 1) result = product(result, a);
    a = product(a, a);
  }
  return n < 0 ? quotient(std::complex<T>(1), result) : result;
}

template <class T>
std::complex<T> complex_op(ScalarOp op, std::complex<T> a, std::complex<T> b) {
  switch (op) {
    case ScalarOp::add: return a + b;
    case ScalarOp::sub: return a - b;
    case ScalarOp::mul: return product(a, b);
    case ScalarOp::div: return quotient(a, b);
    case ScalarOp::neg: return -a;
    case ScalarOp::conj: return std::conj(a);
    default: break;
  }
  a = with_plain_nans(a), b = with_plain_nans(b);
  switch (op) {
    case ScalarOp::pow: return power(a, b);
    case ScalarOp::sqrt: return std::sqrt(a);
    case ScalarOp::exp: return std::exp(a);
    case ScalarOp::log: return std::log(a);
    case ScalarOp::sin: return std::sin(a);
    case ScalarOp::cos: return std::cos(a);
    case ScalarOp::tan: return std::tan(a);
    case ScalarOp::asin: return std::asin(a);
    case ScalarOp::acos: return std::acos(a);
    case ScalarOp::atan: return std::atan(a);
    case ScalarOp::sinh: return std::sinh(a);
    case ScalarOp::cosh: return std::cosh(a);
    case ScalarOp::tanh: return std::tanh(a);
    case ScalarOp::asinh: return std::asinh(a);
    case ScalarOp::acosh: return std::acosh(a);
    case ScalarOp::atanh: return std::atanh(a);
    default: throw Error("SystemError", "no such complex operation", "", Blame::internal);
  }
}

template <class T>
bool compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::eq: return a == b;
    case ScalarOp::ne: return a != b;
    case ScalarOp::lt: return a < b;
    case ScalarOp::le: return a <= b;
    case ScalarOp::gt: return a > b;
    default: return a >= b;
  }
}

bool truth(const Scalar& v) { return v.is_integral() ? v.i != 0 : v.c != 0.0; }

Scalar boolean_result(ScalarOp op, const Scalar& a, const Scalar* operands) {
  const double x = a.c.real(), y = a.c.imag();
  const bool integral = a.is_integral();
  switch (op) {
    case ScalarOp::logical_and: return Scalar::of_bool(truth(a) && truth(operands[1]));
    case ScalarOp::logical_or: return Scalar::of_bool(truth(a) || truth(operands[1]));
    case ScalarOp::logical_xor: return Scalar::of_bool(truth(a) != truth(operands[1]));
    case ScalarOp::logical_not: return Scalar::of_bool(!truth(a));
    case ScalarOp::isnan: return Scalar::of_bool(!integral && (std::isnan(x) || std::isnan(y)));
    case ScalarOp::isinf: return Scalar::of_bool(!integral && (std::isinf(x) || std::isinf(y)));
    case ScalarOp::isfinite: return Scalar::of_bool(integral || (std::isfinite(x) && std::isfinite(y)));
    case ScalarOp::signbit: return Scalar::of_bool(integral ? is_signed(a.type) && a.i < 0 : std::signbit(x));
    default: break;
  }
  const Scalar& b = operands[1];
  if (is_complex(a.type)) return Scalar::of_bool((a.c == b.c) == (op == ScalarOp::eq));
  if (!integral) return Scalar::of_bool(compare(op, x, b.c.real()));
  if (a.type == DType::u64) return Scalar::of_bool(compare(op, static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i)));
  return Scalar::of_bool(compare(op, a.i, b.i));
}

}  // namespace

const ScalarOpInfo& info(ScalarOp op) { return kInfo[static_cast<size_t>(op)]; }

std::optional<ScalarOp> scalar_op_from_name(std::string_view name) {
  for (size_t k = 0; k < kInfo.size(); ++k)
    if (kInfo[k].name == name) return static_cast<ScalarOp>(k);
  return {};
}

bool accepts(ScalarOp op, DType operand) { return info(op).kinds.find(kind(operand)) != std::string_view::npos; }

DType result_type(ScalarOp op, DType operand) {
  switch (info(op).result) {
    case R::boolean: return DType::boolean;
    case R::real: return real_of(operand);
    case R::complex: return complex_of(operand);
    default: return operand;
  }
}

Scalar evaluate(ScalarOp op, const Scalar* operands) {
  const Scalar& a = operands[0];
  if (a.type == DType::f16) {  // float32's operation, rounded
    Scalar wide[3];
    for (int k = 0; k < info(op).arity; ++k) wide[k] = operands[k].cast(DType::f32);
    const Scalar result = evaluate(op, wide);
    return result.type == DType::f32 ? result.cast(DType::f16) : result;
  }
  if (op == ScalarOp::select) return truth(a) ? operands[1] : operands[2];
  if (op == ScalarOp::make_complex) return Scalar::of_complex({a.c.real(), operands[1].c.real()}, complex_of(a.type));
  if (info(op).result == R::boolean) return boolean_result(op, a, operands);
  const Scalar& b = info(op).arity > 1 ? operands[1] : a;
  if (a.is_integral()) {
    int64_t r;
    switch (op) {
      case ScalarOp::neg: r = static_cast<int64_t>(0 - static_cast<uint64_t>(a.i)); break;
      case ScalarOp::abs: r = is_signed(a.type) && a.i < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a.i)) : a.i; break;
      case ScalarOp::sign: r = is_signed(a.type) && a.i < 0 ? -1 : a.i != 0; break;
      case ScalarOp::bit_not: r = kind(a.type) == 'b' ? !a.i : ~a.i; break;
      case ScalarOp::conj:
      case ScalarOp::real:
      case ScalarOp::floor:
      case ScalarOp::ceil:
      case ScalarOp::trunc:
      case ScalarOp::rint: r = a.i; break;
      case ScalarOp::imag: r = 0; break;
      default: r = integer_op(op, a.i, b.i, a.type);
    }
    return Scalar::of_int(r, DType::i64).cast(a.type);
  }
  if (is_complex(a.type)) {
    const DType real = real_of(a.type);
    if (op == ScalarOp::real) return Scalar::of_float(a.c.real(), real);
    if (op == ScalarOp::imag) return Scalar::of_float(a.c.imag(), real);
    if (op == ScalarOp::abs)
      return Scalar::of_float(real == DType::f32
                                  ? math::evaluate(ScalarOp::hypot, static_cast<float>(a.c.real()), static_cast<float>(a.c.imag()))
                                  : math::evaluate(ScalarOp::hypot, a.c.real(), a.c.imag()),
                              real);
    if (real == DType::f32)
      return Scalar::of_complex(std::complex<double>(complex_op(op, std::complex<float>(a.c), std::complex<float>(b.c))), a.type);
    return Scalar::of_complex(complex_op(op, a.c, b.c), a.type);
  }
  const Scalar& c = info(op).arity > 2 ? operands[2] : a;
  if (a.type == DType::f32)
    return Scalar::of_float(float_op(op, static_cast<float>(a.c.real()), static_cast<float>(b.c.real()), static_cast<float>(c.c.real())),
                            a.type);
  return Scalar::of_float(float_op(op, a.c.real(), b.c.real(), c.c.real()), a.type);
}

}  // namespace gasell
