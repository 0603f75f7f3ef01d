#include "stdlib/numpy/ufunc_compositions.h"

#include <cmath>
#include <numbers>

namespace gasell::numpy {
namespace {

using Operands = std::span<const NodeRef>;
using Results = std::span<NodeRef>;

NodeRef map(ScalarOp op, const NodeRef& a) { return graph::map(op, {a}); }
NodeRef map(ScalarOp op, const NodeRef& a, const NodeRef& b) { return graph::map(op, {a, b}); }
NodeRef choose(const NodeRef& condition, const NodeRef& a, const NodeRef& b) { return graph::map(ScalarOp::select, {condition, a, b}); }
NodeRef both(const NodeRef& a, const NodeRef& b) { return map(ScalarOp::logical_and, a, b); }
/// A number of the dtype of x.
NodeRef number(double value, const NodeRef& x) { return graph::constant(Scalar::of_float(value).cast(x->dtype)); }
NodeRef bits(uint64_t value) { return graph::constant(Scalar::of_int(static_cast<int64_t>(value), DType::u64)); }
NodeRef scaled(const NodeRef& x, double factor) { return map(ScalarOp::mul, x, number(factor, x)); }

NodeRef real(const NodeRef& x) { return map(ScalarOp::real, x); }
NodeRef imag(const NodeRef& x) { return map(ScalarOp::imag, x); }
NodeRef complex(const NodeRef& re, const NodeRef& im) { return map(ScalarOp::make_complex, re, im); }

/// Complex numbers are ordered by their real parts, then by their imaginary ones; those with a NaN in either part are not.
NodeRef lexicographic(ScalarOp strict, ScalarOp op, const NodeRef& a, const NodeRef& b) {
  const NodeRef ar = real(a), br = real(b), ai = imag(a), bi = imag(b);
  const NodeRef numbers = both(map(ScalarOp::eq, ai, ai), map(ScalarOp::eq, bi, bi));
  const NodeRef tie = both(map(ScalarOp::eq, ar, br), map(op, ai, bi));
  return map(ScalarOp::logical_or, both(map(strict, ar, br), numbers), tie);
}

NodeRef extreme(bool larger, bool keeps_nan, const NodeRef& a, const NodeRef& b) {
  const NodeRef first = lexicographic(larger ? ScalarOp::gt : ScalarOp::lt, larger ? ScalarOp::ge : ScalarOp::le, a, b);
  return choose(map(ScalarOp::logical_or, first, map(ScalarOp::isnan, keeps_nan ? a : b)), a, b);
}

/// x / |x|, part by part; zero for zero, along the real axis when the real part is infinite, along the other one when |x| is.
NodeRef direction(const NodeRef& x) {
  const NodeRef re = real(x), im = imag(x), size = map(ScalarOp::hypot, re, im), zero = number(0, re);
  const NodeRef infinite = map(ScalarOp::isinf, size), along_real = map(ScalarOp::isinf, re);
  const auto part = [&](const NodeRef& of, const NodeRef& at_infinity) {
    return choose(infinite, at_infinity, map(ScalarOp::div, of, size));
  };
  const NodeRef result =
      complex(part(re, choose(along_real, map(ScalarOp::sign, re), zero)), part(im, choose(along_real, zero, map(ScalarOp::sign, im))));
  const NodeRef undefined = both(along_real, map(ScalarOp::isinf, im));
  const NodeRef nan = graph::constant(Scalar::of_complex({NAN, NAN}).cast(x->dtype));
  return choose(map(ScalarOp::eq, x, number(0, x)), number(0, x), choose(undefined, nan, result));
}

/// Complex numbers to small whole powers are products, exact where those are: of 1 and the powers of two of x beyond the third, which
/// spreads NaN of infinities. Zero has no power below 0. Null: the exponent is no such number.
NodeRef whole_power(const NodeRef& x, const NodeRef& exponent) {
  const auto* c = exponent->as<graph::ConstantNode>();
  if (!c || c->value.c.imag() != 0 || std::abs(c->value.c.real()) >= 100 || std::trunc(c->value.c.real()) != c->value.c.real()) return {};
  const int n = static_cast<int>(c->value.c.real());
  const Shape shape = graph::broadcast_shapes({x->shape, exponent->shape});
  const NodeRef one = graph::constant(Scalar::of_float(1).cast(x->dtype), shape);
  const NodeRef nan = graph::constant(Scalar::of_complex({NAN, NAN}).cast(x->dtype), shape);
  NodeRef result = n < 0 || n > 3 ? one : NodeRef(), square = x;
  for (int left = std::abs(n); left; left >>= 1) {
    if (left & 1) result = result ? map(ScalarOp::mul, result, square) : square;
    if (left > 1) square = map(ScalarOp::mul, square, square);
  }
  if (!result) return one;
  if (n < 0) result = choose(map(ScalarOp::eq, x, number(0, x)), nan, map(ScalarOp::div, one, result));
  return graph::broadcast_to(result, shape);
}

/// exp(x) - 1 without the loss of digits near zero: its real part is expm1(re) cos(im) - 2 sin(im / 2)**2.
NodeRef complex_expm1(const NodeRef& x) {
  const NodeRef re = real(x), im = imag(x), half = map(ScalarOp::sin, scaled(im, 0.5));
  const NodeRef first = map(ScalarOp::mul, map(ScalarOp::expm1, re), map(ScalarOp::cos, im));
  return complex(map(ScalarOp::sub, first, scaled(map(ScalarOp::mul, half, half), 2)),
                 map(ScalarOp::mul, map(ScalarOp::exp, re), map(ScalarOp::sin, im)));
}

NodeRef complex_log1p(const NodeRef& x) {
  const NodeRef re = map(ScalarOp::add, real(x), number(1, real(x))), im = imag(x);
  return complex(map(ScalarOp::log, map(ScalarOp::hypot, re, im)), map(ScalarOp::atan2, im, re));
}

/// 1 / x by the quotient of the lesser part and the greater one, whose squares may overflow.
NodeRef complex_reciprocal(const NodeRef& x) {
  const NodeRef re = real(x), im = imag(x), one = number(1, re), minus_one = number(-1, re);
  const NodeRef wide = map(ScalarOp::le, map(ScalarOp::abs, im), map(ScalarOp::abs, re));
  const NodeRef greater = choose(wide, re, im), lesser = choose(wide, im, re), ratio = map(ScalarOp::div, lesser, greater);
  const NodeRef size = map(ScalarOp::add, greater, map(ScalarOp::mul, lesser, ratio));
  return complex(map(ScalarOp::div, choose(wide, one, ratio), size),
                 map(ScalarOp::div, choose(wide, map(ScalarOp::neg, ratio), minus_one), size));
}

/// Both parts of x times a real factor.
NodeRef scaled_parts(const NodeRef& x, double factor) { return complex(scaled(real(x), factor), scaled(imag(x), factor)); }

/// log(base**x + base**y) without overflow.
NodeRef log_of_sum(const NodeRef& x, const NodeRef& y, ScalarOp exponential, double log_two, double scale) {
  const NodeRef apart = map(ScalarOp::neg, map(ScalarOp::abs, map(ScalarOp::sub, x, y)));
  const NodeRef rest = scaled(map(ScalarOp::log1p, map(exponential, apart)), scale);
  return choose(map(ScalarOp::eq, x, y), map(ScalarOp::add, x, number(log_two, x)), map(ScalarOp::add, map(ScalarOp::max, x, y), rest));
}

}  // namespace

NodeRef complex_operation(ScalarOp op, Operands x) {
  switch (op) {
    case ScalarOp::pow: return whole_power(x[0], x[1]);
    case ScalarOp::lt:
    case ScalarOp::le: return lexicographic(ScalarOp::lt, op, x[0], x[1]);
    case ScalarOp::gt:
    case ScalarOp::ge: return lexicographic(ScalarOp::gt, op, x[0], x[1]);
    case ScalarOp::max: return extreme(true, true, x[0], x[1]);
    case ScalarOp::min: return extreme(false, true, x[0], x[1]);
    case ScalarOp::fmax: return extreme(true, false, x[0], x[1]);
    case ScalarOp::fmin: return extreme(false, false, x[0], x[1]);
    case ScalarOp::sign: return direction(x[0]);
    case ScalarOp::rint: return complex(map(op, real(x[0])), map(op, imag(x[0])));
    case ScalarOp::exp2: return map(ScalarOp::exp, scaled_parts(x[0], std::numbers::ln2));
    case ScalarOp::expm1: return complex_expm1(x[0]);
    case ScalarOp::log2: return scaled_parts(map(ScalarOp::log, x[0]), std::numbers::log2e);
    case ScalarOp::log10: return scaled_parts(map(ScalarOp::log, x[0]), std::numbers::log10e);
    case ScalarOp::log1p: return complex_log1p(x[0]);
    default: return {};
  }
}

namespace compositions {

void positive(Interpreter*, Operands x, Results result) { result[0] = x[0]; }

void square(Interpreter*, Operands x, Results result) { result[0] = map(ScalarOp::mul, x[0], x[0]); }

/// Of integers NumPy casts the float quotient: towards zero, and 1 / 0 to what the cast makes of infinity.
void reciprocal(Interpreter*, Operands x, Results result) {
  if (is_complex(x[0]->dtype)) {
    result[0] = complex_reciprocal(x[0]);
    return;
  }
  const NodeRef divisor = is_integer(x[0]->dtype) ? graph::cast(x[0], DType::f64) : x[0];
  result[0] = graph::cast(map(ScalarOp::div, number(1, divisor), divisor), x[0]->dtype);
}

/// Factors are quotients of numbers of the dtype, as NumPy's are.
void degrees(Interpreter*, Operands x, Results result) {
  result[0] = scaled(x[0], x[0]->dtype == DType::f32 ? 180.0F / std::numbers::pi_v<float> : 180.0 / std::numbers::pi);
}
void radians(Interpreter*, Operands x, Results result) {
  result[0] = scaled(x[0], x[0]->dtype == DType::f32 ? std::numbers::pi_v<float> / 180.0F : std::numbers::pi / 180.0);
}

/// 0 for negative numbers, the second operand for zero, 1 for positive ones.
void heaviside(Interpreter*, Operands x, Results result) {
  const NodeRef zero = number(0, x[0]);
  const NodeRef step = choose(map(ScalarOp::lt, x[0], zero), zero, number(1, x[0]));
  result[0] = choose(map(ScalarOp::isnan, x[0]), x[0], choose(map(ScalarOp::eq, x[0], zero), x[1], step));
}

void logaddexp(Interpreter*, Operands x, Results result) { result[0] = log_of_sum(x[0], x[1], ScalarOp::exp, std::numbers::ln2, 1); }
void logaddexp2(Interpreter*, Operands x, Results result) { result[0] = log_of_sum(x[0], x[1], ScalarOp::exp2, 1, std::numbers::log2e); }

/// Three fifths of a float16's distance to the next one, for numbers from 1 on, and up to six fifths below 2, lead by rounding to the next
/// one and no further; below the normal numbers the distance is one.
NodeRef half_neighbour(const NodeRef& x, const NodeRef& y) {
  const NodeRef size = map(ScalarOp::abs, x);
  const NodeRef step = map(ScalarOp::max, scaled(size, 0.6 * 0x1p-10), number(0.6 * 0x1p-24, x));
  const NodeRef moved = choose(map(ScalarOp::gt, y, x), map(ScalarOp::add, x, step), map(ScalarOp::sub, x, step));
  const NodeRef from_infinity = map(ScalarOp::copysign, number(65504, x), x);
  const NodeRef next = choose(map(ScalarOp::isinf, x), from_infinity, moved);
  const NodeRef stays = map(ScalarOp::logical_or, map(ScalarOp::isnan, x), map(ScalarOp::eq, x, y));
  return choose(stays, x, choose(map(ScalarOp::isnan, y), y, next));
}

NodeRef half_spacing(const NodeRef& x) {
  const NodeRef above = graph::cast(graph::cast(half_neighbour(x, number(INFINITY, x)), DType::f16), x->dtype);
  return choose(map(ScalarOp::isfinite, x), map(ScalarOp::sub, above, x), number(NAN, x));
}

/// The distance to the next number away from zero, with the number's sign; of either zero it is above.
void spacing(Interpreter*, Operands x, Results result) {
  const NodeRef sign = choose(map(ScalarOp::eq, x[0], number(0, x[0])), number(1, x[0]), x[0]);
  const NodeRef away = map(ScalarOp::copysign, number(INFINITY, x[0]), sign);
  const NodeRef distance = map(ScalarOp::sub, map(ScalarOp::nextafter, x[0], away), x[0]);
  result[0] = choose(map(ScalarOp::isfinite, x[0]), distance, number(NAN, x[0]));
}

/// Ones in the binary form of the magnitude: sums of neighbours, of one bit, of two, of four; then of all bytes by a product.
void bitwise_count(Interpreter*, Operands x, Results result) {
  NodeRef n = x[0];
  if (is_signed(n->dtype))
    n = graph::cast(map(ScalarOp::abs, n),
                    static_cast<DType>(static_cast<int>(n->dtype) + static_cast<int>(DType::u8) - static_cast<int>(DType::i8)));
  n = graph::cast(n, DType::u64);
  const auto shifted = [](const NodeRef& a, uint64_t by) { return map(ScalarOp::shr, a, bits(by)); };
  const auto masked = [](const NodeRef& a, uint64_t mask) { return map(ScalarOp::bit_and, a, bits(mask)); };
  n = map(ScalarOp::sub, n, masked(shifted(n, 1), 0x5555555555555555));
  n = map(ScalarOp::add, masked(n, 0x3333333333333333), masked(shifted(n, 2), 0x3333333333333333));
  n = masked(map(ScalarOp::add, n, shifted(n, 4)), 0x0f0f0f0f0f0f0f0f);
  result[0] = graph::cast(shifted(map(ScalarOp::mul, n, bits(0x0101010101010101)), 56), DType::u8);
}

/// The fractional and the whole part, both with the sign of the number.
void modf(Interpreter*, Operands x, Results result) {
  const NodeRef whole = map(ScalarOp::trunc, x[0]);
  const NodeRef fraction = choose(map(ScalarOp::isinf, x[0]), number(0, x[0]), map(ScalarOp::sub, x[0], whole));
  result[0] = map(ScalarOp::copysign, fraction, x[0]);
  result[1] = whole;
}

void divmod(Interpreter*, Operands x, Results result) {
  result[0] = map(ScalarOp::floordiv, x[0], x[1]);
  result[1] = map(ScalarOp::mod, x[0], x[1]);
}

}  // namespace compositions
}  // namespace gasell::numpy
