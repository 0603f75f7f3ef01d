// log, log2, log10, log1p.
//
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). The series of doubles is that of 2 atanh(s), s = f / (2 + f), as in fdlibm's e_log.c
// (K. C. Ng, 1993), log(1 + f) = f - f^2/2 + s (f^2/2 + R); that of floats is f - f^2/2 + f^3 P(f). R and P are minimax polynomials (errors
// below 2^-58 and 2^-30 of the result).
#pragma once

#include "compiler/math/common.h"

namespace gasell::math {

/// log(1 + f + lo) as f plus this; f in [sqrt(1/2) - 1, sqrt(2) - 1] and lo much smaller.
template <class R>
R log_tail(R f, R lo) {
  const R square = f * f;
  if constexpr (is_single<R>) {
    const R p = polynomial(f, square,
                           {0x1.103728p-4, -0x1.db9344p-4, 0x1.e75952p-4, -0x1.fc9dbep-4, 0x1.23390cp-3, -0x1.5558cep-3, 0x1.99a476p-3,
                            -0x1.00000ep-2, 0x1.555548p-2});
    return fma(square, fma(f, p, -0.5), fma(fma(f, f, -square), -0.5, lo));  // what the square loses matters as well
  } else {
    const R half = square * 0.5, s = f / (f + 2.0), z = s * s;
    const R p = polynomial(z, z * z,
                           {0x1.2f130d25af383p-3, 0x1.39a074517a121p-3, 0x1.74664ab949260p-3, 0x1.c71c51d3ffc6ap-3, 0x1.249249422d64ep-2,
                            0x1.999999997f9dcp-2, 0x1.5555555555593p-1});
    return fma(s, fma(z, p, half), lo) - half;
  }
}

/// x = 2^k (1 + f), of a positive normal number.
template <class R>
struct Split {
  R k, f;
};
template <class R>
inline constexpr int64_t kSqrtHalfBits = is_single<R> ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
template <class R>
Split<R> split(R x) {
  using F = Format<R>;
  constexpr int64_t kExponent = -(int64_t{1} << F::kFraction);
  // The bits' distance from sqrt(1/2) has k above the fraction.
  const auto distance = bits(x) - kSqrtHalfBits<R>;
  const auto k = ((distance + (int64_t{1} << (F::kFraction + (is_single<R> ? 7 : 10)))) >> F::kFraction) - (F::kBias + 1);
  return {real_of(x, k), from_bits(x, bits(x) - (distance & kExponent)) - 1.0};
}

/// Zero, subnormal, negative and infinite numbers and NaN take the long way.
template <class R>
auto log_is_rare(R x) {
  return ~((x >= (is_single<R> ? 0x1p-126 : 0x1p-1022)) & (x <= (is_single<R> ? 0x1.fffffep127 : 0x1.fffffffffffffp1023)));
}
/// `core` of the arguments of log_is_rare(): core(Split).
template <class R, class F>
R log_of_rare(R x, F core) {
  constexpr double kUp = is_single<R> ? 24 : 53;
  Split<R> s = split(x * (is_single<R> ? 0x1p24 : 0x1p53));
  R y = core(Split<R>{s.k - kUp, s.f});
  y = select(x == 0.0, -__builtin_inf(), y);
  y = select(x > (is_single<R> ? 0x1.fffffep127 : 0x1.fffffffffffffp1023), x, y);
  y = select(x < 0.0, __builtin_nan(""), y);
  return select(is_nan(x), x, y);
}

/// log(2^k (1 + f + lo)).
template <class R>
R log_of(const Split<R>& s, R lo) {
  const R tail = log_tail(s.f, fma(s.k, kLn2Rest<R>, lo));
  const Pair<R> sum = quick_sum(s.k * kLn2Short<R>, s.f);
  return sum.hi + (sum.lo + tail);
}

template <class R>
R log(R x) {
  const auto core = [&](const Split<R>& s) { return log_of(s, literal(x, 0.0)); };
  // log(1) is +0.
  return rarely(log_is_rare(x), core(split(x)), [&] { return log_of_rare(x, core); });
}

/// log(u + lo), of normal numbers; lo may be up to a unit of u's last place.
template <class R>
R log_of_sum(R u, R lo) {
  using F = Format<R>;
  const Split<R> s = split(u);
  // 2^-k: both 2^k and its reciprocal are normal numbers but at the largest u, where nothing that is lost matters.
  const R scale = from_bits(u, (F::kBias << F::kFraction) - ((bits(u) - kSqrtHalfBits<R>)&-(int64_t{1} << F::kFraction)));
  const Pair<R> f = quick_sum(s.f, lo * scale);
  return log_of(Split<R>{s.k, f.hi}, fma(-f.hi, f.lo, f.lo));
}

/// log1p(x) = log(u + (what 1 + x loses)), u = 1 + x.
template <class R>
R log1p(R x) {
  const R u = x + 1.0;
  const R usual = log_of_sum(u, select(x < 1.0, x - (u - 1.0), 1.0 - (u - x)));
  const R largest = literal(x, is_single<R> ? 0x1p100 : 0x1p1000);
  // Of small numbers, -0 among them, the number itself.
  return rarely(~((x > -1.0) & (x < largest)), select(abs(x) < (is_single<R> ? 0x1p-24 : 0x1p-54), x, usual), [&] { return log(u); });
}

/// The logarithm of 1 + f in another base, hi + lo: high + low is the base's reciprocal logarithm.
template <class R>
Pair<R> log_in_base(R f, double high, double low) {
  const R tail = log_tail(f, literal(f, 0.0));
  const R p = f * high;
  return {p, fma(tail, high, fma(f, low, fma(f, high, -p)))};
}

template <class R>
R log2(R x) {
  const auto core = [](const Split<R>& s) {
    const Pair<R> p =
        is_single<R> ? log_in_base(s.f, 0x1.715476p0, 0x1.4ae0cp-26) : log_in_base(s.f, 0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56);
    const Pair<R> sum = quick_sum(s.k, p.hi);
    return sum.hi + (sum.lo + p.lo);
  };
  return rarely(log_is_rare(x), core(split(x)), [&] { return log_of_rare(x, core); });
}

template <class R>
R log10(R x) {
  const auto core = [](const Split<R>& s) {
    const Pair<R> p =
        is_single<R> ? log_in_base(s.f, 0x1.bcb7b2p-2, -0x1.5b235ep-27) : log_in_base(s.f, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
    // log10(2) in two parts; k times the first is exact.
    constexpr double kHigh = is_single<R> ? 0x1.344p-2 : 0x1.34413509f6p-2, kLow = is_single<R> ? 0x1.3509f8p-18 : 0x1.9fef311f12b36p-42;
    const Pair<R> sum = quick_sum(s.k * kHigh, p.hi);
    return sum.hi + (sum.lo + fma(s.k, kLow, p.lo));
  };
  return rarely(log_is_rare(x), core(split(x)), [&] { return log_of_rare(x, core); });
}

}  // namespace gasell::math
