// The quarter turns in arguments of any size: sin, cos and tan of numbers of which a subtraction in floats leaves no digit.
#pragma once

#include "compiler/math/common.h"

namespace gasell::math {

/// r + lo, and the number of quarter turns.
template <class R>
struct QuarterTurns {
  typename R::Integer k;
  R r, lo;
};

/// Of doubles of 2^30 and more. M. H. Payne, R. N. Hanek, Radian reduction for trigonometric functions, SIGNUM Newsletter 18 (1983): of
/// x 2/pi the digits above 4 do not matter, so that the fraction of x is multiplied by the 192 digits of 2/pi that make those below. No
/// double comes nearer to a multiple of pi/2 than 2^-61, which leaves 65 good ones.
template <class R>
QuarterTurns<R> quarter_turns_of_large(R x) {
  const auto exponent = (bits(x) >> 52) & 0x7ff;
  const auto fraction = (bits(x) & 0xfffffffffffff) | 0x10000000000000;
  const auto start = exponent - (1023 - 10), first = start >> 6, shift = start & 63;
  const auto word = [&](int n) {  // 64 digits from there on
    const auto high = two_over_pi(x, first + n), low = two_over_pi(x, first + (n + 1));
    return shifted_left(high, shift) | shifted_right(low >> 1, 63 - shift);
  };
  const auto w1 = word(1), low = multiplied(fraction, w1), below = low + multiplied_high(fraction, word(2));
  auto top = multiplied(fraction, word(0)) + multiplied_high(fraction, w1);
  top = select(is_below(below, low), top + 1, top);
  // Two digits of quarter turns, and a fraction of one between -1/2 and 1/2.
  auto k = (top >> 62) + ((top >> 61) & 1);
  auto high_part = (top << 2) | (below >> 62), low_part = below << 2;
  const auto negative = high_part < 0;
  const auto carry = low_part == 0;
  high_part = select(negative, select(carry, 0 - high_part, (high_part ^ -1)), high_part);
  low_part = select(negative, 0 - low_part, low_part);
  const auto piece = [&](auto digits, double unit) { return (from_bits(x, (digits & 0xffffffff) | 0x4330000000000000) - 0x1p52) * unit; };
  const Pair<R> upper = quick_sum(piece(high_part >> 32, 0x1p-32), piece(high_part, 0x1p-64));
  const Pair<R> turn = quick_sum(upper.hi, upper.lo + (piece(low_part >> 32, 0x1p-96) + piece(low_part, 0x1p-128)));
  R r = turn.hi * 0x1.921fb54442d18p0;
  R lo = fma(turn.hi, 0x1.921fb54442d18p0, -r) + fma(turn.hi, 0x1.1a62633145c07p-54, turn.lo * 0x1.921fb54442d18p0);
  r = select(negative, -r, r);
  lo = select(negative, -lo, lo);
  const auto below_zero = x < 0.0;
  k = select(below_zero, 0 - k, k);
  r = select(below_zero, -r, r);
  lo = select(below_zero, -lo, lo);
  const auto infinite = ~(abs(x) <= 0x1.fffffffffffffp1023);
  return {k, select(infinite, x - x, r), lo};
}

}  // namespace gasell::math
