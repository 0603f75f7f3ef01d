#include "runtime/linalg/banded.h"

#include "runtime/linalg/lapack_call.h"

namespace gasell::linalg {
namespace {

using Int = FortranInt;
using Text = FortranText;

}  // namespace

template <class T>
int64_t solve_banded(int64_t n, int64_t lower, int64_t upper, int64_t m, T* bands, T* b) {
  if (n == 0 || m == 0) return 0;
  auto* const gbsv = lapack_routine<void(Int, Int, Int, Int, T*, Int, int64_t*, T*, Int, int64_t*), T>("gbsv");
  const auto pivots = lapack_memory<int64_t>(n);
  const int64_t rows = 2 * lower + upper + 1;
  int64_t info = 0;
  gbsv(&n, &lower, &upper, &m, bands, &rows, pivots.get(), b, &n, &info);
  return info;
}

template <class T>
int64_t factor_banded_cholesky(int64_t n, int64_t kd, T* bands, bool upper) {
  if (n == 0) return 0;
  auto* const pbtrf = lapack_routine<void(Text, Int, Int, T*, Int, int64_t*, size_t), T>("pbtrf");
  const int64_t rows = kd + 1;
  int64_t info = 0;
  pbtrf(upper ? "U" : "L", &n, &kd, bands, &rows, &info, 1);
  return info;
}

template <class T>
void solve_banded_factored(int64_t n, int64_t kd, int64_t m, const T* bands, T* b, bool upper) {
  if (n == 0 || m == 0) return;
  auto* const pbtrs = lapack_routine<void(Text, Int, Int, Int, const T*, Int, T*, Int, int64_t*, size_t), T>("pbtrs");
  const int64_t rows = kd + 1;
  int64_t info = 0;
  pbtrs(upper ? "U" : "L", &n, &kd, &m, bands, &rows, b, &n, &info, 1);
}

template <class T>
bool banded_eigenvalues(int64_t n, int64_t kd, T* bands, bool upper, Real<T>* values, T* vectors) {
  if (n == 0) return true;
  const Text job = vectors ? "V" : "N", part = upper ? "U" : "L";
  const int64_t rows = kd + 1, integers_size = 5 * n + 3, reals_size = 5 * n * n + 5 * n + 1;
  const auto integers = lapack_memory<int64_t>(integers_size);
  int64_t info = 0;
  if constexpr (kIsComplex<T>) {
    auto* const hbevd = lapack_routine<
        void(Text, Text, Int, Int, T*, Int, Real<T>*, T*, Int, T*, Int, Real<T>*, Int, int64_t*, Int, int64_t*, size_t, size_t), T>(
        "hbevd");
    const int64_t needed = vectors ? reals_size : n;
    const auto reals = lapack_memory<Real<T>>(needed);
    with_work_space<T>(n, [&](T* work, Int size) {
      hbevd(job, part, &n, &kd, bands, &rows, values, vectors, &n, work, size, reals.get(), &needed, integers.get(), &integers_size, &info,
            1, 1);
    });
  } else {
    auto* const sbevd =
        lapack_routine<void(Text, Text, Int, Int, T*, Int, T*, T*, Int, T*, Int, int64_t*, Int, int64_t*, size_t, size_t), T>("sbevd");
    with_work_space<T>(2 * n, [&](T* work, Int size) {
      sbevd(job, part, &n, &kd, bands, &rows, values, vectors, &n, work, size, integers.get(), &integers_size, &info, 1, 1);
    });
  }
  return info == 0;
}

bool tridiagonal_eigenvalues(int64_t n, double* diagonal, double* beside, double* vectors) {
  if (n == 0) return true;
  auto* const stevd =
      lapack_routine<void(Text, Int, double*, double*, double*, Int, double*, Int, int64_t*, Int, int64_t*, size_t), double>("stevd");
  const int64_t integers_size = 5 * n + 3;
  const auto integers = lapack_memory<int64_t>(integers_size);
  int64_t info = 0;
  with_work_space<double>(1, [&](double* work, Int size) {
    stevd(vectors ? "V" : "N", &n, diagonal, beside, vectors, &n, work, size, integers.get(), &integers_size, &info, 1);
  });
  return info == 0;
}

#define GASELL_BANDED_OF(T)                                                           \
  template int64_t solve_banded(int64_t, int64_t, int64_t, int64_t, T*, T*);          \
  template int64_t factor_banded_cholesky(int64_t, int64_t, T*, bool);                \
  template void solve_banded_factored(int64_t, int64_t, int64_t, const T*, T*, bool); \
  template bool banded_eigenvalues(int64_t, int64_t, T*, bool, Real<T>*, T*)

GASELL_BANDED_OF(double);
GASELL_BANDED_OF(std::complex<double>);

}  // namespace gasell::linalg
