// pow.
//
// x^y = e^(y log x), with log x as a sum hi + lo that has a dozen binary digits more than a number: with x = 2^k (1 + f) (logarithm.h) and
// s = f / (1 + f/2), log(1 + f) = s (1 + s^2/12 + s^4 P(s^2)), of which s, s^2 / 12 and the sums are kept with what their roundings lose
// (errors below 2^-66 of the logarithm, of floats 2^-35; the minimax polynomial P's alone below 2^-72 and 2^-36). For such sums see
// T. J. Dekker, A floating-point technique for extending the available precision (1971).
#pragma once

#include "compiler/math/common.h"
#include "compiler/math/exponential.h"
#include "compiler/math/logarithm.h"

namespace gasell::math {

/// log(2^k (1 + f)).
template <class R>
Pair<R> long_log(const Split<R>& x) {
  const R f = x.f, d = fma(f, 0.5, literal(f, 1.0)), d_lo = fma(f, 0.5, 1.0 - d);
  const R reciprocal = 1.0 / d, s = f * reciprocal, s_lo = fma(-s, d_lo, fma(-s, d, f)) * reciprocal;
  const R z = s * s, z_lo = fma(s + s, s_lo, fma(s, s, -z));
  R p;
  constexpr double kTwelfth = is_single<R> ? 0x1.555556p-4 : 0x1.5555555555555p-4;
  constexpr double kTwelfthLow = is_single<R> ? -0x1.555556p-29 : 0x1.5555555555555p-58;
  if constexpr (is_single<R>)
    p = polynomial(z, {0x1.dd6d24p-12, 0x1.246000p-9, 0x1.9999d8p-7});
  else
    p = polynomial(z, z * z,
                   {0x1.e892878b6bf64p-23, 0x1.de879e5900264p-21, 0x1.111e692effb66p-18, 0x1.3b1373dfa6939p-16, 0x1.745d17e8f276cp-14,
                    0x1.c71c71c632585p-12, 0x1.2492492492937p-9, 0x1.9999999999999p-7});
  const Pair<R> w = quick_sum(literal(f, kTwelfth), z * p), a = product(z, w.hi);
  const R a_lo = fma(z_lo, w.hi, fma(z, w.lo + kTwelfthLow, a.lo));
  const Pair<R> b = product(s, a.hi);
  const R b_lo = fma(s, a_lo, fma(s_lo, a.hi, b.lo));
  const Pair<R> first = quick_sum(x.k * kLn2Short<R>, s), second = quick_sum(first.hi, b.hi);
  return quick_sum(second.hi, second.lo + (first.lo + fma(x.k, kLn2Rest<R>, s_lo + b_lo)));
}

/// e^(hi + lo).
template <class R>
struct LongExp {
  R value;
  typename R::Integer exponent;
};
template <class R>
LongExp<R> long_exp(const Pair<R>& x) {
  const ReducedByLn2<R> reduced = reduced_by_ln2(x.hi);
  const Pair<R> r = quick_sum(reduced.r, reduced.lo + x.lo);
  return {exp_reduced(r.hi, r.lo), reduced.k.integer};
}

template <class R>
Pair<R> multiplied(const Pair<R>& a, R y) {
  const Pair<R> p = product(a.hi, y);
  return {p.hi, fma(a.lo, y, p.lo)};
}

/// Of a number that is not negative, infinities among them.
template <class R>
auto is_whole(R y) {
  constexpr double kWhole = is_single<R> ? 0x1p23 : 0x1p52;
  return (y >= kWhole) | (((y + kWhole) - kWhole) - y == 0.0);
}

/// Where x is not a positive normal number, or the result is not a normal one or infinite, or one of them is infinite or NaN.
template <class R>
R rare_pow(R x, R y) {
  constexpr double kInfinity = __builtin_inf(), kUp = is_single<R> ? 24 : 53, kEnd = is_single<R> ? 120 : 800;
  const R base = abs(x), size = abs(y);
  const auto small = base < (is_single<R> ? 0x1p-126 : 0x1p-1022);
  Split<R> s = split(select(small, base * (is_single<R> ? 0x1p24 : 0x1p53), base));
  s.k = select(small, s.k - kUp, s.k);
  Pair<R> product = multiplied(long_log(s), y);
  // Beyond these every result is infinity or 0.
  product.lo = select(abs(product.hi) < kEnd, product.lo, 0.0);
  product.hi = select(product.hi > kEnd, kEnd, product.hi);
  product.hi = select(product.hi < -kEnd, -kEnd, product.hi);
  const LongExp<R> e = long_exp(product);
  R result = scaled_far(e.value, e.exponent);

  const auto base_infinite = base == kInfinity, one = base == 1.0;
  const auto grows = ((base > 1.0) & (y > 0.0)) | ((base < 1.0) & (y < 0.0));
  const R limit = select(one, 1.0, select(grows, kInfinity, literal(x, 0.0)));
  result = select(base_infinite | (base == 0.0) | (size == kInfinity), limit, result);
  const auto whole = is_whole(size), odd = whole & ~is_whole(size * 0.5), negative = bits(x) < 0;
  result = select(negative & odd, -result, result);
  result = select((x < 0.0) & ~base_infinite & ~whole, __builtin_nan(""), result);
  result = select(is_nan(x) | is_nan(y), x + y, result);
  return select((x == 1.0) | (y == 0.0), 1.0, result);
}

template <class R>
R pow(R x, R y) {
  const Pair<R> product = multiplied(long_log(split(x)), y);
  const LongExp<R> e = long_exp(product);
  return rarely(log_is_rare(x) | ~(abs(product.hi) < kExpIsNormal<R>), scaled(e.value, e.exponent), [&] { return rare_pow(x, y); });
}

}  // namespace gasell::math
