#include "runtime/gpu/simulated_libraries.h"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/gpu/simulated_memory.h"
#include "runtime/linalg/lapack.h"
#include "runtime/linalg/openblas.h"
#include "runtime/linalg/products.h"
#include "runtime/transforms/routines.h"

namespace gasell {
namespace {

bool switched_off(const char* variable) {
  const char* const named = std::getenv(variable);
  return named && std::string_view(named) == "0";
}

template <class T>
std::function<void()> product_of(const GpuProduct& p, const SimulatedPlace& place) {
  const auto at = [&](const GpuProduct::Matrix& x, int64_t rows, int64_t columns) {
    const int64_t last = (p.count - 1) * x.stack + (rows - 1) * x.steps.row + (columns - 1) * x.steps.column;
    if (x.data % sizeof(linalg::Real<T>)) simulation_broken("a matrix at a misaligned address");
    return reinterpret_cast<T*>(place(x.data, (last + 1) * static_cast<int64_t>(sizeof(T))));
  };
  const T *left = at(p.left, p.rows, p.summed), *right = at(p.right, p.summed, p.columns);
  T* const result = at(p.result, p.rows, p.columns);
  return [p, left, right, result] {
    for (int64_t s = 0; s < p.count; ++s)
      linalg::multiply<T>({left + s * p.left.stack, p.left.steps.row, p.left.steps.column},
                          {right + s * p.right.stack, p.right.steps.row, p.right.steps.column},
                          {result + s * p.result.stack, p.result.steps.row, p.result.steps.column}, p.rows, p.columns, p.summed, p.add);
  };
}

/// One side of a transform as an array of `count` boxes.
struct Side {
  std::vector<int64_t> shape, steps;
  char* data;
};
Side side_of(const GpuTransform& t, const GpuTransform::Side& side, bool complex, bool half, const SimulatedPlace& place) {
  const auto rank = static_cast<size_t>(t.rank);
  Side made{{t.count}, {side.stack}, nullptr};
  for (size_t k = 0; k < rank; ++k) {
    made.shape.push_back(half && k + 1 == rank ? t.extents[k] / 2 + 1 : t.extents[k]);
    made.steps.push_back(side.steps[k]);
  }
  const int64_t number = t.single ? 4 : 8, element = complex ? 2 * number : number;
  for (size_t k = 0; k + 1 < rank; ++k)
    if (side.steps[k] % side.steps[k + 1] || side.steps[k] < made.shape[k + 2] * side.steps[k + 1])
      simulation_broken("a transform of boxes that do not lie in each other");
  if (side.data % static_cast<GpuAddress>(element)) simulation_broken("a transform at a misaligned address");
  int64_t last = 0;
  for (size_t k = 0; k <= rank; ++k) last += (made.shape[k] - 1) * made.steps[k];
  made.data = place(side.data, (last + 1) * element);
  return made;
}

/// A library may use the halves up that it makes real numbers of: the first of each box stands for all.
template <class T>
void spoil(const Side& side) {
  for (int64_t s = 0; s < side.shape[0]; ++s)
    reinterpret_cast<std::complex<T>*>(side.data)[s * side.steps[0]] = std::numeric_limits<T>::quiet_NaN();
}

/// The memory of a stack of matrices.
template <class T>
T* stack_at(const SimulatedPlace& place, GpuAddress address, int64_t elements) {
  if (!address || elements == 0) return nullptr;
  if (address % sizeof(linalg::Real<T>)) simulation_broken("a matrix at a misaligned address");
  return reinterpret_cast<T*>(place(address, elements * static_cast<int64_t>(sizeof(T))));
}

template <class T>
void conjugate_transposed(int64_t n, const T* from, T* to) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      if constexpr (linalg::kIsComplex<T>)
        to[i * n + j] = std::conj(from[j * n + i]);
      else
        to[i * n + j] = from[j * n + i];
    }
}

template <class T>
std::function<void()> decomposition_of(const GpuDecomposition& d, const SimulatedPlace& place) {
  using Kind = GpuDecomposition::Kind;
  const int64_t m = d.rows, n = d.columns, least = std::min(m, n), count = d.count;
  const int64_t of_b = d.kind == Kind::solve ? n * d.others : d.kind == Kind::qr ? least : d.kind == Kind::qr_q ? d.others : 0;
  T *a = stack_at<T>(place, d.a, count * m * n), *b = stack_at<T>(place, d.b, count * of_b);
  T *u = stack_at<T>(place, d.u, count * m * n), *v = stack_at<T>(place, d.v, count * n * n);
  auto* const pivots = stack_at<int64_t>(place, d.pivots, count * n);
  auto* const values = stack_at<double>(place, d.values, count * n);
  auto* const outcome = stack_at<int32_t>(place, d.outcome, count);
  return [=] {
    // On copies: some of OpenBLAS's kernels read beyond the ends of arrays, where a simulated GPU has its guards.
    std::vector<T> matrix(static_cast<size_t>(m * n)), sides(static_cast<size_t>(of_b)), left(d.vectors ? matrix.size() : 1),
        right(d.vectors ? static_cast<size_t>(n * n) : 1);
    for (int64_t k = 0; k < count; ++k) {
      std::copy_n(a + k * m * n, m * n, matrix.begin());
      std::copy_n(b + k * of_b, of_b, sides.begin());
      bool fine = true;
      switch (d.kind) {
        case Kind::solve:
          fine = linalg::factor_lu(n, n, matrix.data(), pivots + k * n);
          linalg::solve_factored(n, d.others, matrix.data(), pivots + k * n, sides.data());
          break;
        case Kind::cholesky: fine = linalg::factor_cholesky(n, matrix.data(), d.upper); break;
        case Kind::qr: linalg::factor_qr(m, n, matrix.data(), sides.data()); break;
        case Kind::qr_q: linalg::make_q(m, n, d.others, matrix.data(), sides.data()); break;
        case Kind::eigenvalues: fine = linalg::hermitian_eigenvalues(n, matrix.data(), d.upper, d.vectors, values + k * n); break;
        case Kind::singular_values:
          fine = linalg::singular_values(m, n, matrix.data(), d.vectors ? linalg::SingularVectors::some : linalg::SingularVectors::none,
                                         values + k * n, left.data(), right.data());
          if (d.vectors) std::copy(left.begin(), left.end(), u + k * m * n);
          if (d.vectors) conjugate_transposed(n, right.data(), v + k * n * n);
          break;
      }
      std::copy(matrix.begin(), matrix.end(), a + k * m * n);
      std::copy(sides.begin(), sides.end(), b + k * of_b);
      outcome[k] = fine ? 0 : 1;
    }
  };
}

}  // namespace

const char* simulated_library(GpuLibrary which) {
  switch (which) {
    case GpuLibrary::products: return !switched_off("GASELL_CUBLAS") && linalg::OpenBlas::find() ? "OpenBLAS" : nullptr;
    case GpuLibrary::transforms: return !switched_off("GASELL_CUFFT") && !transforms::description().empty() ? "ducc" : nullptr;
    default: return !switched_off("GASELL_CUSOLVER") && linalg::OpenBlas::find() ? "OpenBLAS" : nullptr;
  }
}

std::function<void()> simulated_product(const GpuProduct& product, const SimulatedPlace& place) {
  switch (product.dtype) {
    case DType::f32: return product_of<float>(product, place);
    case DType::f64: return product_of<double>(product, place);
    case DType::c64: return product_of<std::complex<float>>(product, place);
    default: return product_of<std::complex<double>>(product, place);
  }
}

std::function<void()> simulated_transform(const GpuTransform& t, const SimulatedPlace& place) {
  using Kind = GpuTransform::Kind;
  const bool to_half = t.kind == Kind::real_to_complex, from_half = t.kind == Kind::complex_to_real;
  const Side from = side_of(t, t.from, !to_half, from_half, place), to = side_of(t, t.to, !from_half, to_half, place);
  return [t, from, to, to_half, from_half] {
    const auto run = [&](transforms::Kind kind, int axis, const Side& x, const Side& y) {
      transforms::routines().transform({.kind = kind,
                                        .single = t.single,
                                        .forward = to_half || t.kind == Kind::forward,
                                        .factor = 1,
                                        .rank = t.rank + 1,
                                        .axis = axis,
                                        .in_shape = x.shape.data(),
                                        .in_steps = x.steps.data(),
                                        .out_shape = y.shape.data(),
                                        .out_steps = y.steps.data(),
                                        .in = x.data,
                                        .out = y.data});
    };
    // Halves become real numbers last; the other axes of theirs are done in place before.
    for (int axis = 1; from_half && axis < t.rank; ++axis) run(transforms::Kind::complex, axis, from, from);
    run(to_half     ? transforms::Kind::real_to_complex
        : from_half ? transforms::Kind::complex_to_real
                    : transforms::Kind::complex,
        t.rank, from, to);
    for (int axis = 1; !from_half && axis < t.rank; ++axis) run(transforms::Kind::complex, axis, to, to);
    if (from_half) t.single ? spoil<float>(from) : spoil<double>(from);
  };
}

std::function<void()> simulated_decomposition(const GpuDecomposition& d, const SimulatedPlace& place) {
  return d.dtype == DType::c128 ? decomposition_of<std::complex<double>>(d, place) : decomposition_of<double>(d, place);
}

}  // namespace gasell
