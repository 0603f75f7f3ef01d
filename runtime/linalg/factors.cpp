#include "runtime/linalg/factors.h"

#include <algorithm>

#include "runtime/linalg/lapack_call.h"

namespace gasell::linalg {
namespace {

using Int = FortranInt;
using Text = FortranText;

}  // namespace

template <class T>
void factor_ldl(int64_t n, T* a, bool upper, bool hermitian, int64_t* pivots) {
  if (n == 0) return;
  auto* const sytrf =
      lapack_routine<void(Text, Int, T*, Int, int64_t*, T*, Int, int64_t*, size_t), T>(kIsComplex<T> && hermitian ? "hetrf" : "sytrf");
  int64_t info = 0;
  with_work_space<T>(1, [&](T* work, Int size) { sytrf(upper ? "U" : "L", &n, a, &n, pivots, work, size, &info, 1); });
}

template <class T>
void factor_pivoted_qr(int64_t m, int64_t n, T* a, T* tau, int64_t* order) {
  std::fill(order, order + n, int64_t{0});
  if (m == 0 || n == 0) {
    for (int64_t k = 0; k < n; ++k) order[k] = k + 1;
    return;
  }
  int64_t info = 0;
  if constexpr (kIsComplex<T>) {
    auto* const geqp3 = lapack_routine<void(Int, Int, T*, Int, int64_t*, T*, T*, Int, Real<T>*, int64_t*), T>("geqp3");
    const auto reals = lapack_memory<Real<T>>(2 * n);
    with_work_space<T>(n + 1, [&](T* work, Int size) { geqp3(&m, &n, a, &m, order, tau, work, size, reals.get(), &info); });
  } else {
    auto* const geqp3 = lapack_routine<void(Int, Int, T*, Int, int64_t*, T*, T*, Int, int64_t*), T>("geqp3");
    with_work_space<T>(3 * n + 1, [&](T* work, Int size) { geqp3(&m, &n, a, &m, order, tau, work, size, &info); });
  }
}

template <class T>
void multiply_q(int64_t m, int64_t n, int64_t k, int64_t rows, char side, char operation, const T* a, const T* tau, T* c) {
  if (m == 0 || n == 0 || k == 0) return;
  auto* const ormqr =
      lapack_routine<void(Text, Text, Int, Int, Int, const T*, Int, const T*, T*, Int, T*, Int, int64_t*, size_t, size_t), T>(
          kIsComplex<T> ? "unmqr" : "ormqr");
  const char transposed = !kIsComplex<T> && operation == 'C' ? 'T' : operation;
  int64_t info = 0;
  with_work_space<T>(std::max(m, n),
                     [&](T* work, Int size) { ormqr(&side, &transposed, &m, &n, &k, a, &rows, tau, c, &m, work, size, &info, 1, 1); });
}

template <class T>
bool singular_values_by_qr(int64_t m, int64_t n, T* a, SingularVectors wanted, Real<T>* s, T* u, T* vt) {
  const int64_t least = std::min(m, n);
  if (least == 0) return true;
  const char job[2] = {static_cast<char>(wanted), 0};
  const int64_t vt_leading = wanted == SingularVectors::some ? least : n;
  int64_t info = 0;
  if constexpr (kIsComplex<T>) {
    auto* const gesvd =
        lapack_routine<void(Text, Text, Int, Int, T*, Int, Real<T>*, T*, Int, T*, Int, T*, Int, Real<T>*, int64_t*, size_t, size_t), T>(
            "gesvd");
    const auto reals = lapack_memory<Real<T>>(5 * least);
    with_work_space<T>(
        1, [&](T* work, Int size) { gesvd(job, job, &m, &n, a, &m, s, u, &m, vt, &vt_leading, work, size, reals.get(), &info, 1, 1); });
  } else {
    auto* const gesvd =
        lapack_routine<void(Text, Text, Int, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int, int64_t*, size_t, size_t), T>("gesvd");
    with_work_space<T>(1, [&](T* work, Int size) { gesvd(job, job, &m, &n, a, &m, s, u, &m, vt, &vt_leading, work, size, &info, 1, 1); });
  }
  return info == 0;
}

template <class T>
bool cosines_and_sines(int64_t m, int64_t p, int64_t q, bool other_signs, bool left, bool right, T* x11, T* x12, T* x21, T* x22,
                       Real<T>* theta, T* u1, T* u2, T* v1t, T* v2t) {
  const int64_t p2 = m - p, q2 = m - q, l1 = leading(p), l2 = leading(p2), r1 = leading(q), r2 = leading(q2);
  const Text signs = other_signs ? "O" : "D", u_job = left ? "Y" : "N", v_job = right ? "Y" : "N";
  const auto integers = lapack_memory<int64_t>(m);
  int64_t info = 0;
  if constexpr (kIsComplex<T>) {
    using Uncsd = void(Text, Text, Text, Text, Text, Text, Int, Int, Int, T*, Int, T*, Int, T*, Int, T*, Int, Real<T>*, T*, Int, T*, Int,
                       T*, Int, T*, Int, T*, Int, Real<T>*, Int, int64_t*, int64_t*, size_t, size_t, size_t, size_t, size_t, size_t);
    auto* const uncsd = lapack_routine<Uncsd, T>("uncsd");
    const auto call = [&](T* work, Int size, Real<T>* reals, Int reals_size) {
      uncsd(u_job, u_job, v_job, v_job, "N", signs, &m, &p, &q, x11, &l1, x12, &l1, x21, &l2, x22, &l2, theta, u1, &l1, u2, &l2, v1t, &r1,
            v2t, &r2, work, size, reals, reals_size, integers.get(), &info, 1, 1, 1, 1, 1, 1);
    };
    T answer{};
    Real<T> reals_answer = 0;
    const int64_t ask = -1;
    call(&answer, &ask, &reals_answer, &ask);
    const int64_t reals_size = std::max<int64_t>(1, static_cast<int64_t>(reals_answer)),
                  size = std::max<int64_t>(1, static_cast<int64_t>(answer.real()));
    const auto reals = lapack_memory<Real<T>>(reals_size);
    const auto work = lapack_memory<T>(size);
    call(work.get(), &size, reals.get(), &reals_size);
  } else {
    using Orcsd = void(Text, Text, Text, Text, Text, Text, Int, Int, Int, T*, Int, T*, Int, T*, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int,
                       T*, Int, T*, Int, int64_t*, int64_t*, size_t, size_t, size_t, size_t, size_t, size_t);
    auto* const orcsd = lapack_routine<Orcsd, T>("orcsd");
    with_work_space<T>(1, [&](T* work, Int size) {
      orcsd(u_job, u_job, v_job, v_job, "N", signs, &m, &p, &q, x11, &l1, x12, &l1, x21, &l2, x22, &l2, theta, u1, &l1, u2, &l2, v1t, &r1,
            v2t, &r2, work, size, integers.get(), &info, 1, 1, 1, 1, 1, 1);
    });
  }
  return info == 0;
}

#define GASELL_FACTORS_OF(T)                                                                        \
  template void factor_ldl(int64_t, T*, bool, bool, int64_t*);                                      \
  template void factor_pivoted_qr(int64_t, int64_t, T*, T*, int64_t*);                              \
  template void multiply_q(int64_t, int64_t, int64_t, int64_t, char, char, const T*, const T*, T*); \
  template bool singular_values_by_qr(int64_t, int64_t, T*, SingularVectors, Real<T>*, T*, T*);     \
  template bool cosines_and_sines(int64_t, int64_t, int64_t, bool, bool, bool, T*, T*, T*, T*, Real<T>*, T*, T*, T*, T*)

GASELL_FACTORS_OF(double);
GASELL_FACTORS_OF(std::complex<double>);

}  // namespace gasell::linalg
