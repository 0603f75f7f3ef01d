// sinh, cosh, tanh, asinh, acosh, atanh.
//
// With x = k ln2 + r (exponential.h), A = 2^(k-1) and B = 2^(-k-1):
//   sinh x = (A - B) cosh r + (A + B) sinh r,   cosh x = (A + B) cosh r + (A - B) sinh r,
// where A - B and A + B are all but exact and the functions of r are short minimax polynomials in r^2 of one sign (errors below 2^-57, of
// floats 2^-33). tanh is the quotient of e^2x - 1 and e^2x + 1, each kept with what its rounding loses, of floats 1 - 2 / (e^2x + 1), or a
// polynomial where that is small (error below 2^-29). asinh and acosh are logarithms of x + sqrt(x^2 +- 1), the sum and the root with what
// they lose. atanh takes the nearest power of two, 2^k, out of (1 + x) / (1 - x), which is to take k/2 ln2 out of the result: by tanh's
// addition theorem what remains is atanh of a small quotient, a minimax polynomial (errors below 2^-61, of floats 2^-28). All work with
// |x|: they are even or odd.
#pragma once

#include "compiler/math/common.h"
#include "compiler/math/exponential.h"
#include "compiler/math/logarithm.h"

namespace gasell::math {

/// e^y / 2 of a large y.
template <class R>
R half_exp_of_large(R y) {
  const ReducedByLn2<R> far = reduced_by_ln2(select(y > 713.0, 713.0, y));
  return scaled_far(exp_reduced(far.r, far.lo), far.k.integer - 1);
}

/// Of floats A and B are halved until the end, so that A is a number wherever the result is.
template <class R>
R sinh_or_cosh(R x, bool cosine) {
  using F = Format<R>;
  constexpr int64_t kLess = is_single<R> ? 2 : 1;
  const R y = is_single<R> ? select(abs(x) > 89.6, 89.6, abs(x)) : abs(x);
  const ReducedByLn2<R> reduced = reduced_by_ln2(y);
  const R r = reduced.r, z = r * r, a = power_of_two(x, reduced.k.integer - kLess);
  R b = from_bits(x, ((2 * F::kBias - 2 * kLess) << F::kFraction) - bits(a));
  if constexpr (is_single<R>) b = select(y < 60.0, b, 0.0);  // too small to matter, or to be a number
  const R difference = a - b, total = a + b;
  R s, c;  // sinh r = r + r z s, cosh r = 1 + z c
  if constexpr (is_single<R>) {
    s = polynomial(z, {0x1.a28f22p-13, 0x1.110fe2p-7, 0x1.555556p-3});
    c = polynomial(z, {0x1.6d5168p-10, 0x1.5554e4p-5, 0x1p-1});
  } else {
    s = polynomial(z, z * z,
                   {0x1.af5a4a725ef93p-26, 0x1.71ddfb29041f8p-19, 0x1.a01a01ae9fe71p-13, 0x1.111111110fa69p-7, 0x1.5555555555558p-3});
    c = polynomial(z, z * z,
                   {0x1.28ad47b61b61ep-22, 0x1.a0199a68d02a3p-16, 0x1.6c16c183ee849p-10, 0x1.5555555550a4fp-5, 0x1.0000000000009p-1});
  }
  const R of_cosh = cosine ? total : difference, of_sinh = cosine ? difference : total;
  const R lost = cosine ? b - (total - a) : (a - difference) - b;
  const Pair<R> p = product(of_sinh, r), large = quick_sum(of_cosh, p.hi);
  const R small = fma(of_sinh, fma(r * z, s, reduced.lo), fma(of_cosh, z * c, p.lo + lost));
  const R usual = large.hi + (large.lo + small);
  if constexpr (is_single<R>) {
    const R result = usual + usual;
    return cosine ? result : copysign(select(y < 0x1p-13, y, result), x);
  } else {
    const R result = rarely(~(y < kExpIsNormal<R>), usual, [&] { return half_exp_of_large(y); });
    return cosine ? result : copysign(result, x);
  }
}

template <class R>
R sinh(R x) {
  return sinh_or_cosh(x, false);
}
template <class R>
R cosh(R x) {
  return sinh_or_cosh(x, true);
}

template <class R>
R tanh(R x) {
  const R y = abs(x);
  const ReducedByLn2<R> reduced = reduced_by_ln2(select(y > (is_single<R> ? 10.0 : 20.0), is_single<R> ? 20.0 : 40.0, y + y));
  const R scale = power_of_two(x, reduced.k.integer);
  if constexpr (is_single<R>) {
    const R z = y * y, e = fma(scale, reduced.r + exp_tail(reduced.r, literal(x, 0.0)), scale + 1.0);
    const R p = polynomial(z, z * z,
                           {-0x1.dc9ec8p-12, 0x1.52342ap-9, -0x1.0ebca2p-7, 0x1.62eb34p-6, -0x1.b9c98ep-5, 0x1.110f34p-3, -0x1.55554ep-2});
    return copysign(select(y < 0.9, fma(y * z, p, y), 1.0 - 2.0 / e), x);
  } else {
    const R tail = exp_tail(reduced.r, reduced.lo);
    const Pair<R> first = quick_sum(scale - 1.0, scale * reduced.r), above = quick_sum(first.hi, fma(scale, tail, first.lo));
    const R below = above.hi + 2.0, below_lo = (above.hi - (below - 2.0)) + above.lo;
    const R reciprocal = 1.0 / below, quotient = above.hi * reciprocal;
    const R left = fma(-quotient, below, above.hi) + fma(-quotient, below_lo, above.lo);
    return copysign(fma(left, reciprocal, quotient), x);
  }
}

/// log(2 x) of large numbers, infinity and NaN.
template <class R>
R log_of_double(R x) {
  const Split<R> s = split(x);
  return select(x <= (is_single<R> ? 0x1.fffffep127 : 0x1.fffffffffffffp1023), log_of(Split<R>{s.k + 1.0, s.f}, literal(x, 0.0)), x);
}
template <class R>
inline constexpr double kSquareIsFinite = is_single<R> ? 0x1p60 : 0x1p500;

template <class R>
R asinh(R x) {
  const R y = abs(x), square = fma(y, y, 1.0), root = sqrt(square);
  const R rest = (fma(-root, root, square) + fma(y, y, 1.0 - square)) * (0.5 / root);
  const Pair<R> s = quick_sum(root, y);
  const R usual = log_of_sum(s.hi, s.lo + rest);
  const R result = rarely(~(y < kSquareIsFinite<R>), usual, [&] { return log_of_double(y); });
  return copysign(select(y < (is_single<R> ? 0x1p-13 : 0x1p-28), y, result), x);
}

/// x^2 - 1 = t^2 + 2 t with t = x - 1.
template <class R>
R acosh(R x) {
  const R t = x - 1.0, twice = t + t, square = fma(t, t, twice), root = sqrt(square);
  // A root of 0 is exact.
  const R rest = (fma(-root, root, square) + fma(t, t, twice - square)) * (0.5 / (root + (is_single<R> ? 0x1p-100 : 0x1p-1000)));
  const Pair<R> s = quick_sum(x, root);
  return rarely(~((x >= 1.0) & (x < kSquareIsFinite<R>)), log_of_sum(s.hi, s.lo + rest),
                [&] { return select(x < 1.0, __builtin_nan(""), log_of_double(x)); });
}

template <class R>
R atanh(R x) {
  using F = Format<R>;
  const R y = abs(x), plus = y + 1.0, minus = 1.0 - y;
  // The exponent of the quotient, to the nearest by what is nearly a logarithm: the bits.
  const auto k = (bits(plus) - bits(minus) + (int64_t{1} << (F::kFraction - 1))) & -(int64_t{1} << F::kFraction);
  const R scale = from_bits(x, k + (F::kBias << F::kFraction)), other = from_bits(x, bits(minus) + k);
  const R plus_lo = y - (plus - 1.0), minus_lo = ((1.0 - minus) - y) * scale;
  // (plus - 2^k minus) / (plus + 2^k minus); the difference is exact, and twice `plus` less it is the sum.
  const R above = plus - other, above_lo = plus_lo - minus_lo;
  const R below = plus + other, below_lo = (((plus + plus) - below) - above) + (plus_lo + minus_lo);
  const R reciprocal = 1.0 / below, s = above * reciprocal, z = s * s;
  const R rest = (fma(-s, below, above) + fma(-s, below_lo, above_lo)) * reciprocal;
  R p;
  if constexpr (is_single<R>)
    p = polynomial(z, {0x1.372304p-3, 0x1.9927eap-3, 0x1.5555b8p-2});
  else
    p = polynomial(z, z * z,
                   {0x1.1b561aaf13de8p-4, 0x1.0dd495d7a57dcp-4, 0x1.3b3504f949090p-4, 0x1.745c52aff6f6dp-4, 0x1.c71c7461df456p-4,
                    0x1.249249222d1d3p-3, 0x1.999999999ba65p-3, 0x1.5555555555551p-2});
  const R halves = real_of(x, k >> F::kFraction);
  const Pair<R> large = quick_sum(halves * (0.5 * kLn2Short<R>), s);
  const R usual = large.hi + (large.lo + fma(s * z, p, fma(halves, 0.5 * kLn2Rest<R>, rest)));
  const R result = rarely(~(y < 1.0), usual, [&] { return select(y == 1.0, __builtin_inf(), select(y > 1.0, __builtin_nan(""), y)); });
  return copysign(select(y < (is_single<R> ? 0x1p-13 : 0x1p-28), y, result), x);
}

}  // namespace gasell::math
