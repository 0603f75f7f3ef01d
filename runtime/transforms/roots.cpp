#include "runtime/transforms/roots.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace gasell::transforms {

std::complex<double> root_of_unity(int64_t k, int64_t n) {
  // In eighths of 1 / n of the circle: octant `o`, `rest` of n from where it begins.
  const int64_t o = k * 8 / n, rest = k * 8 - o * n;
  const bool back = o & 1;  // odd octants are seen from their end
  const long double angle =
      std::numbers::pi_v<long double> / 4 * static_cast<long double>(back ? n - rest : rest) / static_cast<long double>(n);
  const auto c = static_cast<double>(std::cos(angle)), s = static_cast<double>(std::sin(angle));
  switch (o) {
    case 0: return {c, s};
    case 1: return {s, c};
    case 2: return {-s, c};
    case 3: return {-c, s};
    case 4: return {-c, -s};
    case 5: return {-s, -c};
    case 6: return {s, -c};
    default: return {c, -s};
  }
}

Roots::Roots(int64_t n) : count_(n) {
  shift_ = (std::bit_width(static_cast<uint64_t>(n)) + 1) / 2;
  mask_ = (int64_t{1} << shift_) - 1;
  for (int64_t k = 0; k <= mask_ && k < n; ++k) fine_.push_back(root_of_unity(k, n));
  for (int64_t k = 0; k < n; k += mask_ + 1) coarse_.push_back(root_of_unity(k, n));
}

}  // namespace gasell::transforms
