// asin, acos, atan, atan2.
//
// asin s = s + s^3 P(s^2) where |s| <= 1/2; beyond, asin x = pi/2 - 2 asin s with s = sqrt((1 - x) / 2), as in fdlibm's e_asin.c (Sun
// Microsystems, 1993), the root with what it loses. atan q = q + q^3 P(q^2), where q is the one of y / x, (y - x) / (y + x) and -x / y in
// [-1/2, 1/2], with the division's remainder; it is added to 0, pi/4 or pi/2, as in fdlibm's s_atan.c, which has more cases. Multiples of
// pi/4 are in two parts. The minimax polynomials' errors are below 2^-59 (asin) and 2^-57 (atan) of the result, of floats 2^-27.
#pragma once

#include "compiler/math/common.h"

namespace gasell::math {

template <class R>
inline constexpr double kHalfPi = is_single<R> ? 0x1.921fb6p0 : 0x1.921fb54442d18p0;
template <class R>
inline constexpr double kHalfPiLow = is_single<R> ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54;

/// base + s + s z P(z) + rest, where z = s^2 or, where s is twice a root, its fourth part.
template <class R>
R arcsine(const Pair<R>& base, R s, R z, R rest) {
  R p;
  if constexpr (is_single<R>)
    p = polynomial(z, z * z, {0x1.555268p-5, 0x1.9180b2p-6, 0x1.73e1e8p-5, 0x1.330928p-4, 0x1.5555acp-3});
  else
    p = polynomial(z, z * z,
                   {0x1.0b892132f79b2p-5, -0x1.58be48d59f8e0p-6, 0x1.6417a46a84e04p-6, 0x1.e487d8ba6da86p-9, 0x1.61527946ef3e2p-7,
                    0x1.7581f2e1ea2e0p-7, 0x1.ca1ff76aeb7ffp-7, 0x1.1c49ebf8ed269p-6, 0x1.6e8bdf237506dp-6, 0x1.f1c71a921cf32p-6,
                    0x1.6db6db721c780p-5, 0x1.333333332dfefp-4, 0x1.5555555555578p-3});
  const Pair<R> large = quick_sum(base.hi, s);
  return large.hi + (large.lo + (fma(s * z, p, rest) + base.lo));
}

/// The square root of (1 - y) / 2, twice, and what it loses, with the sign of `sign`.
template <class R>
struct HalfArc {
  R square, twice, rest;
};
template <class R>
HalfArc<R> half_arc(R y, R sign) {
  const R square = fma(y, -0.5, 0.5), root = sqrt(square);
  return {square, copysign(root + root, sign), fma(-root, root, square) * copysign(rough_reciprocal(root), sign)};
}

template <class R>
R asin(R x) {
  const R y = abs(x);
  const HalfArc<R> half = half_arc(y, literal(x, -1.0));
  const auto far = y > 0.5;
  const Pair<R> base{select(far, kHalfPi<R>, literal(x, 0.0)), select(far, kHalfPiLow<R>, literal(x, 0.0))};
  const R result = arcsine(base, select(far, half.twice, y), select(far, half.square, y * y), select(far, half.rest, 0.0));
  return copysign(result, x);
}

template <class R>
R acos(R x) {
  const HalfArc<R> half = half_arc(abs(x), x);
  const auto far = abs(x) > 0.5, left = x < 0.0;
  const Pair<R> whole{select(left, 2 * kHalfPi<R>, literal(x, 0.0)), select(left, 2 * kHalfPiLow<R>, literal(x, 0.0))};
  const Pair<R> base{select(far, whole.hi, kHalfPi<R>), select(far, whole.lo, kHalfPiLow<R>)};
  return arcsine(base, select(far, half.twice, -x), select(far, half.square, x * x), select(far, half.rest, 0.0));
}

/// The angle of the point (x, y), |x| = below and |y| = above: from that of (x, 0), `near`, from that of (x, |x|), `diagonal`, or from
/// pi/2. `sign` is that of x.
template <class R, class Integer>
R angle_of(R above, R below, const Pair<R>& near, const Pair<R>& diagonal, Integer sign) {
  const R twice = below + below, difference = above - below, total = above + below;
  const auto far = twice < above, middle = below * 0.5 < above;
  const R dividend = select(far, -below, select(middle, difference, above)), divisor = select(far, above, select(middle, total, below));
  const R lost = select(middle & ~far, (twice - total) + difference, 0.0);  // the difference is exact, and with twice x it is the sum
  const Pair<R> base{select(far, kHalfPi<R>, select(middle, diagonal.hi, near.hi)),
                     select(far, kHalfPiLow<R>, select(middle, diagonal.lo, near.lo))};
  const R size = dividend / divisor, rest = fma(-size, lost, fma(-size, divisor, dividend)) * rough_reciprocal(divisor), z = size * size;
  R p;
  if constexpr (is_single<R>)
    p = polynomial(z, z * z, {-0x1.a3cf1ap-5, 0x1.9ff706p-4, -0x1.224926p-3, 0x1.997afcp-3, -0x1.555512p-2});
  else
    p = polynomial(z, z * z,
                   {0x1.4ac782f6b99abp-7, -0x1.c0f65b57f65a9p-6, 0x1.56ca1c59a56e3p-5, -0x1.a3888dc39e529p-5, 0x1.dfe5d987a7c78p-5,
                    -0x1.10f2da03b6ebep-4, 0x1.3b1136fd9635ap-4, -0x1.745cf45e92e67p-4, 0x1.c71c708cc9b84p-4, -0x1.24924921532cdp-3,
                    0x1.9999999990fe2p-3, -0x1.5555555555516p-2});
  const R q = from_bits(size, bits(size) ^ sign);
  const Pair<R> large = quick_sum(base.hi, q);
  return large.hi + (large.lo + (fma(q * z, p, from_bits(rest, bits(rest) ^ sign)) + base.lo));
}

template <class R>
R atan(R x) {
  const R y = abs(x), zero = literal(x, 0.0);
  const Pair<R> near{zero, zero}, diagonal{literal(x, 0.5 * kHalfPi<R>), literal(x, 0.5 * kHalfPiLow<R>)};
  // Beyond 2^60 it is pi/2.
  return copysign(angle_of(select(y > 0x1p60, 0x1p60, y), literal(x, 1.0), near, diagonal, bits(zero)), x);
}

template <class R>
R atan2(R y, R x) {
  constexpr double kInfinity = __builtin_inf(), kLeast = is_single<R> ? 0x1p-100 : 0x1p-900, kLargest = is_single<R> ? 0x1p100 : 0x1p900;
  constexpr double kThreeEighths = is_single<R> ? 0x1.2d97c8p1 : 0x1.2d97c7f3321d2p1;
  constexpr double kThreeEighthsLow = is_single<R> ? -0x1.99bc5cp-28 : 0x1.a79394c9e8a0ap-54;
  const R above = abs(y), below = abs(x), larger = select(below < above, above, below), zero = literal(x, 0.0);
  const auto sign = bits(x) & Format<R>::kSign;
  const auto left = bits(x) < 0;
  const Pair<R> near{select(left, 2 * kHalfPi<R>, zero), select(left, 2 * kHalfPiLow<R>, zero)};
  const Pair<R> diagonal{select(left, kThreeEighths, literal(x, 0.5 * kHalfPi<R>)),
                         select(left, kThreeEighthsLow, literal(x, 0.5 * kHalfPiLow<R>))};
  const R usual = angle_of(above, below, near, diagonal, sign);
  const R result = rarely(~((larger > kLeast) & (larger < kLargest)), usual, [&] {
    const R scale = select(larger < 1.0, is_single<R> ? 0x1p60 : 0x1p600, literal(x, is_single<R> ? 0x1p-60 : 0x1p-600));
    const auto infinite = (above == kInfinity) | (below == kInfinity);
    // 0 / 0 is 0 here and infinity / infinity 1.
    const auto size = [&](R of) { return select(infinite, select(of == kInfinity, 1.0, of * 0.0), of * scale); };
    return angle_of(size(above), select(larger == 0.0, 1.0, size(below)), near, diagonal, sign);
  });
  return copysign(result, y);
}

}  // namespace gasell::math
