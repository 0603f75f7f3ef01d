#include "runtime/linalg/lapack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace gasell::linalg {
namespace {

using Int = const int64_t*;
using Text = const char*;

template <class T>
const Routines<T>& routines() {
  return OpenBlas::get().routines<T>();
}

template <class T>
std::unique_ptr<T[]> work_space(int64_t count) {
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(std::max<int64_t>(count, 1)));
}

/// What a question for the size of work space was answered with.
template <class T>
int64_t size_answered(const T& answer) {
  return static_cast<int64_t>(std::real(answer));
}

/// The size of a leading dimension, which is never 0.
int64_t at_least_one(int64_t n) { return std::max<int64_t>(n, 1); }

}  // namespace

template <class T>
bool factor_lu(int64_t m, int64_t n, T* a, int64_t* pivots) {
  if (m == 0 || n == 0) return true;
  int64_t info = 0;
  routines<T>().getrf(&m, &n, a, &m, pivots, &info);
  return info == 0;
}

template <class T>
void solve_factored(int64_t n, int64_t m, const T* a, const int64_t* pivots, T* b) {
  if (n == 0 || m == 0) return;
  int64_t info = 0;
  routines<T>().getrs("N", &n, &m, a, &n, pivots, b, &n, &info, 1);
}

template <class T>
bool solve(int64_t n, int64_t m, T* a, T* b) {
  const auto pivots = work_space<int64_t>(n);
  if (!factor_lu(n, n, a, pivots.get())) return false;
  solve_factored(n, m, a, pivots.get(), b);
  return true;
}

template <class T>
void solve_triangular(int64_t n, int64_t m, const T* a, T* b, bool upper, char operation, bool unit) {
  if (n == 0 || m == 0) return;
  const T one = 1;
  routines<T>().trsm("L", upper ? "U" : "L", &operation, unit ? "U" : "N", &n, &m, &one, a, &n, b, &n, 1, 1, 1, 1);
}

template <class T>
void determinant_of_factors(int64_t n, bool regular, const T* diagonal, int64_t step, const int64_t* pivots, Determinant<T>& d) {
  d.sign = d.product = T(1);
  d.logarithm = 0;
  if (!regular) {
    d.sign = d.product = T(0);
    d.logarithm = -std::numeric_limits<Real<T>>::infinity();
    return;
  }
  for (int64_t k = 0; k < n; ++k) {
    const T pivot = diagonal[k * step];
    if (pivots[k] != k + 1) d.sign = -d.sign, d.product = -d.product;
    const Real<T> size = std::abs(pivot);
    d.product *= pivot;
    if constexpr (std::is_floating_point_v<T>)
      d.sign = pivot < 0 ? -d.sign : d.sign;  // a NaN has none
    else
      d.sign *= pivot / size;
    d.logarithm += std::log(size);
  }
}

template <class T>
void determinant(int64_t n, T* a, Determinant<T>& d) {
  const auto pivots = work_space<int64_t>(n);
  const bool regular = factor_lu(n, n, a, pivots.get());
  determinant_of_factors(n, regular, a, n + 1, pivots.get(), d);
}

template <class T>
bool factor_cholesky(int64_t n, T* a, bool upper) {
  if (n == 0) return true;
  int64_t info = 0;
  routines<T>().potrf(upper ? "U" : "L", &n, a, &n, &info, 1);
  return info == 0;
}

template <class T>
bool cholesky(int64_t n, T* a, bool upper) {
  const bool definite = factor_cholesky(n, a, upper);
  for (int64_t j = 0; j < n; ++j) {
    if (upper)
      std::fill(a + j * n + j + 1, a + (j + 1) * n, T(0));
    else
      std::fill(a + j * n, a + j * n + j, T(0));
  }
  return definite;
}

template <class T>
void factor_qr(int64_t m, int64_t n, T* a, T* tau) {
  if (m == 0 || n == 0) return;
  T answer{};
  int64_t info = 0, size = -1;
  routines<T>().geqrf(&m, &n, a, &m, tau, &answer, &size, &info);
  size = std::max(n, size_answered(answer));
  const auto work = work_space<T>(size);
  routines<T>().geqrf(&m, &n, a, &m, tau, work.get(), &size, &info);
}

template <class T>
void make_q(int64_t m, int64_t columns, int64_t k, T* a, const T* tau) {
  if (m == 0 || columns == 0) return;
  T answer{};
  int64_t info = 0, size = -1;
  routines<T>().orgqr(&m, &columns, &k, a, &m, tau, &answer, &size, &info);
  size = std::max(columns, size_answered(answer));
  const auto work = work_space<T>(size);
  routines<T>().orgqr(&m, &columns, &k, a, &m, tau, work.get(), &size, &info);
}

template <class T>
bool singular_values(int64_t m, int64_t n, T* a, SingularVectors wanted, Real<T>* s, T* u, T* vt) {
  const int64_t least = std::min(m, n), most = std::max(m, n);
  if (least == 0) return true;
  const char job[2] = {static_cast<char>(wanted), 0};
  const int64_t u_leading = m, vt_leading = wanted == SingularVectors::some ? least : n;
  const auto integers = work_space<int64_t>(8 * least);
  T answer{};
  int64_t info = 0, size = -1;
  if constexpr (kIsComplex<T>) {
    using Gesdd = void (*)(Text, Int, Int, T*, Int, Real<T>*, T*, Int, T*, Int, T*, Int, Real<T>*, int64_t*, int64_t*, size_t);
    const auto gesdd = reinterpret_cast<Gesdd>(routines<T>().gesdd);
    const int64_t reals = wanted == SingularVectors::none ? 7 * least : least * std::max(5 * least + 7, 2 * most + 2 * least + 1);
    const auto real_work = work_space<Real<T>>(reals);
    gesdd(job, &m, &n, a, &m, s, u, &u_leading, vt, &vt_leading, &answer, &size, real_work.get(), integers.get(), &info, 1);
    size = std::max<int64_t>(1, size_answered(answer));
    const auto work = work_space<T>(size);
    gesdd(job, &m, &n, a, &m, s, u, &u_leading, vt, &vt_leading, work.get(), &size, real_work.get(), integers.get(), &info, 1);
  } else {
    using Gesdd = void (*)(Text, Int, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int, int64_t*, int64_t*, size_t);
    const auto gesdd = reinterpret_cast<Gesdd>(routines<T>().gesdd);
    gesdd(job, &m, &n, a, &m, s, u, &u_leading, vt, &vt_leading, &answer, &size, integers.get(), &info, 1);
    size = std::max<int64_t>(1, size_answered(answer));
    const auto work = work_space<T>(size);
    gesdd(job, &m, &n, a, &m, s, u, &u_leading, vt, &vt_leading, work.get(), &size, integers.get(), &info, 1);
  }
  return info == 0;
}

template <class T>
bool eigenvalues(int64_t n, T* a, std::complex<Real<T>>* values, std::complex<Real<T>>* vectors) {
  if (n == 0) return true;
  const char* const wanted = vectors ? "V" : "N";
  T answer{};
  int64_t info = 0, size = -1;
  const int64_t none = 1;
  if constexpr (kIsComplex<T>) {
    using Geev = void (*)(Text, Text, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int, Real<T>*, int64_t*, size_t, size_t);
    const auto geev = reinterpret_cast<Geev>(routines<T>().geev);
    const auto reals = work_space<Real<T>>(2 * n);
    const int64_t leading = vectors ? n : 1;
    geev("N", wanted, &n, a, &n, values, nullptr, &none, vectors, &leading, &answer, &size, reals.get(), &info, 1, 1);
    size = std::max(2 * n, size_answered(answer));
    const auto work = work_space<T>(size);
    geev("N", wanted, &n, a, &n, values, nullptr, &none, vectors, &leading, work.get(), &size, reals.get(), &info, 1, 1);
  } else {
    using Geev = void (*)(Text, Text, Int, T*, Int, T*, T*, T*, Int, T*, Int, T*, Int, int64_t*, size_t, size_t);
    const auto geev = reinterpret_cast<Geev>(routines<T>().geev);
    const auto re = work_space<T>(n), im = work_space<T>(n), packed = work_space<T>(vectors ? n * n : 1);
    const int64_t leading = vectors ? n : 1;
    geev("N", wanted, &n, a, &n, re.get(), im.get(), nullptr, &none, packed.get(), &leading, &answer, &size, &info, 1, 1);
    size = std::max(4 * n, size_answered(answer));
    const auto work = work_space<T>(size);
    geev("N", wanted, &n, a, &n, re.get(), im.get(), nullptr, &none, packed.get(), &leading, work.get(), &size, &info, 1, 1);
    for (int64_t j = 0; j < n; ++j) values[j] = {re[static_cast<size_t>(j)], im[static_cast<size_t>(j)]};
    // A pair of complex eigenvalues has its vectors as real and imaginary part, in two columns.
    for (int64_t j = 0; vectors && j < n; ++j) {
      const T *x = packed.get() + j * n, *y = x + n;
      const bool pair = values[j].imag() != 0 && j + 1 < n;
      for (int64_t i = 0; i < n; ++i) {
        vectors[j * n + i] = {x[i], pair ? y[i] : T(0)};
        if (pair) vectors[(j + 1) * n + i] = {x[i], -y[i]};
      }
      j += pair;
    }
  }
  return info == 0;
}

template <class T>
bool hermitian_eigenvalues(int64_t n, T* a, bool upper, bool vectors, Real<T>* values) {
  if (n == 0) return true;
  const char *const job = vectors ? "V" : "N", *const part = upper ? "U" : "L";
  T answer{};
  int64_t info = 0, size = -1, integer_answer = 0, integers_size = -1;
  if constexpr (kIsComplex<T>) {
    using Heevd = void (*)(Text, Text, Int, T*, Int, Real<T>*, T*, Int, Real<T>*, Int, int64_t*, Int, int64_t*, size_t, size_t);
    const auto heevd = reinterpret_cast<Heevd>(routines<T>().syevd);
    Real<T> real_answer = 0;
    int64_t reals_size = -1;
    heevd(job, part, &n, a, &n, values, &answer, &size, &real_answer, &reals_size, &integer_answer, &integers_size, &info, 1, 1);
    size = at_least_one(size_answered(answer));
    reals_size = at_least_one(size_answered(real_answer));
    integers_size = at_least_one(integer_answer);
    const auto work = work_space<T>(size);
    const auto reals = work_space<Real<T>>(reals_size);
    const auto integers = work_space<int64_t>(integers_size);
    heevd(job, part, &n, a, &n, values, work.get(), &size, reals.get(), &reals_size, integers.get(), &integers_size, &info, 1, 1);
  } else {
    using Syevd = void (*)(Text, Text, Int, T*, Int, T*, T*, Int, int64_t*, Int, int64_t*, size_t, size_t);
    const auto syevd = reinterpret_cast<Syevd>(routines<T>().syevd);
    syevd(job, part, &n, a, &n, values, &answer, &size, &integer_answer, &integers_size, &info, 1, 1);
    size = at_least_one(size_answered(answer));
    integers_size = at_least_one(integer_answer);
    const auto work = work_space<T>(size);
    const auto integers = work_space<int64_t>(integers_size);
    syevd(job, part, &n, a, &n, values, work.get(), &size, integers.get(), &integers_size, &info, 1, 1);
  }
  return info == 0;
}

template <class T>
bool least_squares(int64_t m, int64_t n, int64_t columns, T* a, T* b, Real<T>* s, Real<T> rcond, int64_t& rank) {
  rank = 0;
  const int64_t a_leading = at_least_one(m), b_leading = at_least_one(std::max(m, n));
  T answer{};
  int64_t info = 0, size = -1, integer_answer = 0;
  if constexpr (kIsComplex<T>) {
    using Gelsd = void (*)(Int, Int, Int, T*, Int, T*, Int, Real<T>*, const Real<T>*, int64_t*, T*, Int, Real<T>*, int64_t*, int64_t*);
    const auto gelsd = reinterpret_cast<Gelsd>(routines<T>().gelsd);
    Real<T> real_answer = 0;
    gelsd(&m, &n, &columns, a, &a_leading, b, &b_leading, s, &rcond, &rank, &answer, &size, &real_answer, &integer_answer, &info);
    size = at_least_one(size_answered(answer));
    const auto work = work_space<T>(size);
    const auto reals = work_space<Real<T>>(size_answered(real_answer));
    const auto integers = work_space<int64_t>(integer_answer);
    gelsd(&m, &n, &columns, a, &a_leading, b, &b_leading, s, &rcond, &rank, work.get(), &size, reals.get(), integers.get(), &info);
  } else {
    using Gelsd = void (*)(Int, Int, Int, T*, Int, T*, Int, T*, const T*, int64_t*, T*, Int, int64_t*, int64_t*);
    const auto gelsd = reinterpret_cast<Gelsd>(routines<T>().gelsd);
    gelsd(&m, &n, &columns, a, &a_leading, b, &b_leading, s, &rcond, &rank, &answer, &size, &integer_answer, &info);
    size = at_least_one(size_answered(answer));
    const auto work = work_space<T>(size);
    const auto integers = work_space<int64_t>(integer_answer);
    gelsd(&m, &n, &columns, a, &a_leading, b, &b_leading, s, &rcond, &rank, work.get(), &size, integers.get(), &info);
  }
  return info == 0;
}

#define GASELL_LAPACK_OF(T)                                                                                \
  template bool solve(int64_t, int64_t, T*, T*);                                                           \
  template void determinant(int64_t, T*, Determinant<T>&);                                                 \
  template bool factor_lu(int64_t, int64_t, T*, int64_t*);                                                 \
  template void solve_triangular(int64_t, int64_t, const T*, T*, bool, char, bool);                        \
  template void solve_factored(int64_t, int64_t, const T*, const int64_t*, T*);                            \
  template void determinant_of_factors(int64_t, bool, const T*, int64_t, const int64_t*, Determinant<T>&); \
  template bool factor_cholesky(int64_t, T*, bool);                                                        \
  template bool cholesky(int64_t, T*, bool);                                                               \
  template void factor_qr(int64_t, int64_t, T*, T*);                                                       \
  template void make_q(int64_t, int64_t, int64_t, T*, const T*);                                           \
  template bool singular_values(int64_t, int64_t, T*, SingularVectors, Real<T>*, T*, T*);                  \
  template bool eigenvalues(int64_t, T*, std::complex<Real<T>>*, std::complex<Real<T>>*);                  \
  template bool hermitian_eigenvalues(int64_t, T*, bool, bool, Real<T>*);                                  \
  template bool least_squares(int64_t, int64_t, int64_t, T*, T*, Real<T>*, Real<T>, int64_t&)

GASELL_LAPACK_OF(float);
GASELL_LAPACK_OF(double);
GASELL_LAPACK_OF(std::complex<float>);
GASELL_LAPACK_OF(std::complex<double>);

}  // namespace gasell::linalg
