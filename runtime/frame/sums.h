// Sums and moments that lose little to rounding.
#pragma once

#include <cmath>

namespace gasell::frame {

/// Kahan's sum.
struct CompensatedSum {
  double sum = 0, lost = 0;
  void add(double v) {
    const double y = v - lost, t = sum + y;
    lost = t - sum - y;
    if (lost != lost) lost = 0;  // infinities
    sum = t;
  }
  void add(const CompensatedSum& later) {
    add(later.sum);
    add(-later.lost);
  }
  double value() const { return sum; }
};

/// Number, mean and sum of squared deviations (Welford; Chan, Golub & LeVeque for combining).
struct Moments2 {
  double count = 0, mean = 0, squares = 0;
  void add(double v) {
    count += 1;
    const double before = mean;
    mean += (v - before) / count;
    squares += (v - mean) * (v - before);
  }
  void add(const Moments2& o) {
    if (o.count == 0) return;
    if (count == 0) {
      *this = o;
      return;
    }
    const double n = count + o.count, d = o.mean - mean;
    squares += o.squares + d * d * count * o.count / n;
    mean += d * o.count / n;
    count = n;
  }
};

/// The same with the sum of cubed deviations (Pébay).
struct Moments3 {
  double count = 0, mean = 0, squares = 0, cubes = 0;
  void add(double v) {
    const double before = count;
    count += 1;
    const double delta = v - mean, delta_n = delta / count, term = delta * delta_n * before;
    cubes += term * delta_n * (count - 2) - 3 * delta_n * squares;
    squares += term;
    mean += delta_n;
  }
  void add(const Moments3& o) {
    if (o.count == 0) return;
    if (count == 0) {
      *this = o;
      return;
    }
    const double n = count + o.count, d = o.mean - mean, dn = d / n;
    cubes += o.cubes + d * dn * dn * count * o.count * (count - o.count) + 3 * dn * (count * o.squares - o.count * squares);
    squares += o.squares + d * dn * count * o.count;
    mean += dn * o.count;
    count = n;
  }
  /// The adjusted Fisher-Pearson coefficient; NaN of fewer than three values, 0 where all are equal.
  double skew() const {
    if (count < 3) return std::nan("");
    const double squares_or_none = std::fabs(squares) < 1e-14 ? 0 : squares;
    if (squares_or_none == 0) return 0;
    return count * std::sqrt(count - 1) / (count - 2) * cubes / std::pow(squares, 1.5);
  }
};

}  // namespace gasell::frame
