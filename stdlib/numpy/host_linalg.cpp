// Decompositions of matrices, and of stacks of them (all axes but the last two), by LAPACK. Arrays are float64 or complex128 already; what
// depends on other dtypes, shapes and options is in linalg/*.gsl.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>

#include "lang/diagnostic.h"
#include "runtime/linalg/lapack.h"
#include "runtime/linalg/order.h"
#include "runtime/linalg/tall_qr.h"
#include "stdlib/named_tuple.h"
#include "stdlib/numpy/gpu_linalg.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/lapack_elements.h"
#include "stdlib/numpy/products.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;
using linalg::Real;

/// The elements of an array as matrices, rows together.
struct Stack {
  Stack(Interpreter& in, const Value& v) : array(as_array(in, v)), elements(array.elements(in.engine())) {
    const Shape& shape = array.shape();
    outer.assign(shape.begin(), shape.end() - 2);
    rows = shape[shape.size() - 2];
    columns = shape.back();
    count = graph::size_of(outer);
  }
  Shape with(std::initializer_list<int64_t> last) const {
    Shape shape = outer;
    shape.insert(shape.end(), last);
    return shape;
  }
  /// Matrix k in Fortran's order.
  template <class T>
  void copy_to(int64_t k, T* to) const {
    linalg::copy_matrix(reinterpret_cast<const T*>(elements.data) + k * rows * columns, columns, 1, to, 1, rows, rows, columns);
  }
  /// Rows of the first matrix.
  template <class T>
  void copy_rows(int64_t begin, int64_t number, T* to, int64_t leading) const {
    linalg::copy_matrix(reinterpret_cast<const T*>(elements.data) + begin * columns, columns, 1, to, 1, leading, number, columns);
  }

  Array array;
  Array::Elements elements;
  Shape outer;
  int64_t rows, columns, count;
};

/// From Fortran's order, whose columns lie `leading` elements apart, to ours.
template <class T>
void copy_back(const T* from, int64_t rows, int64_t columns, T* to, int64_t leading) {
  linalg::copy_matrix(from, 1, leading, to, columns, 1, rows, columns);
}
template <class T>
void copy_back(const T* from, int64_t rows, int64_t columns, T* to) {
  copy_back(from, rows, columns, to, rows);
}

/// Scratch memory counts towards the budget of the session.
class Scratch {
 public:
  Scratch(Interpreter& in, int64_t bytes) : budget_(in.engine().device().budget()), bytes_(bytes) { budget_.take(bytes); }
  ~Scratch() { budget_.give(bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  MemoryBudget& budget_;
  int64_t bytes_;
};

constexpr double kPiece = 2e5;          // operations worth waking a core
constexpr int64_t kThreadedFrom = 128;  // extents from which on the library's own threads pay

/// work(k) for each matrix of a stack, `operations` each: small ones beside each other, a large one with the library's threads. Work that
/// returns false failed; whether all went well.
template <class Work>
bool for_each_matrix(Interpreter& in, const Stack& stack, double operations, int64_t scratch_bytes, const Work& work) {
  linalg::OpenBlas::get();  // an error where it is not there
  Device& host = in.engine().device();
  const int threads = host.properties().threads;
  const bool beside = threads > 1 && stack.count > 1 && operations * static_cast<double>(stack.count) > 2 * kPiece &&
                      (stack.count >= threads || std::max(stack.rows, stack.columns) < kThreadedFrom);
  const Scratch scratch(in, scratch_bytes * (beside ? threads : 1));
  std::atomic<bool> fine{true}, no_memory{false};
  const auto one = [&](int64_t k) {
    if (in.engine().interrupted() || no_memory) return;
    try {
      if (!work(k)) fine = false;
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
  };
  if (beside) {
    const int64_t together = std::max<int64_t>(1, static_cast<int64_t>(kPiece / std::max(operations, 1.0)));
    host.share_pieces((stack.count + together - 1) / together, [&](int64_t piece) {
      for (int64_t k = piece * together; k < std::min(stack.count, (piece + 1) * together); ++k) one(k);
    });
  } else {
    const linalg::LibraryThreads own(std::max(stack.rows, stack.columns) >= kThreadedFrom ? threads : 1);
    for (int64_t k = 0; k < stack.count; ++k) one(k);
  }
  check_interrupt(in);
  if (no_memory) throw Error("MemoryError", "Unable to allocate work space of the linear algebra library", {}, Blame::environment);
  return fine;
}

double cube(const Stack& s) {
  return static_cast<double>(s.rows) * static_cast<double>(s.columns) * static_cast<double>(std::max(s.rows, s.columns)) + 500;
}

/// solve(a, b): of stacks of one shape; b's matrices have any number of columns.
Value solve(Interpreter& in, Args args) {
  if (std::optional<Value> made = gpu_solve(in, args[0], args[1])) return *std::move(made);
  const Stack a(in, args[0]), b(in, args[1]);
  HostArray result(in, b.array.dtype(), b.array.shape());
  const bool fine = with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    T* target = result.data<T>();
    return for_each_matrix(in, a, cube(a), (a.rows * a.columns + b.rows * b.columns) * static_cast<int64_t>(sizeof(T)),
                           [&, target](int64_t k) {
                             const auto left = unset_memory<T>(a.rows * a.columns), right = unset_memory<T>(b.rows * b.columns);
                             a.copy_to(k, left.get());
                             b.copy_to(k, right.get());
                             if (!linalg::solve(a.rows, b.columns, left.get(), right.get())) return false;
                             copy_back(right.get(), b.rows, b.columns, target + k * b.rows * b.columns);
                             return true;
                           });
  });
  if (!fine) raise_singular();
  return result.value();
}

/// lu(a): LAPACK's factors of p l u in one array, and the rows that were exchanged one after the other, from 0, int64.
Value lu(Interpreter& in, Args args) {
  const Stack a(in, args[0]);
  const int64_t least = std::min(a.rows, a.columns), size = a.rows * a.columns;
  HostArray factors(in, a.array.dtype(), a.array.shape()), rows(in, DType::i64, a.with({least}));
  with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    T* target = factors.data<T>();
    auto* const pivots = rows.data<int64_t>();
    for_each_matrix(in, a, cube(a) / 3, size * static_cast<int64_t>(sizeof(T)), [&, target, pivots](int64_t k) {
      const auto copy = unset_memory<T>(size);
      a.copy_to(k, copy.get());
      linalg::factor_lu(a.rows, a.columns, copy.get(), pivots + k * least);
      for (int64_t i = 0; i < least; ++i) --pivots[k * least + i];
      copy_back(copy.get(), a.rows, a.columns, target + k * size);
      return true;
    });
  });
  return make_tuple({factors.value(), rows.value()});
}

/// solve_triangular(a, b, upper, operation, unit): a x = b, or with the transposed a ("T"), or the conjugate one of that ("C"), of one
/// triangle of a. With a zero on the diagonal, what a division by that gives.
Value solve_triangular(Interpreter& in, Args args) {
  const Stack a(in, args[0]), b(in, args[1]);
  const bool upper = truth(in, args[2]), unit = truth(in, args[4]);
  const char operation = str(in, args[3])[0];
  HostArray result(in, b.array.dtype(), b.array.shape());
  with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    T* target = result.data<T>();
    for_each_matrix(in, a, cube(a) / 2, (a.rows * a.columns + b.rows * b.columns) * static_cast<int64_t>(sizeof(T)),
                    [&, target](int64_t k) {
                      const auto left = unset_memory<T>(a.rows * a.columns), right = unset_memory<T>(b.rows * b.columns);
                      a.copy_to(k, left.get());
                      b.copy_to(k, right.get());
                      linalg::solve_triangular(a.rows, b.columns, left.get(), right.get(), upper, operation, unit);
                      copy_back(right.get(), b.rows, b.columns, target + k * b.rows * b.columns);
                      return true;
                    });
  });
  return result.value();
}

/// inverse(a, strict): without `strict`, NaN where a matrix has none.
Value inverse(Interpreter& in, Args args) {
  const bool strict = truth(in, args[1]);
  if (std::optional<Value> made = gpu_inverse(in, args[0], strict)) return *std::move(made);
  const Stack a(in, args[0]);
  const int64_t n = a.rows;
  HostArray result(in, a.array.dtype(), a.array.shape());
  const bool fine = with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    T* target = result.data<T>();
    return for_each_matrix(in, a, cube(a), 2 * n * n * static_cast<int64_t>(sizeof(T)), [&, target](int64_t k) {
      const auto left = unset_memory<T>(n * n), right = unset_memory<T>(n * n);
      a.copy_to(k, left.get());
      std::fill(right.get(), right.get() + n * n, T(0));
      for (int64_t i = 0; i < n; ++i) right[static_cast<size_t>(i * n + i)] = 1;
      if (!linalg::solve(n, n, left.get(), right.get())) {
        std::fill(target + k * n * n, target + (k + 1) * n * n, T(std::numeric_limits<double>::quiet_NaN()));
        return false;
      }
      copy_back(right.get(), n, n, target + k * n * n);
      return true;
    });
  });
  if (!fine && strict) raise_singular();
  return result.value();
}

/// determinant(a): (sign, logarithm of the absolute value, sign * exp(logarithm)).
Value determinant(Interpreter& in, Args args) {
  const Array array = as_array(in, args[0]);
  const Shape outer(array.shape().begin(), array.shape().end() - 2);
  HostArray sign(in, array.dtype(), outer), logarithm(in, DType::f64, outer), value(in, array.dtype(), outer);
  with_element(array.dtype(), [&]<class T>(std::type_identity<T>) {
    T *signs = sign.data<T>(), *values = value.data<T>();
    double* logarithms = logarithm.data<double>();
    const auto put = [signs, values, logarithms](int64_t k, const linalg::Determinant<T>& d) {
      signs[k] = d.sign;
      logarithms[k] = d.logarithm;
      values[k] = d.sign * std::exp(d.logarithm);
    };
    if (const std::optional<GpuFactors> factors = gpu_factors(in, args[0])) {
      const Array::Elements diagonals = factors->diagonals.elements(in.engine()), pivots = factors->pivots.elements(in.engine());
      const int64_t n = array.shape().back();
      for (size_t k = 0; k < factors->regular.size(); ++k) {
        const int64_t first = static_cast<int64_t>(k) * n;
        linalg::Determinant<T> d;
        linalg::determinant_of_factors(n, factors->regular[k] != 0, reinterpret_cast<const T*>(diagonals.data) + first, 1,
                                       reinterpret_cast<const int64_t*>(pivots.data) + first, d);
        put(static_cast<int64_t>(k), d);
      }
      return;
    }
    const Stack a(in, args[0]);
    for_each_matrix(in, a, cube(a), a.rows * a.columns * static_cast<int64_t>(sizeof(T)), [&](int64_t k) {
      const auto copy = unset_memory<T>(a.rows * a.columns);
      a.copy_to(k, copy.get());
      linalg::Determinant<T> d;
      linalg::determinant(a.rows, copy.get(), d);
      put(k, d);
      return true;
    });
  });
  return make_tuple({sign.value(), logarithm.value(), value.value()});
}

Value cholesky(Interpreter& in, Args args) {
  const bool upper = truth(in, args[1]);
  if (std::optional<Value> made = gpu_cholesky(in, args[0], upper)) return *std::move(made);
  const Stack a(in, args[0]);
  HostArray result(in, a.array.dtype(), a.array.shape());
  const bool fine = with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    T* target = result.data<T>();
    return for_each_matrix(in, a, cube(a) / 3, a.rows * a.rows * static_cast<int64_t>(sizeof(T)), [&, target](int64_t k) {
      const auto copy = unset_memory<T>(a.rows * a.rows);
      a.copy_to(k, copy.get());
      const bool done = linalg::cholesky(a.rows, copy.get(), upper);
      copy_back(copy.get(), a.rows, a.rows, target + k * a.rows * a.rows);
      return done;
    });
  });
  if (!fine) raise_not_positive_definite();
  return result.value();
}

/// qr(a): LAPACK's factors: (a with r above and the reflections below the diagonal, tau).
Value qr(Interpreter& in, Args args) {
  if (std::optional<Value> made = gpu_qr(in, args[0])) return *std::move(made);
  const Stack a(in, args[0]);
  const int64_t least = std::min(a.rows, a.columns), size = a.rows * a.columns;
  HostArray factors(in, a.array.dtype(), a.array.shape()), taus(in, a.array.dtype(), a.with({least}));
  with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    T *target = factors.data<T>(), *tau = taus.data<T>();
    for_each_matrix(in, a, cube(a), size * static_cast<int64_t>(sizeof(T)), [&, target, tau](int64_t k) {
      const auto copy = unset_memory<T>(size);
      a.copy_to(k, copy.get());
      linalg::factor_qr(a.rows, a.columns, copy.get(), tau + k * least);
      copy_back(copy.get(), a.rows, a.columns, target + k * size);
      return true;
    });
  });
  return make_tuple({factors.value(), taus.value()});
}

/// qr_q(factors, tau, columns): the first columns of q.
Value qr_q(Interpreter& in, Args args) {
  if (std::optional<Value> made = gpu_qr_q(in, args[0], args[1], to_index(in, args[2]))) return *std::move(made);
  const Stack a(in, args[0]);
  const Array taus = as_array(in, args[1]);
  const Array::Elements tau_elements = taus.elements(in.engine());
  const int64_t columns = to_index(in, args[2]), least = std::min(a.rows, a.columns), size = a.rows * std::max(columns, a.columns);
  HostArray result(in, a.array.dtype(), a.with({a.rows, columns}));
  with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    T* target = result.data<T>();
    const T* tau = reinterpret_cast<const T*>(tau_elements.data);
    for_each_matrix(in, a, cube(a), size * static_cast<int64_t>(sizeof(T)), [&, target, tau](int64_t k) {
      const auto copy = unset_memory<T>(size);
      a.copy_to(k, copy.get());
      linalg::make_q(a.rows, columns, least, copy.get(), tau + k * least);
      copy_back(copy.get(), a.rows, columns, target + k * a.rows * columns);
      return true;
    });
  });
  return result.value();
}

/// svd(a, vectors): singular values; with vectors "some" or "all" (u, singular values, vh).
Value svd(Interpreter& in, Args args) {
  const std::string wanted = str(in, args[1]);
  const bool all = wanted == "all", vectors = all || wanted == "some";
  const Array array = as_array(in, args[0]);
  const bool square = array.shape().back() == array.shape()[array.shape().size() - 2];
  if (!all || square)
    if (std::optional<Value> made = gpu_svd(in, args[0], vectors)) return *std::move(made);
  const Stack a(in, args[0]);
  const int64_t m = a.rows, n = a.columns, least = std::min(m, n), u_columns = all ? m : least, v_rows = all ? n : least;
  HostArray values(in, DType::f64, a.with({least}));
  HostArray u(in, a.array.dtype(), vectors ? a.with({m, u_columns}) : Shape{0}),
      v(in, a.array.dtype(), vectors ? a.with({v_rows, n}) : Shape{0});
  const bool fine = with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    double* s = values.data<double>();
    T *to_u = u.data<T>(), *to_v = v.data<T>();
    const int64_t scratch = (m * n + (vectors ? m * u_columns + v_rows * n : 0)) * static_cast<int64_t>(sizeof(T));
    return for_each_matrix(in, a, 8 * cube(a), scratch, [&, s, to_u, to_v](int64_t k) {
      const auto copy = unset_memory<T>(m * n), left = unset_memory<T>(vectors ? m * u_columns : 1),
                 right = unset_memory<T>(vectors ? v_rows * n : 1);
      a.copy_to(k, copy.get());
      if (least == 0) {  // no values; q of nothing is the identity
        std::fill(left.get(), left.get() + (vectors ? m * u_columns : 0), T(0));
        std::fill(right.get(), right.get() + (vectors ? v_rows * n : 0), T(0));
        for (int64_t i = 0; vectors && i < std::min(m, u_columns); ++i) left[static_cast<size_t>(i * m + i)] = 1;
        for (int64_t i = 0; vectors && i < std::min(n, v_rows); ++i) right[static_cast<size_t>(i * v_rows + i)] = 1;
      }
      const auto mode = !vectors ? linalg::SingularVectors::none : all ? linalg::SingularVectors::all : linalg::SingularVectors::some;
      if (!linalg::singular_values(m, n, copy.get(), mode, s + k * least, left.get(), right.get())) return false;
      if (vectors) {
        copy_back(left.get(), m, u_columns, to_u + k * m * u_columns);
        copy_back(right.get(), v_rows, n, to_v + k * v_rows * n);
      }
      return true;
    });
  });
  if (!fine) raise("LinAlgError", "SVD did not converge");
  return vectors ? make_tuple({u.value(), values.value(), v.value()}) : values.value();
}

/// eig(a, vectors): complex eigenvalues; with vectors (values, vectors).
Value eig(Interpreter& in, Args args) {
  const Stack a(in, args[0]);
  const bool vectors = truth(in, args[1]);
  const int64_t n = a.rows;
  HostArray values(in, DType::c128, a.with({n})), right(in, DType::c128, vectors ? a.array.shape() : Shape{0});
  const bool fine = with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    using C = std::complex<double>;
    C *to_values = values.data<C>(), *to_vectors = right.data<C>();
    return for_each_matrix(in, a, 12 * cube(a), n * n * static_cast<int64_t>(sizeof(T) + sizeof(C)), [&, to_values, to_vectors](int64_t k) {
      const auto copy = unset_memory<T>(n * n);
      const auto found = unset_memory<C>(vectors ? n * n : 1);
      a.copy_to(k, copy.get());
      if (!linalg::eigenvalues<T>(n, copy.get(), to_values + k * n, vectors ? found.get() : nullptr)) return false;
      if (vectors) copy_back(found.get(), n, n, to_vectors + k * n * n);
      return true;
    });
  });
  if (!fine) raise("LinAlgError", "Eigenvalues did not converge");
  return vectors ? make_tuple({values.value(), right.value()}) : values.value();
}

/// eigh(a, upper, vectors): eigenvalues of hermitian matrices; with vectors (values, vectors).
Value eigh(Interpreter& in, Args args) {
  const bool upper = truth(in, args[1]), vectors = truth(in, args[2]);
  if (std::optional<Value> made = gpu_eigh(in, args[0], upper, vectors)) return *std::move(made);
  const Stack a(in, args[0]);
  const int64_t n = a.rows;
  HostArray values(in, DType::f64, a.with({n})), found(in, a.array.dtype(), vectors ? a.array.shape() : Shape{0});
  const bool fine = with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    double* to_values = values.data<double>();
    T* to_vectors = found.data<T>();
    return for_each_matrix(in, a, 5 * cube(a), n * n * static_cast<int64_t>(sizeof(T)), [&, to_values, to_vectors](int64_t k) {
      const auto copy = unset_memory<T>(n * n);
      a.copy_to(k, copy.get());
      if (!linalg::hermitian_eigenvalues(n, copy.get(), upper, vectors, to_values + k * n)) return false;
      if (vectors) copy_back(copy.get(), n, n, to_vectors + k * n * n);
      return true;
    });
  });
  if (!fine) raise("LinAlgError", "Eigenvalues did not converge");
  return vectors ? make_tuple({values.value(), found.value()}) : values.value();
}

/// lstsq(a, b, rcond): (solutions, sums of squared residuals, rank, singular values) of one matrix.
Value lstsq(Interpreter& in, Args args) {
  const Stack a(in, args[0]), b(in, args[1]);
  const double rcond = to_double(in, args[2]);
  const int64_t m = a.rows, n = a.columns, columns = b.columns, most = std::max(m, n), least = std::min(m, n);
  HostArray x(in, a.array.dtype(), {n, columns}), residuals(in, DType::f64, {columns}), values(in, DType::f64, {least});
  int64_t rank = 0;
  const bool fine = with_element(a.array.dtype(), [&]<class T>(std::type_identity<T>) {
    T* to = x.data<T>();
    double *sums = residuals.data<double>(), *s = values.data<double>();
    if (linalg::is_tall(m, n + columns)) {
      const auto solution = unset_memory<T>(n * columns);
      const linalg::RowsOf<T> both = [&](int64_t begin, int64_t rows, T* block, int64_t leading) {
        a.copy_rows(begin, rows, block, leading);
        b.copy_rows(begin, rows, block + n * leading, leading);
      };
      linalg::OpenBlas::get();
      const bool found = linalg::tall_least_squares<T>(in.engine().device(), m, n, columns, both, solution.get(), sums, s, rcond, rank,
                                                       in.engine().interrupt_flag());
      check_interrupt(in);
      copy_back(solution.get(), n, columns, to);
      return found;
    }
    return for_each_matrix(in, a, cube(a), (m * n + most * columns) * static_cast<int64_t>(sizeof(T)), [&, to, sums, s](int64_t) {
      const auto left = unset_memory<T>(m * n), right = unset_memory<T>(most * columns);
      a.copy_to(0, left.get());
      const T* from = reinterpret_cast<const T*>(b.elements.data);
      std::fill(right.get(), right.get() + most * columns, T(0));
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < columns; ++j) right[static_cast<size_t>(j * most + i)] = from[i * columns + j];
      if (!linalg::least_squares(m, n, columns, left.get(), right.get(), s, rcond, rank)) return false;
      copy_back(right.get(), n, columns, to, most);
      for (int64_t j = 0; j < columns; ++j) {
        sums[j] = 0;
        for (int64_t i = n; i < m; ++i) sums[j] += std::norm(right[static_cast<size_t>(j * most + i)]);
      }
      return true;
    });
  });
  if (!fine) raise("LinAlgError", "SVD did not converge in Linear Least Squares");
  return make_tuple({x.value(), residuals.value(), wrap_scalar(Scalar::of_int(rank).cast(DType::i32)), values.value()});
}

Value named(Interpreter& in, Args args) {
  std::vector<std::string> fields;
  for (const Value& v : to_vector(in, args[1])) fields.push_back(str(in, v));
  return make_named_result("numpy.linalg", str(in, args[0]), std::move(fields), to_vector(in, args[2]));
}

Value by_tiles(Interpreter& in, Args args) { return Value::of(multiplied_by_tiles(in, as_array(in, args[0]).dtype())); }

}  // namespace

std::vector<NativeFunction> linalg_functions() {
  std::vector<NativeFunction> all = tall_linalg_functions();
  const std::vector<NativeFunction> own = {
      {"solve", "a, b", solve, "Solutions of systems of equations."},
      {"lu", "a", lu, "LAPACK's factors of LU decompositions, and the rows that were exchanged."},
      {"solve_triangular", "a, b, upper, operation, unit", solve_triangular, "Solutions of triangular systems of equations."},
      {"inverse", "a, strict", inverse, "Inverse matrices."},
      {"determinant", "a", determinant, "(sign, logarithm, value) of determinants."},
      {"cholesky", "a, upper", cholesky, "Cholesky's factors."},
      {"qr", "a", qr, "LAPACK's factors of QR decompositions."},
      {"qr_q", "factors, tau, columns", qr_q, "The orthogonal matrices of such factors."},
      {"svd", "a, vectors", svd, "Singular values."},
      {"eig", "a, vectors", eig, "Eigenvalues."},
      {"eigh", "a, upper, vectors", eigh, "Eigenvalues of hermitian matrices."},
      {"lstsq", "a, b, rcond", lstsq, "Least squares."},
      {"multiplied_by_tiles", "a", by_tiles, "Whether GPUs multiply matrices of this dtype by the library's own kernel."},
      {"named", "name, fields, values", named, "A tuple with names: EigResult and its like."},
  };
  all.insert(all.end(), own.begin(), own.end());
  const std::vector<NativeFunction> forms = linalg_form_functions();
  all.insert(all.end(), forms.begin(), forms.end());
  return all;
}

}  // namespace gasell::numpy
