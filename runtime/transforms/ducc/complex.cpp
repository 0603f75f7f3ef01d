// Complex transforms, of GASELL_REAL.
#include "ducc0/fft/fftnd_impl.h"
#include "runtime/transforms/ducc/arrays.h"

namespace gasell::transforms::GASELL_VARIANT {

template <>
void transform_complex<GASELL_REAL>(const Job& job) {
  using Complex = std::complex<GASELL_REAL>;
  DUCC0_NAMESPACE::c2c(input<Complex>(job), output<Complex>(job), {static_cast<size_t>(job.axis)}, job.forward,
                       static_cast<GASELL_REAL>(job.factor));
}

}  // namespace gasell::transforms::GASELL_VARIANT
