// The routines of one instruction set, under one name that is not C++'s.
#include "runtime/transforms/ducc/arrays.h"

namespace gasell::transforms::GASELL_VARIANT {
namespace {

template <class T>
void transform_real_numbers(const Job& job) {
  switch (job.kind) {
    case Kind::complex: return transform_complex<T>(job);
    case Kind::real_to_complex:
    case Kind::complex_to_real: return transform_real<T>(job);
    case Kind::cosine:
    case Kind::sine: return transform_cosine<T>(job);
  }
}

void transform(const Job& job) { return job.single ? transform_real_numbers<float>(job) : transform_real_numbers<double>(job); }

template <class T, bool conjugate>
void multiply(const RowFactors& f) {
  for (int64_t r = 0; r < f.rows; ++r) {
    const double base_real = f.bases[2 * r], base_imaginary = f.bases[2 * r + 1];
    const double* const steps = f.steps + 2 * r * f.width;
    T* const row = static_cast<T*>(f.data) + 2 * r * f.row_step;
    for (int64_t k = 0; k < f.columns; ++k) {
      const double a = base_real * steps[2 * k] - base_imaginary * steps[2 * k + 1];
      const double b = base_real * steps[2 * k + 1] + base_imaginary * steps[2 * k];
      const T root_real = static_cast<T>(a), root_imaginary = static_cast<T>(conjugate ? -b : b);
      const T real = row[2 * k], imaginary = row[2 * k + 1];
      row[2 * k] = real * root_real - imaginary * root_imaginary;
      row[2 * k + 1] = real * root_imaginary + imaginary * root_real;
    }
  }
}

void multiply_rows(const RowFactors& f) {
  if (f.single) return f.conjugate ? multiply<float, true>(f) : multiply<float, false>(f);
  return f.conjugate ? multiply<double, true>(f) : multiply<double, false>(f);
}

}  // namespace
}  // namespace gasell::transforms::GASELL_VARIANT

#define GASELL_JOIN(a, b) a##b
#define GASELL_NAME(variant) GASELL_JOIN(gasell_transforms_, variant)
extern "C" const gasell::transforms::Routines GASELL_NAME(GASELL_VARIANT) = {gasell::transforms::GASELL_VARIANT::transform,
                                                                             gasell::transforms::GASELL_VARIANT::multiply_rows};
