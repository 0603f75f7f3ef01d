// Cosine and sine transforms, of GASELL_REAL.
#include "ducc0/fft/fftnd_impl.h"
#include "runtime/transforms/ducc/arrays.h"

namespace gasell::transforms::GASELL_VARIANT {

template <>
void transform_cosine<GASELL_REAL>(const Job& job) {
  using Real = GASELL_REAL;
  const std::vector<size_t> axes{static_cast<size_t>(job.axis)};
  const auto factor = static_cast<Real>(job.factor);
  if (job.kind == Kind::cosine)
    DUCC0_NAMESPACE::dct(input<Real>(job), output<Real>(job), axes, job.type, factor, job.orthogonal);
  else
    DUCC0_NAMESPACE::dst(input<Real>(job), output<Real>(job), axes, job.type, factor, job.orthogonal);
}

}  // namespace gasell::transforms::GASELL_VARIANT
