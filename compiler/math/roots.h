// cbrt, hypot.
//
// The first guess r of a^(-1/3) is a number whose bits are a constant less a third of a's (after W. Kahan, Computing a real cube root,
// 1991), found by a multiplication of those bits as a float. With e = 1 - a r^3, which is small, a^(-1/3) is r (1 - e)^(-1/3), and the cube
// root a r^2 (1 - e)^(-2/3): polynomials in e, of which doubles take the first beforehand, for a better r. In the last step r has few
// enough digits for its square to be exact, and a r^2 is kept with what its rounding loses. The polynomials' errors are below 2^-18 and
// 2^-66, of floats 2^-29.
//
// hypot is the root of the sum of squares with all that the larger square, the sum and the root lose.
#pragma once

#include "compiler/math/common.h"

namespace gasell::math {

/// Of a positive normal number.
template <class R>
R cbrt_of_normal(R a) {
  R r;
  if constexpr (is_single<R>) {
    const R third = fma(from_bits(a, (bits(a) >> 12) | 0x4b000000), -0x1.555556p-2, 0x1.5fe994p23);
    r = from_bits(a, bits(third) << 12);
  } else {
    const R third = fma(from_bits(a, (bits(a) >> 32) | 0x4330000000000000), -0x1.5555555555555p-2, 0x1.55555aa943ecep52);
    const R guess = from_bits(a, bits(third) << 32), e = fma(-(a * guess), guess * guess, 1.0);
    const R better = fma(guess * e, polynomial(e, {0x1.64401fdb8a95fp-3, 0x1.c9bc4b7eec35bp-3, 0x1.5555555555555p-2}), guess);
    r = from_bits(a, bits(better) & -(int64_t{1} << 27));
  }
  const R square = r * r;
  const Pair<R> c = product(a, square);
  const R e = fma(-c.lo, r, fma(-c.hi, r, 1.0));
  R p;
  if constexpr (is_single<R>)
    p = polynomial(e, e * e, {0x1.a0798ap-2, 0x1.b89bbap-2, 0x1.cf7d50p-2, 0x1.f9a176p-2, 0x1.1c71cap-1, 0x1.555558p-1});
  else
    p = polynomial(e, {0x1.f9add3c0ca458p-2, 0x1.1c71c71c71c72p-1, 0x1.5555555555555p-1});
  return c.hi + fma(c.hi * e, p, c.lo);
}

template <class R>
R cbrt(R x) {
  constexpr double kLargest = is_single<R> ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
  const R y = abs(x);
  const R result = rarely(~((y >= (is_single<R> ? 0x1p-126 : 0x1p-1022)) & (y <= kLargest)), cbrt_of_normal(y), [&] {
    return select((y > 0.0) & (y <= kLargest), cbrt_of_normal(y * (is_single<R> ? 0x1p24 : 0x1p54)) * (is_single<R> ? 0x1p-8 : 0x1p-18), y);
  });
  return copysign(result, x);
}

/// b <= a, whose squares are far from the ends of what R holds.
template <class R>
R root_of_squares(R a, R b) {
  const Pair<R> square = product(a, a);
  const R h = fma(b, b, square.hi), lost = fma(b, b, square.hi - h) + square.lo, root = sqrt(h);
  return fma(fma(-root, root, h) + lost, rough_reciprocal(root, -1), root);
}

template <class R>
R hypot(R x, R y) {
  constexpr double kUp = is_single<R> ? 0x1p70 : 0x1p600, kDown = is_single<R> ? 0x1p-70 : 0x1p-600;
  const R of_x = abs(x), of_y = abs(y);
  const auto swapped = of_x < of_y;
  const R a = select(swapped, of_y, of_x), b = select(swapped, of_x, of_y);
  const auto rare = [&] {
    const auto small = a < 1.0;
    const R scale = select(small, kUp, literal(x, kDown));
    const R result = root_of_squares(a * scale, b * scale) * select(small, kDown, literal(x, kUp));
    // Also beside NaN.
    return select((of_x == __builtin_inf()) | (of_y == __builtin_inf()), __builtin_inf(), result);
  };
  if constexpr (is_single<R>) {
    // By the power of two in a, which makes squares of nearly all floats numbers.
    const R up = from_bits(x, bits(a) & 0x7f800000), down = from_bits(x, (int64_t{254} << 23) - bits(up));
    return rarely(~((a >= 0x1p-126) & (a < 0x1p127)), root_of_squares(a * down, b * down) * up, rare);
  } else {
    return rarely(~((a > 0x1p-450) & (a < 0x1p500)), root_of_squares(a, b), rare);
  }
}

}  // namespace gasell::math
