// sin, cos, tan.
//
// sin and cos: x = h pi + r with |r| <= pi/2, by a Cody-Waite subtraction in three parts, kept with what its roundings lose; then one
// minimax polynomial of (sin r - r) / r^3. tan: x = k pi/2 + r with |r| <= pi/4, and the quotient of two polynomials, those of
// (sin r - r) / r^3 and (cos r - 1 + r^2/2) / r^4. The polynomials' errors are below 2^-57 of the result, 2^-30 for floats. Large
// arguments: large_arguments.h.
#pragma once

#include "compiler/math/common.h"
#include "compiler/math/large_arguments.h"

namespace gasell::math {

/// x - h p of a number p in three parts. The first step loses nothing (at most half a unit where x is below 2); of floats, of which many
/// are near a multiple, the second keeps all that it loses.
template <class R>
Pair<R> without_multiple(R x, R h, const double (&parts)[3]) {
  const R first = fma(h, -parts[0], x);
  if constexpr (is_single<R>) {
    // parts[1] is negative: of no multiples 0 - h makes a product of -0, to which a first of -0 adds up to -0.
    const Pair<R> second = product(0.0 - h, literal(x, parts[1])), rest = sum(first, second.hi);
    return {rest.hi, fma(h, -parts[2], rest.lo + second.lo)};
  } else {
    const R r = fma(h, -parts[1], first);
    return {r, fma(h, -parts[2], fma(h, -parts[1], first - r))};
  }
}

/// For arguments below kQuarterTurnsKnown.
template <class R>
QuarterTurns<R> quarter_turns(R x) {
  constexpr double kParts[] = {is_single<R> ? 0x1.921fb6p0 : 0x1.921fb54442d18p0, is_single<R> ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54,
                               is_single<R> ? -0x1.ee59dap-50 : -0x1.f1976b7ed8fbcp-110};
  const Whole<R> k = rounded(x, 0x1.45f306dc9c883p-1);
  const Pair<R> rest = without_multiple(x, k.real, kParts);
  return {k.integer, rest.hi, rest.lo};
}
template <class R>
inline constexpr double kQuarterTurnsKnown = is_single<R> ? 0x1p17 : 0x1p30;

/// What is to be added to r, and to 1 - r^2/2 (with what that loses).
template <class R>
R sin_tail(const QuarterTurns<R>& q, R z) {
  R p;
  if constexpr (is_single<R>)
    p = polynomial(z, z * z, {0x1.766a62p-19, -0x1.a0436p-13, 0x1.11116p-7, -0x1.555556p-3});
  else
    p = polynomial(z, z * z,
                   {0x1.5d9e1ac4b6accp-33, -0x1.ae5e91fea3e5ep-26, 0x1.71de35b8f3169p-19, -0x1.a01a019c6c15ep-13, 0x1.111111110fc0bp-7,
                    -0x1.555555555554cp-3});
  return fma(q.r * z, p, fma(q.lo, z * -0.5, q.lo));
}
template <class R>
Pair<R> cos_of(const QuarterTurns<R>& q, R z) {
  R p;
  if constexpr (is_single<R>)
    p = polynomial(z, z * z, {0x1.9a479ap-16, -0x1.6c0deep-10, 0x1.55554ep-5});
  else
    p = polynomial(z, z * z,
                   {-0x1.8fe6153a97c8ep-37, 0x1.1eea60aa88622p-29, -0x1.27e4f8c75f1aep-22, 0x1.a01a019dd787fp-16, -0x1.6c16c16c15ef4p-10,
                    0x1.5555555555553p-5});
  const R half = z * 0.5, hi = 1.0 - half;
  // What the square loses matters as well.
  const R lost = fma(q.r, q.lo, fma(q.r, q.r, -z) * 0.5);
  return {hi, ((1.0 - hi) - half) + fma(z * z, p, -lost)};
}

/// The sine of r + lo in [-pi/2, pi/2]: r (1 - z/6 + z^2 p), z = r^2, of which the large parts carry what their roundings lose.
template <class R>
R sin_of(R r, R lo) {
  const R z = r * r;
  R p;
  if constexpr (is_single<R>)
    p = polynomial(z, z * z, {-0x1.ad1516p-26, 0x1.726a4ap-19, -0x1.a02112p-13, 0x1.11113p-7});
  else
    p = polynomial(z, z * z,
                   {0x1.8832dec476f43p-49, -0x1.ae43864cf9675p-41, 0x1.6123cd0d720efp-33, -0x1.ae6454d487f06p-26, 0x1.71de3a52a0ce7p-19,
                    -0x1.a01a01a014d71p-13, 0x1.11111111110c8p-7});
  constexpr double kThird = is_single<R> ? -0x1.555556p-3 : -0x1.5555555555555p-3;
  const R sixth = z * kThird, lost = fma(fma(r, r, -z), kThird, fma(z, kThird, -sixth));
  const Pair<R> large = product(r, sixth), sine = quick_sum(r, large.hi);
  const R slope = is_single<R> ? fma(z, fma(z, 0x1.555555p-5, -0.5), 1.0) : fma(z, -0.405, 1.0);  // about the cosine
  const R s = sine.hi + (sine.lo + fma(r, fma(z * z, p, lost), fma(lo, slope, large.lo)));
  return copysign(s, r);  // also of -0
}

/// x - h pi, and the sign that an odd h gives: h is the nearest integer, or (of the cosine, which is the sine a quarter turn on) integer
/// and a half.
template <class R>
R sin_of_half_turns(R x, bool cosine) {
  using F = Format<R>;
  constexpr double kParts[] = {is_single<R> ? 0x1.921fb6p1 : 0x1.921fb54442d18p1, is_single<R> ? -0x1.777a5cp-24 : 0x1.1a62633145c07p-53,
                               is_single<R> ? -0x1.ee59dap-49 : -0x1.f1976b7ed8fbcp-109};
  constexpr double kPerTurn = 0x1.45f306dc9c883p-2;
  const Whole<R> k = cosine ? rounded(fma(x, kPerTurn, 0.5), 1.0) : rounded(x, kPerTurn);
  const R h = cosine ? k.real - 0.5 : k.real;
  Pair<R> rest = without_multiple(x, h, kParts);
  if constexpr (is_single<R>) {
    // Half of pi and a small number: that half unit matters.
    const R first = fma(h, -kParts[0], x);
    if (cosine) rest.lo = rest.lo + select(abs(x) < 2.0, x - fma(h, kParts[0], first), literal(x, 0.0));
  }
  const R s = sin_of(rest.hi, rest.lo);
  // cos(x) = sin(x + pi/2) = (-1)^k sin(x - (k - 1/2) pi)
  return from_bits(s, bits(s) ^ (k.integer << (F::kFraction + (is_single<R> ? 8 : 11))));
}

/// sin r / cos r, or minus its reciprocal, with what both parts lose.
template <class R>
R tan_of(const QuarterTurns<R>& q) {
  const R z = q.r * q.r;
  const Pair<R> s = quick_sum(q.r, sin_tail(q, z)), exact = cos_of(q, z), c = quick_sum(exact.hi, exact.lo);
  const auto even = (q.k & 1) == 0;
  const Pair<R> above{select(even, s.hi, -c.hi), select(even, s.lo, -c.lo)}, below{select(even, c.hi, s.hi), select(even, c.lo, s.lo)};
  const R reciprocal = 1.0 / below.hi, quotient = above.hi * reciprocal;
  const R left = fma(-quotient, below.hi, above.hi) + fma(-quotient, below.lo, above.lo);
  const R t = fma(left, reciprocal, quotient);
  return select(even, copysign(t, q.r), t);  // also of -0
}

enum class Trigonometric : uint8_t { sin, cos, tan };

template <class R>
R sin(R x) {
  return rarely(~(abs(x) < kQuarterTurnsKnown<R>), sin_of_half_turns(x, false), [&] { return of_large(Trigonometric::sin, x); });
}
template <class R>
R cos(R x) {
  return rarely(~(abs(x) < kQuarterTurnsKnown<R>), sin_of_half_turns(x, true), [&] { return of_large(Trigonometric::cos, x); });
}
template <class R>
R tan(R x) {
  return rarely(~(abs(x) < kQuarterTurnsKnown<R>), tan_of(quarter_turns(x)), [&] { return of_large(Trigonometric::tan, x); });
}

/// Of arguments beyond kQuarterTurnsKnown.
template <class R>
R of_any(Trigonometric which, R x) {
  if constexpr (is_single<R>) {
    const auto wide = widened(x);
    return narrowed(which == Trigonometric::sin ? sin(wide) : which == Trigonometric::cos ? cos(wide) : tan(wide));
  } else {
    const QuarterTurns<R> q = quarter_turns_of_large(x);
    if (which == Trigonometric::tan) return tan_of(q);
    // Of odd quarter turns, the sine of pi/2 - |r|.
    const auto turned = which == Trigonometric::cos ? q.k + 1 : q.k;
    const auto odd = (turned & 1) == 1;
    const Pair<R> rest = quick_sum(literal(x, 0x1.921fb54442d18p0), -abs(q.r));
    const R lost = copysign(q.lo, from_bits(x, bits(q.r) ^ bits(q.lo) ^ Format<R>::kSign));
    const R s = sin_of(select(odd, rest.hi, q.r), select(odd, (rest.lo + 0x1.1a62633145c07p-54) + lost, q.lo));
    return from_bits(s, bits(s) ^ ((turned & 2) << 62));
  }
}

template <class T>
Number<T> of_large(Trigonometric which, Number<T> x) {
  return of_any(which, x);
}
}  // namespace gasell::math
