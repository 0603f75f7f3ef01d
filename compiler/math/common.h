// Pieces that several functions are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gasell::math {

template <class R>
inline constexpr bool is_single = std::is_same_v<typename R::Element, float>;

/// Horner's scheme with one rounding a step, the highest coefficient first.
template <class R, size_t N>
R polynomial(R x, const double (&c)[N]) {
  return [&]<size_t... K>(std::index_sequence<K...>) {
    R p = fma(x, c[0], c[1]);
    ((p = fma(p, x, c[K + 2])), ...);
    return p;
  }(std::make_index_sequence<N - 2>());
}

/// The same with half as many steps that wait for each other, and no more operations; `square` is x * x.
template <class R, size_t N>
R polynomial(R x, R square, const double (&c)[N]) {
  constexpr size_t kOdd = N % 2;
  return [&]<size_t... K>(std::index_sequence<K...>) {
    R p = fma(x, c[kOdd], c[kOdd + 1]);
    if constexpr (kOdd != 0) p = fma(square, c[0], p);
    ((p = fma(p, square, fma(x, c[kOdd + 2 * K + 2], c[kOdd + 2 * K + 3]))), ...);
    return p;
  }(std::make_index_sequence<(N - 2) / 2>());
}

/// What a format of floats is made of.
template <class R>
struct Format {
  static constexpr int kFraction = is_single<R> ? 23 : 52;
  static constexpr int64_t kBias = is_single<R> ? 127 : 1023;
  static constexpr int64_t kSign = is_single<R> ? int64_t{INT32_MIN} : INT64_MIN;
  /// 1.5 * 2^fraction: what is added to it is rounded to an integer, which stands in the lowest bits.
  static constexpr double kShift = is_single<R> ? 0x1.8p23 : 0x1.8p52;
  static constexpr int64_t kShiftBits = is_single<R> ? 0x4b400000 : 0x4338000000000000;
};

/// An integer as a float and as bits.
template <class R>
struct Whole {
  R real;
  typename R::Integer integer;
};
/// x * factor, rounded to the nearest integer, which must be below 2^21 (floats: 2^21, doubles: 2^50) in size.
template <class R>
Whole<R> rounded(R x, double factor) {
  const R shifted = fma(x, factor, Format<R>::kShift);
  return {shifted - Format<R>::kShift, bits(shifted) - Format<R>::kShiftBits};
}
/// A small integer as a float.
template <class R>
R real_of(R like, typename R::Integer i) {
  return from_bits(like, i + Format<R>::kShiftBits) - Format<R>::kShift;
}
/// x * 2^k, where neither x nor the result is subnormal, infinite or zero.
template <class R>
R scaled(R x, typename R::Integer k) {
  return from_bits(x, bits(x) + (k << Format<R>::kFraction));
}
/// 2^k of a normal number.
template <class R>
R power_of_two(R like, typename R::Integer k) {
  return from_bits(like, (k + Format<R>::kBias) << Format<R>::kFraction);
}
/// x * 2^k for any result: in two steps, of which the second alone rounds. |k| <= 2 * bias.
template <class R>
R scaled_far(R x, typename R::Integer k) {
  const auto half = ((k + 4096) >> 1) - 2048;
  return x * power_of_two(x, half) * power_of_two(x, k - half);
}

/// ln2 in two parts, of which whole numbers of binary exponents times the first are exact.
template <class R>
inline constexpr double kLn2Short = is_single<R> ? 0x1.62ep-1 : 0x1.62e42fefap-1;
template <class R>
inline constexpr double kLn2Rest = is_single<R> ? 0x1.0bfbe8p-15 : 0x1.cf79abc9e3b3ap-40;

/// hi + lo with lo at most half a unit of hi's last place.
template <class R>
struct Pair {
  R hi, lo;
};
/// The exact sum where |a| >= |b| or a is 0 (T. J. Dekker, A floating-point technique for extending the available precision, 1971).
template <class R>
Pair<R> quick_sum(R a, R b) {
  const R s = a + b;
  return {s, b - (s - a)};
}
/// The exact sum of any two (D. E. Knuth, The Art of Computer Programming 2, 4.2.2).
template <class R>
Pair<R> sum(R a, R b) {
  const R s = a + b, of_b = s - a;
  return {s, (a - (s - of_b)) + (b - of_b)};
}
/// The exact product.
template <class R>
Pair<R> product(R a, R b) {
  const R p = a * b;
  return {p, fma(a, b, -p)};
}
/// About 2^exponent / x of a positive number that is not near the largest ones: from its bits, to an eighth. Enough for small corrections.
template <class R>
R rough_reciprocal(R x, int64_t exponent = 0) {
  constexpr int64_t kOfOne = is_single<R> ? 0x7ef311c3 : 0x7fde6238da3c2118;
  return from_bits(x, kOfOne + exponent * (int64_t{1} << Format<R>::kFraction) - bits(x));
}

}  // namespace gasell::math
