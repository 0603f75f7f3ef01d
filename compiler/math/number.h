// Numbers of this machine, as the math library's functions compute with them.
//
// The functions of this folder are templates over a type of real numbers R and say every operation of theirs: IEEE 754's, each rounded
// once, and those on the bits. They come to life twice: with Number<T>, here, as code of this program, and with Emitted<T>
// (codegen/math_values.h), as code of kernels, scalars or vectors, for hosts and GPUs. Both do the same operations in the same order, so
// that a function has one result for an argument, wherever it is computed. For that, files that include this one are compiled without
// contraction of a * b + c (-ffp-contract=off).
//
// What R has, beside + - * / and comparisons (with each other and with double literals, which are rounded to R):
//   R::Element             float or double
//   R::Integer             integers of as many bits, wrapping: + - & | ^, << and logical >> by literals, comparisons with literals
//   R::Condition           & | ~
//   fma, abs, copysign, sqrt, select(condition, x, y), is_nan
//   bits(R), from_bits(like, Integer) and literal(like, double): `like` says the type alone
//   widened(Number<float>) and narrowed(Number<double>)
//   rarely(condition, usual, f): f() where the condition holds, else usual; kernels leave their straight way for it
// and, for scalars alone (large_arguments.h): multiplied, multiplied_high, shifted_left, shifted_right, is_below, two_over_pi.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "compiler/math/two_over_pi.h"

namespace gasell::math {

/// A condition.
struct Truth {
  bool v;
};
inline Truth operator&(Truth a, Truth b) { return {a.v && b.v}; }
inline Truth operator|(Truth a, Truth b) { return {a.v || b.v}; }
inline Truth operator~(Truth a) { return {!a.v}; }

/// Bits of a Number<T>.
template <class T>
struct Bits {
  using Signed = std::conditional_t<std::is_same_v<T, float>, int32_t, int64_t>;
  using Unsigned = std::make_unsigned_t<Signed>;
  Unsigned v;

  friend Bits operator+(Bits a, Bits b) { return {a.v + b.v}; }
  friend Bits operator-(Bits a, Bits b) { return {a.v - b.v}; }
  friend Bits operator&(Bits a, Bits b) { return {a.v & b.v}; }
  friend Bits operator|(Bits a, Bits b) { return {a.v | b.v}; }
  friend Bits operator^(Bits a, Bits b) { return {a.v ^ b.v}; }
  friend Bits operator+(Bits a, int64_t b) { return {a.v + static_cast<Unsigned>(b)}; }
  friend Bits operator-(Bits a, int64_t b) { return {a.v - static_cast<Unsigned>(b)}; }
  friend Bits operator-(int64_t a, Bits b) { return {static_cast<Unsigned>(a) - b.v}; }
  friend Bits operator&(Bits a, int64_t b) { return {a.v & static_cast<Unsigned>(b)}; }
  friend Bits operator|(Bits a, int64_t b) { return {a.v | static_cast<Unsigned>(b)}; }
  friend Bits operator^(Bits a, int64_t b) { return {a.v ^ static_cast<Unsigned>(b)}; }
  friend Bits operator<<(Bits a, int n) { return {static_cast<Unsigned>(a.v << n)}; }
  friend Bits operator>>(Bits a, int n) { return {static_cast<Unsigned>(a.v >> n)}; }
  friend Bits multiplied(Bits a, Bits b) { return {a.v * b.v}; }
  friend Bits shifted_left(Bits a, Bits n) { return {static_cast<Unsigned>(a.v << n.v)}; }
  friend Bits shifted_right(Bits a, Bits n) { return {static_cast<Unsigned>(a.v >> n.v)}; }
  friend Truth is_below(Bits a, Bits b) { return {a.v < b.v}; }
  friend Truth operator==(Bits a, int64_t b) { return {a.v == static_cast<Unsigned>(b)}; }
  friend Truth operator!=(Bits a, int64_t b) { return {a.v != static_cast<Unsigned>(b)}; }
  /// As signed numbers.
  friend Truth operator<(Bits a, int64_t b) { return {static_cast<Signed>(a.v) < static_cast<Signed>(b)}; }
};

template <class T>
struct Number {
  using Element = T;
  using Integer = Bits<T>;
  using Condition = Truth;
  T v;

  friend Number operator+(Number a, Number b) { return {a.v + b.v}; }
  friend Number operator-(Number a, Number b) { return {a.v - b.v}; }
  friend Number operator*(Number a, Number b) { return {a.v * b.v}; }
  friend Number operator/(Number a, Number b) { return {a.v / b.v}; }
  friend Number operator+(Number a, double b) { return {a.v + static_cast<T>(b)}; }
  friend Number operator-(Number a, double b) { return {a.v - static_cast<T>(b)}; }
  friend Number operator-(double a, Number b) { return {static_cast<T>(a) - b.v}; }
  friend Number operator*(Number a, double b) { return {a.v * static_cast<T>(b)}; }
  friend Number operator/(double a, Number b) { return {static_cast<T>(a) / b.v}; }
  friend Number operator-(Number a) { return {-a.v}; }
  friend Truth operator<(Number a, Number b) { return {a.v < b.v}; }
  friend Truth operator<(Number a, double b) { return {a.v < static_cast<T>(b)}; }
  friend Truth operator<=(Number a, double b) { return {a.v <= static_cast<T>(b)}; }
  friend Truth operator>(Number a, double b) { return {a.v > static_cast<T>(b)}; }
  friend Truth operator>=(Number a, double b) { return {a.v >= static_cast<T>(b)}; }
  friend Truth operator==(Number a, double b) { return {a.v == static_cast<T>(b)}; }

  friend Number fma(Number a, Number b, Number c) { return {std::fma(a.v, b.v, c.v)}; }
  friend Number fma(Number a, double b, Number c) { return {std::fma(a.v, static_cast<T>(b), c.v)}; }
  friend Number fma(Number a, Number b, double c) { return {std::fma(a.v, b.v, static_cast<T>(c))}; }
  friend Number fma(Number a, double b, double c) { return {std::fma(a.v, static_cast<T>(b), static_cast<T>(c))}; }
  friend Number abs(Number a) { return {std::fabs(a.v)}; }
  friend Number sqrt(Number a) { return {std::sqrt(a.v)}; }
  friend Number copysign(Number a, Number b) { return {std::copysign(a.v, b.v)}; }
  friend Truth is_nan(Number a) { return {a.v != a.v}; }
  friend Number select(Truth c, Number a, Number b) { return c.v ? a : b; }
  friend Number select(Truth c, double a, Number b) { return {c.v ? static_cast<T>(a) : b.v}; }
  friend Number select(Truth c, Number a, double b) { return {c.v ? a.v : static_cast<T>(b)}; }
  friend Integer bits(Number a) { return {std::bit_cast<typename Integer::Unsigned>(a.v)}; }
  /// Of an integer, the number that has its bits; `like` says only the type.
  friend Number from_bits(Number /*like*/, Integer i) { return {std::bit_cast<T>(i.v)}; }
  friend Number literal(Number /*like*/, double value) { return {static_cast<T>(value)}; }

  template <class F>
  friend Number rarely(Truth c, Number usual, F f) {
    return c.v ? f() : usual;
  }
};
/// The upper half of the product of 64-bit numbers without sign.
inline Bits<double> multiplied_high(Bits<double> a, Bits<double> b) {
  __extension__ typedef unsigned __int128 Wide;
  return {static_cast<uint64_t>(static_cast<Wide>(a.v) * b.v >> 64)};
}
template <class T>
Bits<T> select(Truth c, Bits<T> a, Bits<T> b) {
  return c.v ? a : b;
}

/// Of 2 / pi, for large_arguments.h.
inline Bits<double> two_over_pi(Number<double> /*like*/, Bits<double> index) { return {kTwoOverPi[index.v]}; }

inline Number<double> widened(Number<float> x) { return {x.v}; }
inline Number<float> narrowed(Number<double> x) { return {static_cast<float>(x.v)}; }

}  // namespace gasell::math
