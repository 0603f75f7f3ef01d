// exp, exp2, expm1.
//
// x = k ln2 + r with an integer k and |r| <= ln2 / 2; the reduced argument is kept with what its rounding loses, and so is 1 + r, to which
// a minimax polynomial of (e^r - 1 - r) / r^2 is added (Remez's exchange; its error is below 2^-57, 2^-28 for floats).
#pragma once

#include "compiler/math/common.h"

namespace gasell::math {

template <class R>
inline constexpr double kLn2 = is_single<R> ? 0x1.62e43p-1 : 0x1.62e42fefa39efp-1;
template <class R>
inline constexpr double kLn2Low = is_single<R> ? -0x1.05c61p-29 : 0x1.abc9e3b39803fp-56;

/// The nearest multiple of ln2, and what is left of x; exact: the first product with its subtraction loses nothing.
template <class R>
struct ReducedByLn2 {
  Whole<R> k;
  R r, lo;
};
template <class R>
ReducedByLn2<R> reduced_by_ln2(R x) {
  const Whole<R> k = rounded(x, 0x1.71547652b82fep0);
  const R first = fma(k.real, -kLn2<R>, x), r = fma(k.real, -kLn2Low<R>, first);
  return {k, r, fma(k.real, -kLn2Low<R>, first - r)};
}

/// e^(r + lo) - 1 - r.
template <class R>
R exp_tail(R r, R lo) {
  const R square = r * r;
  R p;
  if constexpr (is_single<R>)
    p = polynomial(r, {0x1.9e0328p-13, 0x1.6d438cp-10, 0x1.11130ap-7, 0x1.5554f0p-5, 0x1.555554p-3, 0x1p-1});
  else
    p = polynomial(r, square,
                   {0x1.af6ee586ebd03p-26, 0x1.28b12fe550e4bp-22, 0x1.71ddee3ecd7a3p-19, 0x1.a0199584f4af5p-16, 0x1.a01a01b455d91p-13,
                    0x1.6c16c18616ed7p-10, 0x1.111111110e9dep-7, 0x1.555555554fdd8p-5, 0x1.555555555555cp-3, 0x1.000000000000cp-1});
  return fma(square, p, lo);
}
/// e^(r + lo), of [-ln2 / 2, ln2 / 2].
template <class R>
R exp_reduced(R r, R lo) {
  const R hi = r + 1.0;
  return hi + ((r - (hi - 1.0)) + exp_tail(r, lo));
}

/// Where results, or what they are made of, are not normal numbers.
template <class R>
inline constexpr double kExpIsNormal = is_single<R> ? 87 : 708;

/// Numbers between these bounds, and NaN.
template <class R>
R bounded(R x, double low, double high) {
  const R y = select(x > high, high, x);
  return select(y < low, low, y);
}

/// e^x where beyond the bounds every result is infinity or 0.
template <class R>
R exp_of_any(R x) {
  const ReducedByLn2<R> far = reduced_by_ln2(is_single<R> ? bounded(x, -105, 90) : bounded(x, -748, 712));
  return scaled_far(exp_reduced(far.r, far.lo), far.k.integer);
}
/// Of floats the way for any number costs little more.
template <class R>
R exp(R x) {
  if constexpr (is_single<R>) {
    return exp_of_any(x);
  } else {
    const ReducedByLn2<R> usual = reduced_by_ln2(x);
    return rarely(~(abs(x) < kExpIsNormal<R>), scaled(exp_reduced(usual.r, usual.lo), usual.k.integer), [&] { return exp_of_any(x); });
  }
}

template <class R>
R exp2_fraction(R x, const Whole<R>& k) {
  const R f = x - k.real, r = f * kLn2<R>;
  return exp_reduced(r, fma(f, kLn2Low<R>, fma(f, kLn2<R>, -r)));
}
template <class R>
R exp2_of_any(R x) {
  const R y = is_single<R> ? bounded(x, -152, 130) : bounded(x, -1080, 1030);
  const Whole<R> k = rounded(y, 1.0);
  return scaled_far(exp2_fraction(y, k), k.integer);
}
template <class R>
R exp2(R x) {
  if constexpr (is_single<R>) {
    return exp2_of_any(x);
  } else {
    const Whole<R> k = rounded(x, 1.0);
    return rarely(~(abs(x) < 1022.0), scaled(exp2_fraction(x, k), k.integer), [&] { return exp2_of_any(x); });
  }
}

/// 2^k (1 + p) - 1 as (2^k - 1) + 2^k p, with what the difference loses where 2^k is large. Floats are halved until the end, so that 2^k is
/// one wherever the result is.
template <class R>
R expm1(R x) {
  constexpr double kOne = is_single<R> ? 0.5 : 1;
  const R y = is_single<R> ? bounded(x, -20, 89) : bounded(x, -50, __builtin_inf());  // below, e^x is too small to matter
  const ReducedByLn2<R> reduced = reduced_by_ln2(y);
  const R scale = power_of_two(x, is_single<R> ? reduced.k.integer - 1 : reduced.k.integer);
  const R whole = scale - kOne, lost = (scale - whole) - kOne;
  const Pair<R> sum = quick_sum(whole, scale * reduced.r);
  const R result = sum.hi + (fma(scale, exp_tail(reduced.r, reduced.lo), sum.lo) + lost);
  if constexpr (is_single<R>) {
    return select(abs(x) < 0x1p-24, x, result + result);  // also of -0
  } else {
    // Of -0 too.
    return rarely(~(abs(y) < kExpIsNormal<R>), select(reduced.k.integer == 0, copysign(result, x), result), [&] { return exp_of_any(x); });
  }
}

}  // namespace gasell::math
