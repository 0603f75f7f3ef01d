// Transforms of real numbers to complex ones and back, of GASELL_REAL.
#include "ducc0/fft/fftnd_impl.h"
#include "runtime/transforms/ducc/arrays.h"

namespace gasell::transforms::GASELL_VARIANT {

template <>
void transform_real<GASELL_REAL>(const Job& job) {
  using Real = GASELL_REAL;
  using Complex = std::complex<Real>;
  const auto axis = static_cast<size_t>(job.axis);
  const auto factor = static_cast<Real>(job.factor);
  if (job.kind == Kind::real_to_complex)
    DUCC0_NAMESPACE::r2c(input<Real>(job), output<Complex>(job), axis, job.forward, factor);
  else
    DUCC0_NAMESPACE::c2r(input<Complex>(job), output<Real>(job), axis, job.forward, factor);
}

}  // namespace gasell::transforms::GASELL_VARIANT
