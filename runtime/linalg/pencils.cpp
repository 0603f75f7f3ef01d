#include "runtime/linalg/pencils.h"

#include "runtime/linalg/lapack_call.h"

namespace gasell::linalg {
namespace {

using Int = FortranInt;
using Text = FortranText;

void join(int64_t n, const double* re, const double* im, Complex* values) {
  for (int64_t k = 0; k < n; ++k) values[k] = {re[k], im[k]};
}

}  // namespace

template <class T>
bool qz(int64_t n, T* a, T* b, Complex* alpha, T* beta, T* q, T* z) {
  if (n == 0) return true;
  int64_t info = 0, chosen = 0;
  if constexpr (kIsComplex<T>) {
    auto* const gges = lapack_routine<void(Text, Text, Text, void*, Int, T*, Int, T*, Int, int64_t*, T*, T*, T*, Int, T*, Int, T*, Int,
                                           double*, int64_t*, int64_t*, size_t, size_t, size_t),
                                      T>("gges");
    const auto reals = lapack_memory<double>(8 * n);
    with_work_space<T>(2 * n, [&](T* work, Int size) {
      gges("V", "V", "N", nullptr, &n, a, &n, b, &n, &chosen, alpha, beta, q, &n, z, &n, work, size, reals.get(), nullptr, &info, 1, 1, 1);
    });
  } else {
    auto* const gges = lapack_routine<void(Text, Text, Text, void*, Int, T*, Int, T*, Int, int64_t*, T*, T*, T*, T*, Int, T*, Int, T*, Int,
                                           int64_t*, int64_t*, size_t, size_t, size_t),
                                      T>("gges");
    const auto re = lapack_memory<T>(n), im = lapack_memory<T>(n);
    with_work_space<T>(8 * n + 16, [&](T* work, Int size) {
      gges("V", "V", "N", nullptr, &n, a, &n, b, &n, &chosen, re.get(), im.get(), beta, q, &n, z, &n, work, size, nullptr, &info, 1, 1, 1);
    });
    join(n, re.get(), im.get(), alpha);
  }
  return info == 0;
}

template <class T>
bool reorder_qz(int64_t n, const int64_t* chosen, T* a, T* b, Complex* alpha, T* beta, T* q, T* z) {
  if (n == 0) return true;
  int64_t info = 0, count = 0, job = 0, integer_work[1], one = 1;
  const int64_t wanted = 1;
  double left = 0, right = 0, differences[2] = {0, 0};
  if constexpr (kIsComplex<T>) {
    auto* const tgsen = lapack_routine<void(Int, Int, Int, Int, Int, T*, Int, T*, Int, T*, T*, T*, Int, T*, Int, int64_t*, double*, double*,
                                            double*, T*, Int, int64_t*, Int, int64_t*),
                                       T>("tgsen");
    with_work_space<T>(1, [&](T* work, Int size) {
      tgsen(&job, &wanted, &wanted, chosen, &n, a, &n, b, &n, alpha, beta, q, &n, z, &n, &count, &left, &right, differences, work, size,
            integer_work, &one, &info);
    });
  } else {
    auto* const tgsen = lapack_routine<void(Int, Int, Int, Int, Int, T*, Int, T*, Int, T*, T*, T*, T*, Int, T*, Int, int64_t*, double*,
                                            double*, double*, T*, Int, int64_t*, Int, int64_t*),
                                       T>("tgsen");
    const auto re = lapack_memory<T>(n), im = lapack_memory<T>(n);
    with_work_space<T>(4 * n + 16, [&](T* work, Int size) {
      tgsen(&job, &wanted, &wanted, chosen, &n, a, &n, b, &n, re.get(), im.get(), beta, q, &n, z, &n, &count, &left, &right, differences,
            work, size, integer_work, &one, &info);
    });
    join(n, re.get(), im.get(), alpha);
  }
  return info == 0;
}

template <class T>
bool pencil_eigenvalues(int64_t n, T* a, T* b, Complex* alpha, T* beta, Complex* left, Complex* right) {
  if (n == 0) return true;
  int64_t info = 0;
  if constexpr (kIsComplex<T>) {
    auto* const ggev =
        lapack_routine<void(Text, Text, Int, T*, Int, T*, Int, T*, T*, T*, Int, T*, Int, T*, Int, double*, int64_t*, size_t, size_t), T>(
            "ggev");
    const auto reals = lapack_memory<double>(8 * n);
    with_work_space<T>(2 * n, [&](T* work, Int size) {
      ggev("V", "V", &n, a, &n, b, &n, alpha, beta, left, &n, right, &n, work, size, reals.get(), &info, 1, 1);
    });
  } else {
    auto* const ggev =
        lapack_routine<void(Text, Text, Int, T*, Int, T*, Int, T*, T*, T*, T*, Int, T*, Int, T*, Int, int64_t*, size_t, size_t), T>("ggev");
    const auto re = lapack_memory<T>(n), im = lapack_memory<T>(n), l = lapack_memory<T>(n * n), r = lapack_memory<T>(n * n);
    with_work_space<T>(8 * n, [&](T* work, Int size) {
      ggev("V", "V", &n, a, &n, b, &n, re.get(), im.get(), beta, l.get(), &n, r.get(), &n, work, size, &info, 1, 1);
    });
    if (info != 0) return false;
    join(n, re.get(), im.get(), alpha);
    complex_vectors(n, alpha, l.get(), left);
    complex_vectors(n, alpha, r.get(), right);
  }
  return info == 0;
}

#define GASELL_PENCILS_OF(T)                                                       \
  template bool qz(int64_t, T*, T*, Complex*, T*, T*, T*);                         \
  template bool reorder_qz(int64_t, const int64_t*, T*, T*, Complex*, T*, T*, T*); \
  template bool pencil_eigenvalues(int64_t, T*, T*, Complex*, T*, Complex*, Complex*)

GASELL_PENCILS_OF(double);
GASELL_PENCILS_OF(Complex);

}  // namespace gasell::linalg
