// nextafter.
#pragma once

#include "compiler/math/common.h"

namespace gasell::math {

/// The number beside x on the way to y: magnitudes are ordered as their bits.
template <class R>
R nextafter(R x, R y) {
  const auto up = x < y, down = y < x, positive = x > 0.0;
  const auto grows = (up & positive) | (down & ~positive);
  const R moved = from_bits(x, select(grows, bits(x) + 1, bits(x) - 1)), least = copysign(from_bits(x, (bits(x) & 0) + 1), y);
  const R result = select(up | down, select(x == 0.0, least, moved), y);
  return select(is_nan(x) | is_nan(y), x + y, result);
}

}  // namespace gasell::math
