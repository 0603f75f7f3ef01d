// One transform that all cores work on.
#pragma once

#include <complex>

#include "runtime/transforms/sharing.h"

namespace gasell::transforms {

/// From how many elements on one vector is worth several cores.
inline constexpr int64_t kLong = 1 << 15;

/// Of n complex numbers, n at least kLong. `in` may be `out` where the steps are the same.
template <class T>
void transform_long(const Cores& cores, const std::complex<T>* in, int64_t in_step, std::complex<T>* out, int64_t out_step, int64_t n,
                    bool forward, double factor);

/// n real numbers to n / 2 + 1 complex ones, not in place: of even n at the cost of n / 2 complex numbers.
template <class T>
void transform_long_real(const Cores& cores, const T* in, int64_t in_step, std::complex<T>* out, int64_t out_step, int64_t n, bool forward,
                         double factor);

/// And back.
template <class T>
void transform_long_back(const Cores& cores, const std::complex<T>* in, int64_t in_step, T* out, int64_t out_step, int64_t n, bool forward,
                         double factor);

}  // namespace gasell::transforms
