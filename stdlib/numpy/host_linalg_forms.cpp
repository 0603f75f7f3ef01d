// Of one matrix each, by LAPACK: Schur's form and what is made by it, pairs of matrices, less common factors, banded matrices. Arrays are
// float64 or complex128 already; what depends on other dtypes, shapes and options is in scipy/linalg/*.gsl.
#include <new>

#include "lang/diagnostic.h"
#include "runtime/linalg/banded.h"
#include "runtime/linalg/factors.h"
#include "runtime/linalg/order.h"
#include "runtime/linalg/pencils.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/lapack_elements.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;
using linalg::Complex;

constexpr int64_t kThreadedFrom = 128;  // extents from which on the library's own threads pay

/// A matrix in Fortran's order; its memory counts towards the budget of the session.
template <class T>
class Matrix {
 public:
  Matrix(Interpreter& in, int64_t rows, int64_t columns)
      : in_(in),
        rows_(rows),
        columns_(columns),
        budget_(in.engine().device().budget()),
        bytes_(rows * columns * static_cast<int64_t>(sizeof(T))) {
    budget_.take(bytes_);
    try {
      data_ = unset_memory<T>(rows * columns);
    } catch (...) {
      budget_.give(bytes_);
      throw;
    }
  }
  /// Of an array of two axes; `above`: as many rows before its first one, of which nothing is set.
  Matrix(Interpreter& in, const Value& v, int64_t above = 0) : Matrix(in, as_array(in, v), above) {}
  ~Matrix() { budget_.give(bytes_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  T* data() { return data_.get(); }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  Value value() const {
    HostArray result(in_, kIsComplexElement ? DType::c128 : DType::f64, {rows_, columns_});
    linalg::copy_matrix(data_.get(), 1, rows_, result.data<T>(), columns_, 1, rows_, columns_);
    return result.value();
  }

 private:
  static constexpr bool kIsComplexElement = linalg::kIsComplex<T>;
  Matrix(Interpreter& in, const Array& array, int64_t above) : Matrix(in, array.shape()[0] + above, array.shape()[1]) {
    const Array::Elements elements = array.elements(in.engine());
    linalg::copy_matrix(reinterpret_cast<const T*>(elements.data), columns_, 1, data_.get() + above, 1, rows_, rows_ - above, columns_);
  }
  Interpreter& in_;
  int64_t rows_, columns_;
  MemoryBudget& budget_;
  int64_t bytes_;
  std::unique_ptr<T[]> data_;
};

template <class T>
HostArray vector_of(Interpreter& in, int64_t n) {
  return HostArray(in, std::is_same_v<T, int64_t> ? DType::i64 : linalg::kIsComplex<T> ? DType::c128 : DType::f64, {n});
}

/// work(element type) with the threads that the array is worth.
template <class Work>
Value of_elements(Interpreter& in, const Value& a, const Work& work) {
  linalg::OpenBlas::get();  // an error where it is not there
  const Array array = as_array(in, a);
  int64_t most = 0;
  for (const int64_t extent : array.shape()) most = std::max(most, extent);
  const linalg::LibraryThreads own(most >= kThreadedFrom ? in.engine().device().properties().threads : 1);
  try {
    const Value result = with_element(array.dtype(), work);
    check_interrupt(in);
    return result;
  } catch (const std::bad_alloc&) {
    throw Error("MemoryError", "Unable to allocate work space of the linear algebra library", {}, Blame::environment);
  }
}

std::vector<int64_t> chosen_of(Interpreter& in, const Value& v) {
  std::vector<int64_t> chosen;
  for (const Value& one : to_vector(in, v)) chosen.push_back(truth(in, one));
  chosen.resize(std::max<size_t>(chosen.size(), 1));
  return chosen;
}

Value hessenberg(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]), q(in, a.rows(), a.rows());
    linalg::hessenberg(a.rows(), a.data(), q.data());
    return make_tuple({a.value(), q.value()});
  });
}

/// schur(a): (t, z, eigenvalues).
Value schur(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]), z(in, a.rows(), a.rows());
    HostArray values = vector_of<Complex>(in, a.rows());
    if (!linalg::schur(a.rows(), a.data(), z.data(), values.data<Complex>()))
      raise("LinAlgError", "Schur form not found. Possibly ill-conditioned.");
    return make_tuple({a.value(), z.value(), values.value()});
  });
}

/// reorder_schur(t, z, chosen): (t, z, eigenvalues) with the chosen ones of a list first.
Value reorder_schur(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> t(in, args[0]), z(in, args[1]);
    HostArray values = vector_of<Complex>(in, t.rows());
    const std::vector<int64_t> chosen = chosen_of(in, args[2]);
    if (!linalg::reorder_schur(t.rows(), chosen.data(), t.data(), z.data(), values.data<Complex>()))
      raise("LinAlgError", "Eigenvalues could not be separated for reordering.");
    return make_tuple({t.value(), z.value(), values.value()});
  });
}

/// sylvester(a, b, c, a's operation, b's operation, sign): (x, scale, whether nothing had to be moved).
Value sylvester(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]), b(in, args[1]), c(in, args[2]);
    double scale = 1;
    const bool fine = linalg::sylvester(c.rows(), c.columns(), a.data(), b.data(), c.data(), str(in, args[3])[0], str(in, args[4])[0],
                                        to_index(in, args[5]), scale);
    return make_tuple({c.value(), Value::of(scale), Value::of(fine)});
  });
}

/// balance(a, job): (a, low, high, scale), low and high from 0.
Value balance(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]);
    HostArray scale = vector_of<double>(in, a.rows());
    int64_t low = 1, high = 0;
    linalg::balance(a.rows(), a.data(), str(in, args[1])[0], low, high, scale.data<double>());
    return make_tuple({a.value(), Value::of(low - 1), Value::of(high - 1), scale.value()});
  });
}

/// eig_both(a): (eigenvalues, left, right).
Value eig_both(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]);
    Matrix<Complex> left(in, a.rows(), a.rows()), right(in, a.rows(), a.rows());
    HostArray values = vector_of<Complex>(in, a.rows());
    if (!linalg::eigenvalues_of_both_sides(a.rows(), a.data(), values.data<Complex>(), left.data(), right.data()))
      raise("LinAlgError", "eig algorithm (geev) did not converge (only eigenvalues with order >= 1 have converged)");
    return make_tuple({values.value(), left.value(), right.value()});
  });
}

/// qz(a, b): (s, t, alpha, beta, q, z).
Value qz(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]), b(in, args[1]), q(in, a.rows(), a.rows()), z(in, a.rows(), a.rows());
    HostArray alpha = vector_of<Complex>(in, a.rows()), beta = vector_of<T>(in, a.rows());
    if (!linalg::qz(a.rows(), a.data(), b.data(), alpha.data<Complex>(), beta.data<T>(), q.data(), z.data()))
      raise("LinAlgError", "Something other than QZ iteration failed");
    return make_tuple({a.value(), b.value(), alpha.value(), beta.value(), q.value(), z.value()});
  });
}

/// reorder_qz(s, t, q, z, chosen): as qz() with the chosen ones of a list first.
Value reorder_qz(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]), b(in, args[1]), q(in, args[2]), z(in, args[3]);
    HostArray alpha = vector_of<Complex>(in, a.rows()), beta = vector_of<T>(in, a.rows());
    const std::vector<int64_t> chosen = chosen_of(in, args[4]);
    if (!linalg::reorder_qz(a.rows(), chosen.data(), a.data(), b.data(), alpha.data<Complex>(), beta.data<T>(), q.data(), z.data()))
      raise("ValueError",
            "Reordering of (A, B) failed because the transformed matrix pair (A, B) would be too far from generalized Schur form; the "
            "problem is very ill-conditioned. (A, B) may have been partially reordered.");
    return make_tuple({a.value(), b.value(), alpha.value(), beta.value(), q.value(), z.value()});
  });
}

/// eig_pencil(a, b): (alpha, beta, left, right).
Value eig_pencil(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]), b(in, args[1]);
    Matrix<Complex> left(in, a.rows(), a.rows()), right(in, a.rows(), a.rows());
    HostArray alpha = vector_of<Complex>(in, a.rows()), beta = vector_of<T>(in, a.rows());
    if (!linalg::pencil_eigenvalues(a.rows(), a.data(), b.data(), alpha.data<Complex>(), beta.data<T>(), left.data(), right.data()))
      raise("LinAlgError", "generalized eig algorithm (ggev) did not converge");
    return make_tuple({alpha.value(), beta.value(), left.value(), right.value()});
  });
}

/// ldl(a, upper, hermitian): (factors, pivots as LAPACK's).
Value ldl(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]);
    HostArray pivots = vector_of<int64_t>(in, a.rows());
    linalg::factor_ldl(a.rows(), a.data(), truth(in, args[1]), truth(in, args[2]), pivots.data<int64_t>());
    return make_tuple({a.value(), pivots.value()});
  });
}

/// qr_pivoted(a): (factors, tau, order from 0).
Value qr_pivoted(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]);
    HostArray tau = vector_of<T>(in, std::min(a.rows(), a.columns())), order = vector_of<int64_t>(in, a.columns());
    auto* const places = order.data<int64_t>();
    linalg::factor_pivoted_qr(a.rows(), a.columns(), a.data(), tau.data<T>(), places);
    for (int64_t k = 0; k < a.columns(); ++k) --places[k];
    return make_tuple({a.value(), tau.value(), order.value()});
  });
}

/// multiply_q(factors, tau, c, side, operation): q c ("L") or c q ("R"), or with the operation "C" with qᴴ.
Value multiply_q(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> a(in, args[0]), c(in, args[2]);
    const Array tau = as_array(in, args[1]);
    const Array::Elements elements = tau.elements(in.engine());
    linalg::multiply_q(c.rows(), c.columns(), tau.shape()[0], a.rows(), str(in, args[3])[0], str(in, args[4])[0], a.data(),
                       reinterpret_cast<const T*>(elements.data), c.data());
    return c.value();
  });
}

/// svd_by_qr(a, vectors): as svd() of one matrix, by gesvd.
Value svd_by_qr(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    const std::string wanted = str(in, args[1]);
    const auto mode = wanted == "all"    ? linalg::SingularVectors::all
                      : wanted == "some" ? linalg::SingularVectors::some
                                         : linalg::SingularVectors::none;
    Matrix<T> a(in, args[0]);
    const int64_t m = a.rows(), n = a.columns(), least = std::min(m, n);
    const bool vectors = mode != linalg::SingularVectors::none, all = mode == linalg::SingularVectors::all;
    Matrix<T> u(in, vectors ? m : 1, vectors ? (all ? m : least) : 1), v(in, vectors ? (all ? n : least) : 1, vectors ? n : 1);
    HostArray s = vector_of<double>(in, least);
    if (!linalg::singular_values_by_qr(m, n, a.data(), mode, s.data<double>(), u.data(), v.data()))
      raise("LinAlgError", "SVD did not converge");
    return vectors ? make_tuple({u.value(), s.value(), v.value()}) : s.value();
  });
}

/// cossin(x, p, q, swapped signs, left, right): (u1, u2, theta, v1h, v2h).
Value cossin(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> x(in, args[0]);
    const int64_t m = x.rows(), p = to_index(in, args[1]), q = to_index(in, args[2]), p2 = m - p, q2 = m - q;
    Matrix<T> x11(in, p, q), x12(in, p, q2), x21(in, p2, q), x22(in, p2, q2), u1(in, p, p), u2(in, p2, p2), v1(in, q, q), v2(in, q2, q2);
    linalg::copy_matrix(x.data(), 1, m, x11.data(), 1, p, p, q);
    linalg::copy_matrix(x.data() + q * m, 1, m, x12.data(), 1, p, p, q2);
    linalg::copy_matrix(x.data() + p, 1, m, x21.data(), 1, p2, p2, q);
    linalg::copy_matrix(x.data() + q * m + p, 1, m, x22.data(), 1, p2, p2, q2);
    HostArray theta = vector_of<double>(in, std::min({p, p2, q, q2}));
    const bool left = truth(in, args[4]), right = truth(in, args[5]);
    if (!linalg::cosines_and_sines(m, p, q, truth(in, args[3]), left, right, x11.data(), x12.data(), x21.data(), x22.data(),
                                   theta.data<double>(), u1.data(), u2.data(), v1.data(), v2.data()))
      raise("LinAlgError", linalg::kIsComplex<T> ? "uncsd did not converge: 1" : "orcsd did not converge: 1");
    const Value none = HostArray(in, as_array(in, args[0]).dtype(), {0, 0}).value();
    return make_tuple(
        {left ? u1.value() : none, left ? u2.value() : none, theta.value(), right ? v1.value() : none, right ? v2.value() : none});
  });
}

/// solve_banded(lower, upper, bands, b): (x, LAPACK's info).
Value solve_banded(Interpreter& in, Args args) {
  return of_elements(in, args[3], [&]<class T>(std::type_identity<T>) {
    const int64_t lower = to_index(in, args[0]), upper = to_index(in, args[1]);
    Matrix<T> bands(in, args[2], lower), b(in, args[3]);
    const int64_t info = linalg::solve_banded(b.rows(), lower, upper, b.columns(), bands.data(), b.data());
    return make_tuple({b.value(), Value::of(info)});
  });
}

/// cholesky_banded(bands, upper): (factor, LAPACK's info).
Value cholesky_banded(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> bands(in, args[0]);
    const int64_t info = linalg::factor_banded_cholesky(bands.columns(), bands.rows() - 1, bands.data(), truth(in, args[1]));
    return make_tuple({bands.value(), Value::of(info)});
  });
}

/// solve_banded_factored(factor, b, upper).
Value solve_banded_factored(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> bands(in, args[0]), b(in, args[1]);
    linalg::solve_banded_factored(bands.columns(), bands.rows() - 1, b.columns(), bands.data(), b.data(), truth(in, args[2]));
    return b.value();
  });
}

/// eig_banded(bands, upper, vectors): eigenvalues; with vectors (values, vectors).
Value eig_banded(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) {
    Matrix<T> bands(in, args[0]);
    const int64_t n = bands.columns();
    const bool wanted = truth(in, args[2]);
    Matrix<T> vectors(in, wanted ? n : 1, wanted ? n : 1);
    HostArray values = vector_of<double>(in, n);
    if (!linalg::banded_eigenvalues(n, bands.rows() - 1, bands.data(), truth(in, args[1]), values.data<double>(),
                                    wanted ? vectors.data() : nullptr))
      raise("LinAlgError", "eig algorithm (sbevd) did not converge");
    return wanted ? make_tuple({values.value(), vectors.value()}) : values.value();
  });
}

/// eig_tridiagonal(diagonal, beside, vectors): as eig_banded().
Value eig_tridiagonal(Interpreter& in, Args args) {
  return of_elements(in, args[0], [&]<class T>(std::type_identity<T>) -> Value {
    const Array d = as_array(in, args[0]), e = as_array(in, args[1]);
    const Array::Elements diagonal = d.elements(in.engine()), beside = e.elements(in.engine());
    const int64_t n = d.shape()[0];
    const bool wanted = truth(in, args[2]);
    Matrix<double> vectors(in, wanted ? n : 1, wanted ? n : 1);
    HostArray values = vector_of<double>(in, n);
    const auto copy = unset_memory<double>(n);
    const auto* const from = reinterpret_cast<const double*>(diagonal.data);
    const auto* const next = reinterpret_cast<const double*>(beside.data);
    std::copy(from, from + n, values.data<double>());
    std::copy(next, next + std::max<int64_t>(n - 1, 0), copy.get());
    if (!linalg::tridiagonal_eigenvalues(n, values.data<double>(), copy.get(), wanted ? vectors.data() : nullptr))
      raise("LinAlgError", "stevd did not converge");
    return wanted ? make_tuple({values.value(), vectors.value()}) : values.value();
  });
}

}  // namespace

std::vector<NativeFunction> linalg_form_functions() {
  return {
      {"hessenberg", "a", hessenberg, "(h, q) of a = q h qᴴ."},
      {"schur", "a", schur, "Schur's form."},
      {"reorder_schur", "t, z, chosen", reorder_schur, "Schur's form with chosen eigenvalues first."},
      {"sylvester", "a, b, c, a_operation, b_operation, sign", sylvester, "Sylvester's equation of Schur's forms."},
      {"balance", "a, job", balance, "A balanced matrix."},
      {"eig_both", "a", eig_both, "Eigenvalues, left and right eigenvectors."},
      {"qz", "a, b", qz, "Generalized Schur's form."},
      {"reorder_qz", "s, t, q, z, chosen", reorder_qz, "Generalized Schur's form with chosen eigenvalues first."},
      {"eig_pencil", "a, b", eig_pencil, "Generalized eigenvalues and eigenvectors."},
      {"ldl", "a, upper, hermitian", ldl, "LAPACK's factors of symmetric matrices."},
      {"qr_pivoted", "a", qr_pivoted, "LAPACK's factors of a QR decomposition with pivots."},
      {"multiply_q", "factors, tau, c, side, operation", multiply_q, "Products with the orthogonal matrices of such factors."},
      {"svd_by_qr", "a, vectors", svd_by_qr, "Singular values by the QR iteration."},
      {"cossin", "x, p, q, swapped, left, right", cossin, "The cosine-sine decomposition."},
      {"solve_banded", "lower, upper, bands, b", solve_banded, "Solutions of banded systems of equations."},
      {"cholesky_banded", "bands, upper", cholesky_banded, "Cholesky's factors of banded matrices."},
      {"solve_banded_factored", "factor, b, upper", solve_banded_factored, "Solutions by such factors."},
      {"eig_banded", "bands, upper, vectors", eig_banded, "Eigenvalues of banded matrices."},
      {"eig_tridiagonal", "diagonal, beside, vectors", eig_tridiagonal, "Eigenvalues of tridiagonal matrices."},
  };
}

}  // namespace gasell::numpy
