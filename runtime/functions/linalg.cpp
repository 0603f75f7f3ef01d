#include "runtime/functions/linalg.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

#include "compiler/codegen/externals.h"
#include "compiler/functions/linalg_status.h"
#include "runtime/functions/context.h"
#include "runtime/linalg/lapack.h"
#include "runtime/linalg/order.h"
#include "runtime/linalg/products.h"
#include "runtime/linalg/small_products.h"

namespace gasell::functions {
namespace {

using linalg::Matrix;
using linalg::Real;

constexpr int64_t kThreadedFrom = 128;  // extents from which on the library's own threads pay

template <class T>
std::unique_ptr<T[]> memory(int64_t count) {
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(std::max<int64_t>(count, 1)));
}

template <class T>
Matrix<T> matrix(int64_t address, int64_t offset, int64_t row_step, int64_t column_step) {
  return {reinterpret_cast<T*>(address) + offset, row_step, column_step};
}

/// work(std::type_identity<T>) with the element type; what it gives, or what went wrong.
template <class Work>
int64_t guarded(int64_t dtype, Work&& work) noexcept {
  try {
    switch (static_cast<DType>(dtype)) {
      case DType::f32: return static_cast<int64_t>(work(std::type_identity<float>{}));
      case DType::f64: return static_cast<int64_t>(work(std::type_identity<double>{}));
      case DType::c64: return static_cast<int64_t>(work(std::type_identity<std::complex<float>>{}));
      default: return static_cast<int64_t>(work(std::type_identity<std::complex<double>>{}));
    }
  } catch (const std::bad_alloc&) {
    return static_cast<int64_t>(LinalgStatus::no_memory);
  } catch (const Error&) {
    return static_cast<int64_t>(LinalgStatus::no_library);
  }
}

template <class T>
bool is_finite(const T& x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

/// A copy in Fortran's order. `finite`: becomes false where an element is not.
template <class T>
std::unique_ptr<T[]> fortran_copy(const Matrix<const T>& x, int64_t rows, int64_t columns, bool& finite) {
  auto copy = memory<T>(rows * columns);
  linalg::copy_matrix(x.data, x.row_step, x.column_step, copy.get(), 1, rows, rows, columns);
  finite = finite && std::all_of(copy.get(), copy.get() + rows * columns, is_finite<T>);
  return copy;
}

template <class T>
void copy_back(const T* from, int64_t rows, int64_t columns, int64_t leading, T* to) {
  linalg::copy_matrix(from, 1, leading, to, columns, 1, rows, columns);
}

/// The library's own threads while a decomposition runs: one in a parallel loop, and for a small matrix.
int threads_for(const FunctionContext* context, int64_t extent) { return extent >= kThreadedFrom ? context->threads() : 1; }

// ---- products ----
constexpr int64_t kTiny = 150;  // multiplications that are done sooner than the library is called
constexpr int64_t kShortDot = 16;
constexpr int64_t kElementsAtOnce = 1 << 25;  // of a matrix, in a call that nothing can interrupt
constexpr double kLongVector = 1e6;           // elements of a matrix from which on its rows are shared by threads

bool is_walkable(int64_t rows, int64_t row_step, int64_t columns, int64_t column_step) {
  return (column_step == 1 && row_step >= columns) || (row_step == 1 && column_step >= rows);
}

/// x, or a copy in C order that `keep` owns, where the library cannot walk it.
template <class T>
Matrix<const T> walkable(const Matrix<const T>& x, int64_t rows, int64_t columns, std::unique_ptr<T[]>& keep) {
  if (is_walkable(rows, x.row_step, columns, x.column_step)) return x;
  keep = memory<T>(rows * columns);
  linalg::copy_matrix(x.data, x.row_step, x.column_step, keep.get(), columns, 1, rows, columns);
  return {keep.get(), columns, 1};
}

template <class T>
void multiply_in_loops(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, int64_t n, int64_t m, int64_t k) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        const T x = a.data[i * a.row_step + p * a.column_step], y = b.data[p * b.row_step + j * b.column_step];
        if constexpr (linalg::kIsComplex<T>)
          sum += T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
        else
          sum += x * y;
      }
      c.data[i * c.row_step + j * c.column_step] = sum;
    }
  }
}

/// c = a x, n × k by a vector whose elements lie `step` apart.
template <class T>
void multiply_vector(FunctionContext& context, const Matrix<const T>& a, const T* x, int64_t step, T* c, int64_t c_step, int64_t n,
                     int64_t k) {
  std::unique_ptr<T[]> a_copy, x_copy;
  const Matrix<const T> walked = walkable(a, n, k, a_copy);
  if (step <= 0) {
    x_copy = memory<T>(k);
    for (int64_t p = 0; p < k; ++p) x_copy[static_cast<size_t>(p)] = x[p * step];
    x = x_copy.get();
    step = 1;
  }
  const bool in_rows = walked.column_step == 1 && walked.row_step >= k;
  const std::atomic<bool>& stop = context.engine().interrupt_flag();
  const auto part = [&](int64_t begin, int64_t end) {
    const int64_t rows = end - begin, leading = std::max<int64_t>(1, in_rows ? walked.row_step : walked.column_step);
    const int64_t at_once = std::max(kShortDot, kElementsAtOnce / rows);
    for (int64_t done = 0; done < k && !(done > 0 && stop); done += at_once) {
      const T one = 1, before = done > 0 ? T(1) : T(0);
      const int64_t here = std::min(at_once, k - done), first = in_rows ? here : rows, second = in_rows ? rows : here;
      linalg::OpenBlas::get().routines<T>().gemv(in_rows ? "T" : "N", &first, &second, &one,
                                                 walked.data + begin * walked.row_step + done * walked.column_step, &leading,
                                                 x + done * step, &step, &before, c + begin * c_step, &c_step, 1);
    }
  };
  const int64_t kRows = in_rows ? 256 : 1024;  // of columns, runs of pages
  if (static_cast<double>(n) * static_cast<double>(k) < kLongVector || n < 2 * kRows) return part(0, n);
  // Cut by the shape alone, so that the bits do not depend on the threads.
  const int64_t pieces = (n + kRows - 1) / kRows;
  const auto piece = [&](int64_t p) {
    if (!stop) part(p * kRows, std::min(n, (p + 1) * kRows));
  };
  if (context.threads() > 1) return context.host().share_pieces(pieces, piece);
  for (int64_t p = 0; p < pieces; ++p) piece(p);
}

template <class T>
void multiply_any(FunctionContext& context, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, int64_t n, int64_t m,
                  int64_t k) {
  if (n * m * k <= kTiny || !linalg::OpenBlas::find()) return multiply_in_loops(a, b, c, n, m, k);
  if (m == 1 && c.row_step > 0) return multiply_vector(context, a, b.data, b.row_step, c.data, c.row_step, n, k);
  if (n == 1 && c.column_step > 0)
    return multiply_vector(context, Matrix<const T>{b.data, b.column_step, b.row_step}, a.data, a.column_step, c.data, c.column_step, m, k);
  std::unique_ptr<T[]> a_copy, b_copy, c_copy;
  const Matrix<const T> left = walkable(a, n, k, a_copy), right = walkable(b, k, m, b_copy);
  Matrix<T> to = c;
  if (!is_walkable(n, c.row_step, m, c.column_step)) {
    c_copy = memory<T>(n * m);
    to = {c_copy.get(), m, 1};
  }
  const bool symmetric = left.data == right.data && n == m && left.row_step == right.column_step && left.column_step == right.row_step;
  if (linalg::is_small(n, m, k))
    linalg::multiply_small(left, right, to, n, m, k, false);
  else
    linalg::multiply_together(context.threads() > 1 ? &context.host() : nullptr, left, right, to, n, m, k, symmetric, false,
                              context.engine().interrupt_flag());
  if (!c_copy) return;
  linalg::copy_matrix(c_copy.get(), m, 1, c.data, c.row_step, c.column_step, n, m);
}

extern "C" {

int64_t gasell_multiply(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, int64_t b,
                        int64_t b_offset, int64_t b_row, int64_t b_column, int64_t c, int64_t c_offset, int64_t c_row, int64_t c_column,
                        int64_t n, int64_t m, int64_t k) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    multiply_any(*context, matrix<const T>(a, a_offset, a_row, a_column), matrix<const T>(b, b_offset, b_row, b_column),
                 matrix<T>(c, c_offset, c_row, c_column), n, m, k);
    return LinalgStatus::done;
  });
}

double gasell_dot(int64_t dtype, int64_t a, int64_t a_offset, int64_t a_step, int64_t b, int64_t b_offset, int64_t b_step,
                  int64_t n) noexcept {
  const auto dot = [&]<class T>(std::type_identity<T>) -> double {
    const T *x = reinterpret_cast<const T*>(a) + a_offset, *y = reinterpret_cast<const T*>(b) + b_offset;
    if (n > kShortDot && a_step > 0 && b_step > 0)
      if (const linalg::OpenBlas* library = linalg::OpenBlas::find()) return library->dot(n, x, a_step, y, b_step);
    T sum = 0;
    for (int64_t k = 0; k < n; ++k) sum += x[k * a_step] * y[k * b_step];
    return sum;
  };
  return static_cast<DType>(dtype) == DType::f32 ? dot(std::type_identity<float>{}) : dot(std::type_identity<double>{});
}

int64_t gasell_solve(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, int64_t b,
                     int64_t b_offset, int64_t b_row, int64_t b_column, int64_t x, int64_t n, int64_t m) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    bool finite = true;
    const auto left = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), n, n, finite);
    std::unique_ptr<T[]> right;
    if (b) {
      right = fortran_copy(matrix<const T>(b, b_offset, b_row, b_column), n, m, finite);
    } else {
      right = memory<T>(n * n);
      std::fill(right.get(), right.get() + n * n, T(0));
      for (int64_t i = 0; i < n; ++i) right[static_cast<size_t>(i * n + i)] = 1;
    }
    if (!finite) return LinalgStatus::not_finite;
    const linalg::LibraryThreads threads(threads_for(context, n));
    if (!linalg::solve(n, m, left.get(), right.get())) return LinalgStatus::not_possible;
    copy_back(right.get(), n, m, n, reinterpret_cast<T*>(x));
    return LinalgStatus::done;
  });
}

int64_t gasell_determinant(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, int64_t n,
                           void* sign, void* logarithm) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    bool finite = true;
    const auto copy = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), n, n, finite);
    if (!finite) return LinalgStatus::not_finite;
    const linalg::LibraryThreads threads(threads_for(context, n));
    linalg::Determinant<T> d;
    linalg::determinant(n, copy.get(), d);
    *static_cast<T*>(sign) = d.sign;
    *static_cast<Real<T>*>(logarithm) = d.logarithm;
    return LinalgStatus::done;
  });
}

int64_t gasell_cholesky(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, void* factor,
                        int64_t n) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    bool finite = true;
    const auto copy = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), n, n, finite);
    const linalg::LibraryThreads threads(threads_for(context, n));
    if (!linalg::cholesky(n, copy.get(), false)) return LinalgStatus::not_possible;
    copy_back(copy.get(), n, n, n, static_cast<T*>(factor));
    return LinalgStatus::done;
  });
}

int64_t gasell_qr(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, void* q, void* r,
                  int64_t m, int64_t n) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    bool finite = true;
    const int64_t least = std::min(m, n);
    const auto copy = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), m, n, finite);
    const auto tau = memory<T>(least);
    if (!finite) return LinalgStatus::not_finite;
    const linalg::LibraryThreads threads(threads_for(context, std::max(m, n)));
    linalg::factor_qr(m, n, copy.get(), tau.get());
    T* const upper = static_cast<T*>(r);
    for (int64_t i = 0; i < least; ++i)
      for (int64_t j = 0; j < n; ++j) upper[i * n + j] = i <= j ? copy[static_cast<size_t>(j * m + i)] : T(0);
    linalg::make_q(m, least, least, copy.get(), tau.get());
    copy_back(copy.get(), m, least, m, static_cast<T*>(q));
    return LinalgStatus::done;
  });
}

int64_t gasell_svd(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, void* u, void* s,
                   void* vh, int64_t m, int64_t n, int64_t all) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    bool finite = true;
    const int64_t least = std::min(m, n), u_columns = all ? m : least, v_rows = all ? n : least;
    const auto copy = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), m, n, finite);
    const auto left = memory<T>(u ? m * u_columns : 1), right = memory<T>(u ? v_rows * n : 1);
    if (!finite) return LinalgStatus::not_finite;
    const linalg::LibraryThreads threads(threads_for(context, std::max(m, n)));
    using linalg::SingularVectors;
    const auto wanted = !u ? SingularVectors::none : all ? SingularVectors::all : SingularVectors::some;
    if (!linalg::singular_values(m, n, copy.get(), wanted, static_cast<Real<T>*>(s), left.get(), right.get()))
      return LinalgStatus::not_converged;
    if (u) {
      copy_back(left.get(), m, u_columns, m, static_cast<T*>(u));
      copy_back(right.get(), v_rows, n, v_rows, static_cast<T*>(vh));
    }
    return LinalgStatus::done;
  });
}

int64_t gasell_eig(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, void* values,
                   void* vectors, int64_t n) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    using C = std::complex<Real<T>>;
    bool finite = true;
    const auto copy = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), n, n, finite);
    const auto found = memory<C>(n), columns = memory<C>(vectors ? n * n : 1);
    if (!finite) return LinalgStatus::not_finite;
    const linalg::LibraryThreads threads(threads_for(context, n));
    if (!linalg::eigenvalues<T>(n, copy.get(), found.get(), vectors ? columns.get() : nullptr)) return LinalgStatus::not_converged;
    const auto put = [](const C& from, T& to) {
      if constexpr (linalg::kIsComplex<T>)
        to = from;
      else
        to = from.real();
    };
    for (int64_t j = 0; j < n; ++j) {
      if (!linalg::kIsComplex<T> && found[static_cast<size_t>(j)].imag() != 0) return LinalgStatus::not_real;
      put(found[static_cast<size_t>(j)], static_cast<T*>(values)[j]);
      for (int64_t i = 0; vectors && i < n; ++i) put(columns[static_cast<size_t>(j * n + i)], static_cast<T*>(vectors)[i * n + j]);
    }
    return LinalgStatus::done;
  });
}

int64_t gasell_eigh(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, void* values,
                    void* vectors, int64_t n) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    bool finite = true;
    const auto copy = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), n, n, finite);
    if (!finite) return LinalgStatus::not_finite;
    const linalg::LibraryThreads threads(threads_for(context, n));
    if (!linalg::hermitian_eigenvalues(n, copy.get(), false, vectors != nullptr, static_cast<Real<T>*>(values)))
      return LinalgStatus::not_converged;
    if (vectors) copy_back(copy.get(), n, n, n, static_cast<T*>(vectors));
    return LinalgStatus::done;
  });
}

int64_t gasell_lstsq(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, int64_t b,
                     int64_t b_offset, int64_t b_row, int64_t b_column, int64_t m, int64_t n, int64_t columns, double rcond, void* x,
                     void* residuals, void* s, int64_t* rank) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    bool finite = true;
    const int64_t most = std::max(m, n);
    const auto left = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), m, n, finite);
    const auto given = fortran_copy(matrix<const T>(b, b_offset, b_row, b_column), m, columns, finite);
    if (!finite) return LinalgStatus::not_finite;
    const auto right = memory<T>(most * columns);
    std::fill(right.get(), right.get() + most * columns, T(0));
    for (int64_t j = 0; j < columns; ++j) std::copy(given.get() + j * m, given.get() + (j + 1) * m, right.get() + j * most);
    const linalg::LibraryThreads threads(threads_for(context, most));
    if (!linalg::least_squares(m, n, columns, left.get(), right.get(), static_cast<Real<T>*>(s), static_cast<Real<T>>(rcond), *rank))
      return LinalgStatus::not_converged;
    copy_back(right.get(), n, columns, most, static_cast<T*>(x));
    auto* const sums = static_cast<Real<T>*>(residuals);
    for (int64_t j = 0; j < columns; ++j) {
      sums[j] = 0;
      for (int64_t i = n; i < m; ++i) sums[j] += std::norm(right[static_cast<size_t>(j * most + i)]);
    }
    return LinalgStatus::done;
  });
}

int64_t gasell_pinv(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column, int64_t m,
                    int64_t n, double rcond, void* result) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    bool finite = true;
    const int64_t least = std::min(m, n);
    const auto copy = fortran_copy(matrix<const T>(a, a_offset, a_row, a_column), m, n, finite);
    const auto u = memory<T>(m * least), vh = memory<T>(least * n);
    const auto s = memory<Real<T>>(least);
    if (!finite) return LinalgStatus::not_finite;
    if (least == 0) return LinalgStatus::done;
    const linalg::LibraryThreads threads(threads_for(context, std::max(m, n)));
    if (!linalg::singular_values(m, n, copy.get(), linalg::SingularVectors::some, s.get(), u.get(), vh.get()))
      return LinalgStatus::not_converged;
    // result = v s⁻¹ uᴴ: columns of u are scaled and conjugated, vh is conjugated.
    for (int64_t j = 0; j < least; ++j) {
      const Real<T> value = s[static_cast<size_t>(j)], scale = value > static_cast<Real<T>>(rcond) * s[0] ? 1 / value : 0;
      for (int64_t i = 0; i < m; ++i) u[static_cast<size_t>(j * m + i)] *= scale;
    }
    if constexpr (linalg::kIsComplex<T>) {
      for (int64_t k = 0; k < m * least; ++k) u[static_cast<size_t>(k)] = std::conj(u[static_cast<size_t>(k)]);
      for (int64_t k = 0; k < n * least; ++k) vh[static_cast<size_t>(k)] = std::conj(vh[static_cast<size_t>(k)]);
    }
    linalg::multiply(Matrix<const T>{vh.get(), least, 1}, Matrix<const T>{u.get(), m, 1}, Matrix<T>{static_cast<T*>(result), m, 1}, n, m,
                     least, false);
    return LinalgStatus::done;
  });
}

int64_t gasell_matrix_power(FunctionContext* context, int64_t dtype, int64_t a, int64_t a_offset, int64_t a_row, int64_t a_column,
                            int64_t n, int64_t power, void* result) {
  return guarded(dtype, [&]<class T>(std::type_identity<T>) {
    T* const to = static_cast<T*>(result);
    const auto base = memory<T>(n * n), total = memory<T>(n * n), next = memory<T>(n * n);
    const Matrix<const T> given = matrix<const T>(a, a_offset, a_row, a_column);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        base[static_cast<size_t>(i * n + j)] = given.data[i * given.row_step + j * given.column_step];
        to[i * n + j] = T(i == j);
      }
    }
    if (power < 0) {
      const int64_t status = gasell_solve(context, dtype, reinterpret_cast<int64_t>(base.get()), 0, n, 1, 0, 0, 0, 0,
                                          reinterpret_cast<int64_t>(total.get()), n, n);
      if (status != 0) return static_cast<LinalgStatus>(status);
      std::copy(total.get(), total.get() + n * n, base.get());
    }
    const auto multiplied = [&](T* x, const T* y) {
      multiply_any(*context, Matrix<const T>{x, n, 1}, Matrix<const T>{y, n, 1}, Matrix<T>{next.get(), n, 1}, n, n, n);
      std::copy(next.get(), next.get() + n * n, x);
    };
    bool first = true;
    const std::atomic<bool>& stop = context->engine().interrupt_flag();
    for (uint64_t rest = power < 0 ? 0 - static_cast<uint64_t>(power) : static_cast<uint64_t>(power); rest != 0 && !stop; rest >>= 1) {
      if (rest & 1) {
        if (first)
          std::copy(base.get(), base.get() + n * n, to);
        else
          multiplied(to, base.get());
        first = false;
      }
      if (rest > 1) multiplied(base.get(), base.get());
    }
    return LinalgStatus::done;
  });
}

}  // extern "C"

template <class F>
void add(const char* name, F* function) {
  register_external(name, reinterpret_cast<void*>(function));
}

}  // namespace

void register_linalg_functions() {
  static const bool once = [] {
    add("gasell_multiply", &gasell_multiply);
    add("gasell_dot", &gasell_dot);
    add("gasell_solve", &gasell_solve);
    add("gasell_determinant", &gasell_determinant);
    add("gasell_cholesky", &gasell_cholesky);
    add("gasell_qr", &gasell_qr);
    add("gasell_svd", &gasell_svd);
    add("gasell_eig", &gasell_eig);
    add("gasell_eigh", &gasell_eigh);
    add("gasell_lstsq", &gasell_lstsq);
    add("gasell_pinv", &gasell_pinv);
    add("gasell_matrix_power", &gasell_matrix_power);
    return true;
  }();
  (void)once;
}

}  // namespace gasell::functions
