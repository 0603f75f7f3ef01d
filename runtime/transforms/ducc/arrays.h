// A job's arrays as ducc's.
#pragma once

#include <complex>
#include <vector>

#include "ducc0/fft/fft.h"
#include "runtime/transforms/lanes.h"

namespace gasell::transforms::GASELL_VARIANT {

template <class T>
DUCC0_NAMESPACE::cfmav<T> input(const Job& job) {
  return {static_cast<const T*>(job.in), std::vector<size_t>(job.in_shape, job.in_shape + job.rank),
          std::vector<ptrdiff_t>(job.in_steps, job.in_steps + job.rank)};
}
template <class T>
DUCC0_NAMESPACE::vfmav<T> output(const Job& job) {
  return {static_cast<T*>(job.out), std::vector<size_t>(job.out_shape, job.out_shape + job.rank),
          std::vector<ptrdiff_t>(job.out_steps, job.out_steps + job.rank)};
}

template <class T>
void transform_complex(const Job& job);
template <class T>
void transform_real(const Job& job);
template <class T>
void transform_cosine(const Job& job);

}  // namespace gasell::transforms::GASELL_VARIANT
