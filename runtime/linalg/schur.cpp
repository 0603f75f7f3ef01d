#include "runtime/linalg/schur.h"

#include <cmath>

#include "runtime/linalg/lapack_call.h"

namespace gasell::linalg {
namespace {

using Int = FortranInt;
using Text = FortranText;

/// Values that a real routine gives as real and imaginary parts.
class Parts {
 public:
  explicit Parts(int64_t n) : n_(n), re_(lapack_memory<double>(n)), im_(lapack_memory<double>(n)) {}
  double* re() { return re_.get(); }
  double* im() { return im_.get(); }
  void put(Complex* values) const {
    for (int64_t k = 0; k < n_; ++k) values[k] = {re_[static_cast<size_t>(k)], im_[static_cast<size_t>(k)]};
  }

 private:
  int64_t n_;
  std::unique_ptr<double[]> re_, im_;
};

}  // namespace

template <class T>
void hessenberg(int64_t n, T* a, T* q) {
  if (n == 0) return;
  using Gehrd = void(Int, Int, Int, T*, Int, T*, T*, Int, int64_t*);
  auto* const gehrd = lapack_routine<Gehrd, T>("gehrd");
  auto* const orghr = lapack_routine<Gehrd, T>(kIsComplex<T> ? "unghr" : "orghr");
  const auto tau = lapack_memory<T>(n);
  const int64_t first = 1;
  int64_t info = 0;
  with_work_space<T>(n, [&](T* work, Int size) { gehrd(&n, &first, &n, a, &n, tau.get(), work, size, &info); });
  std::copy(a, a + n * n, q);
  with_work_space<T>(n, [&](T* work, Int size) { orghr(&n, &first, &n, q, &n, tau.get(), work, size, &info); });
  for (int64_t j = 0; j + 2 < n; ++j) std::fill(a + j * n + j + 2, a + (j + 1) * n, T(0));
}

template <class T>
bool schur(int64_t n, T* a, T* z, Complex* values) {
  if (n == 0) return true;
  int64_t info = 0, chosen = 0;
  if constexpr (kIsComplex<T>) {
    auto* const gees =
        lapack_routine<void(Text, Text, void*, Int, T*, Int, int64_t*, T*, T*, Int, T*, Int, double*, int64_t*, int64_t*, size_t, size_t),
                       T>("gees");
    const auto reals = lapack_memory<double>(n);
    with_work_space<T>(2 * n, [&](T* work, Int size) {
      gees("V", "N", nullptr, &n, a, &n, &chosen, values, z, &n, work, size, reals.get(), nullptr, &info, 1, 1);
    });
  } else {
    auto* const gees =
        lapack_routine<void(Text, Text, void*, Int, T*, Int, int64_t*, T*, T*, T*, Int, T*, Int, int64_t*, int64_t*, size_t, size_t), T>(
            "gees");
    Parts parts(n);
    with_work_space<T>(3 * n, [&](T* work, Int size) {
      gees("V", "N", nullptr, &n, a, &n, &chosen, parts.re(), parts.im(), z, &n, work, size, nullptr, &info, 1, 1);
    });
    parts.put(values);
  }
  return info == 0;
}

template <class T>
bool reorder_schur(int64_t n, const int64_t* chosen, T* t, T* z, Complex* values) {
  if (n == 0) return true;
  int64_t info = 0, count = 0, integer_work[1], one = 1;
  double condition = 0, separation = 0;
  if constexpr (kIsComplex<T>) {
    auto* const trsen =
        lapack_routine<void(Text, Text, Int, Int, T*, Int, T*, Int, T*, int64_t*, double*, double*, T*, Int, int64_t*, size_t, size_t), T>(
            "trsen");
    with_work_space<T>(1, [&](T* work, Int size) {
      trsen("N", "V", chosen, &n, t, &n, z, &n, values, &count, &condition, &separation, work, size, &info, 1, 1);
    });
  } else {
    auto* const trsen = lapack_routine<void(Text, Text, Int, Int, T*, Int, T*, Int, T*, T*, int64_t*, double*, double*, T*, Int, int64_t*,
                                            Int, int64_t*, size_t, size_t),
                                       T>("trsen");
    Parts parts(n);
    with_work_space<T>(n, [&](T* work, Int size) {
      trsen("N", "V", chosen, &n, t, &n, z, &n, parts.re(), parts.im(), &count, &condition, &separation, work, size, integer_work, &one,
            &info, 1, 1);
    });
    parts.put(values);
  }
  return info == 0;
}

template <class T>
bool sylvester(int64_t m, int64_t n, const T* a, const T* b, T* c, char a_operation, char b_operation, int64_t sign, double& scale) {
  scale = 1;
  if (m == 0 || n == 0) return true;
  auto* const trsyl =
      lapack_routine<void(Text, Text, Int, Int, Int, const T*, Int, const T*, Int, T*, Int, double*, int64_t*, size_t, size_t), T>("trsyl");
  int64_t info = 0;
  trsyl(&a_operation, &b_operation, &sign, &m, &n, a, &m, b, &n, c, &m, &scale, &info, 1, 1);
  return info == 0;
}

template <class T>
void balance(int64_t n, T* a, char job, int64_t& low, int64_t& high, double* scale) {
  low = 1;
  high = n;
  if (n == 0) return;
  auto* const gebal = lapack_routine<void(Text, Int, T*, Int, int64_t*, int64_t*, double*, int64_t*, size_t), T>("gebal");
  int64_t info = 0;
  gebal(&job, &n, a, &n, &low, &high, scale, &info, 1);
}

void complex_vectors(int64_t n, const Complex* values, const double* packed, Complex* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const double *x = packed + j * n, *y = x + n;
    const bool pair = values[j].imag() != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      vectors[j * n + i] = {x[i], pair ? y[i] : 0.0};
      if (pair) vectors[(j + 1) * n + i] = {x[i], -y[i]};
    }
    j += pair;
  }
}

template <class T>
bool eigenvalues_of_both_sides(int64_t n, T* a, Complex* values, Complex* left, Complex* right) {
  if (n == 0) return true;
  int64_t info = 0;
  if constexpr (kIsComplex<T>) {
    auto* const geev =
        lapack_routine<void(Text, Text, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int, double*, int64_t*, size_t, size_t), T>("geev");
    const auto reals = lapack_memory<double>(2 * n);
    with_work_space<T>(
        2 * n, [&](T* work, Int size) { geev("V", "V", &n, a, &n, values, left, &n, right, &n, work, size, reals.get(), &info, 1, 1); });
  } else {
    auto* const geev =
        lapack_routine<void(Text, Text, Int, T*, Int, T*, T*, T*, Int, T*, Int, T*, Int, int64_t*, size_t, size_t), T>("geev");
    Parts parts(n);
    const auto l = lapack_memory<T>(n * n), r = lapack_memory<T>(n * n);
    with_work_space<T>(4 * n, [&](T* work, Int size) {
      geev("V", "V", &n, a, &n, parts.re(), parts.im(), l.get(), &n, r.get(), &n, work, size, &info, 1, 1);
    });
    if (info != 0) return false;
    parts.put(values);
    complex_vectors(n, values, l.get(), left);
    complex_vectors(n, values, r.get(), right);
  }
  return info == 0;
}

#define GASELL_SCHUR_OF(T)                                                                         \
  template void hessenberg(int64_t, T*, T*);                                                       \
  template bool schur(int64_t, T*, T*, Complex*);                                                  \
  template bool reorder_schur(int64_t, const int64_t*, T*, T*, Complex*);                          \
  template bool sylvester(int64_t, int64_t, const T*, const T*, T*, char, char, int64_t, double&); \
  template void balance(int64_t, T*, char, int64_t&, int64_t&, double*);                           \
  template bool eigenvalues_of_both_sides(int64_t, T*, Complex*, Complex*, Complex*)

GASELL_SCHUR_OF(double);
GASELL_SCHUR_OF(Complex);

}  // namespace gasell::linalg
