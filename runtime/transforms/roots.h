// Roots of unity, as accurate as their type: computed, not multiplied up.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace gasell::transforms {

/// exp(2πi k / n). The angle is brought into the first octant in integers.
std::complex<double> root_of_unity(int64_t k, int64_t n);

/// All of one n, from two tables of about √n: a product of two, so within an ulp and a half.
class Roots {
 public:
  explicit Roots(int64_t n);
  int64_t count() const { return count_; }
  /// exp(2πi k / n), 0 <= k < n.
  std::complex<double> operator[](int64_t k) const {
    const std::complex<double> a = coarse_[static_cast<size_t>(k >> shift_)], b = fine_[static_cast<size_t>(k & mask_)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  int64_t count_, mask_;
  int shift_;
  std::vector<std::complex<double>> fine_, coarse_;
};

}  // namespace gasell::transforms
