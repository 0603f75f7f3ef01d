#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/linalg/small_products.cpp"
// Few vectors have lengths that the compiler does not know, and tiles of those cannot be arrays.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
// The targets come before what they are for.
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "runtime/linalg/openblas.h"
#include "runtime/linalg/small_products.h"

HWY_BEFORE_NAMESPACE();
namespace gasell::linalg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// kRows rows by kVectors vectors of the result, whose sums stay in registers.
template <int kRows, int kVectors, bool kComplex, class D, class R = hn::TFromD<D>>
HWY_INLINE void multiply_tile(D d, const SmallOperands<R>& x, int64_t row, int64_t column) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums[kRows][kVectors];                                  // of complex numbers: by the real parts of `a`,
  V turned[kComplex ? kRows : 1][kComplex ? kVectors : 1];  // and by the imaginary ones
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = hn::Zero(d);
      if constexpr (kComplex) turned[i][v] = hn::Zero(d);
    }
  }
  const R* a = x.a + row * x.a_row;
  const R* b = x.b + column;
  for (int64_t p = 0; p < x.k; ++p, a += x.a_column, b += x.b_row) {
    V right[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V left = hn::Set(d, a[i * x.a_row]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(left, right[v], sums[i][v]);
      if constexpr (kComplex) {
        const V imaginary = hn::Set(d, a[i * x.a_row + 1]);
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) turned[i][v] = hn::MulAdd(imaginary, right[v], turned[i][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      V sum = sums[i][v];
      if constexpr (kComplex) {  // i (re, im) = (-im, re)
        const V swapped = hn::Reverse2(d, turned[i][v]);
        sum = hn::OddEven(hn::Add(sum, swapped), hn::Sub(sum, swapped));
      }
      R* const to = x.c + (row + i) * x.c_row + column + v * lanes;
      hn::StoreU(x.add ? hn::Add(hn::LoadU(d, to), sum) : sum, d, to);
    }
  }
}

/// All rows of some columns.
template <int kVectors, bool kComplex, class D, class R = hn::TFromD<D>>
HWY_INLINE void multiply_columns(D d, const SmallOperands<R>& x, int64_t column) {
  // As many sums as registers hold beside what is multiplied.
  constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL;
  constexpr int kRows = kManyRegisters && (kVectors == 1 || !kComplex) ? 8 : 4;
  int64_t row = 0;
  for (; row + kRows <= x.n; row += kRows) multiply_tile<kRows, kVectors, kComplex>(d, x, row, column);
  if (kRows > 4 && x.n - row >= 4) {
    multiply_tile<4, kVectors, kComplex>(d, x, row, column);
    row += 4;
  }
  if (x.n - row >= 2) {
    multiply_tile<2, kVectors, kComplex>(d, x, row, column);
    row += 2;
  }
  if (row < x.n) multiply_tile<1, kVectors, kComplex>(d, x, row, column);
}

/// The columns from `column` on that fill vectors of kLanes, then those that fill shorter ones.
template <size_t kLanes, bool kComplex, class R>
HWY_INLINE void multiply_rest(const SmallOperands<R>& x, int64_t column) {
  const hn::CappedTag<R, kLanes> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; column + lanes <= x.m; column += lanes) multiply_columns<1, kComplex>(d, x, column);
  if constexpr (kLanes > (kComplex ? 2 : 1)) {
    if (column < x.m) multiply_rest<kLanes / 2, kComplex>(x, column);
  }
}

template <bool kComplex, class R>
HWY_INLINE void multiply_all(const SmallOperands<R>& x) {
  const hn::ScalableTag<R> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t column = 0;
  for (; column + 2 * lanes <= x.m; column += 2 * lanes) multiply_columns<2, kComplex>(d, x, column);
  if (column < x.m) multiply_rest<64 / sizeof(R), kComplex>(x, column);
}

void multiply_f32(const SmallOperands<float>& x) { multiply_all<false>(x); }
void multiply_f64(const SmallOperands<double>& x) { multiply_all<false>(x); }
void multiply_c64(const SmallOperands<float>& x) { multiply_all<true>(x); }
void multiply_c128(const SmallOperands<double>& x) { multiply_all<true>(x); }

}  // namespace gasell::linalg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gasell::linalg {
namespace {

HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);
HWY_EXPORT(multiply_c64);
HWY_EXPORT(multiply_c128);

constexpr int64_t kMostProducts = 64 * 64 * 64;
constexpr int64_t kMostRight = 64 * 64;  // elements of the right matrix, which is read from the nearest cache

template <class T>
void multiply_in_rows(const Matrix<const T>& left, const Matrix<const T>& right, const Matrix<T>& result, int64_t n, int64_t m, int64_t k,
                      bool add) {
  using R = Real<T>;
  constexpr int64_t kParts = kIsComplex<T> ? 2 : 1;
  const SmallOperands<R> x{reinterpret_cast<const R*>(left.data),
                           kParts * left.row_step,
                           kParts * left.column_step,
                           reinterpret_cast<const R*>(right.data),
                           kParts * right.row_step,
                           reinterpret_cast<R*>(result.data),
                           kParts * result.row_step,
                           n,
                           kParts * m,
                           k,
                           add};
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(multiply_f32)(x);
  else if constexpr (std::is_same_v<T, double>)
    HWY_DYNAMIC_DISPATCH(multiply_f64)(x);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    HWY_DYNAMIC_DISPATCH(multiply_c64)(x);
  else
    HWY_DYNAMIC_DISPATCH(multiply_c128)(x);
}

/// The right matrix lies in columns.
template <class T>
void multiply_by_columns(const Matrix<const T>& left, const Matrix<const T>& right, const Matrix<T>& result, int64_t n, int64_t m,
                         int64_t k, bool add) {
  alignas(64) char memory[kMostRight * sizeof(T)];
  T* const rows = reinterpret_cast<T*>(memory);
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < m; ++j) rows[p * m + j] = right.data[p * right.row_step + j * right.column_step];
  multiply_in_rows(left, Matrix<const T>{rows, m, 1}, result, n, m, k, add);
}

}  // namespace

bool is_small(int64_t n, int64_t m, int64_t k) { return n * m * k <= kMostProducts && std::max(n, m) * k <= kMostRight; }

template <class T>
void multiply_small(Matrix<const T> left, Matrix<const T> right, Matrix<T> result, int64_t n, int64_t m, int64_t k, bool add) {
  if (result.column_step != 1) {  // then the transposed product is in rows
    std::swap(left, right);
    std::swap(n, m);
    for (Matrix<const T>* x : {&left, &right}) std::swap(x->row_step, x->column_step);
    std::swap(result.row_step, result.column_step);
  }
  if (right.column_step == 1)
    multiply_in_rows(left, right, result, n, m, k, add);
  else
    multiply_by_columns(left, right, result, n, m, k, add);
}

template void multiply_small(Matrix<const float>, Matrix<const float>, Matrix<float>, int64_t, int64_t, int64_t, bool);
template void multiply_small(Matrix<const double>, Matrix<const double>, Matrix<double>, int64_t, int64_t, int64_t, bool);
template void multiply_small(Matrix<const std::complex<float>>, Matrix<const std::complex<float>>, Matrix<std::complex<float>>, int64_t,
                             int64_t, int64_t, bool);
template void multiply_small(Matrix<const std::complex<double>>, Matrix<const std::complex<double>>, Matrix<std::complex<double>>, int64_t,
                             int64_t, int64_t, bool);

}  // namespace gasell::linalg
#endif
