// Products of small matrices: what a call of the library costs would be most of their time. In vectors of whatever width the processor has.
#pragma once

#include <cstdint>

#include "runtime/linalg/products.h"

namespace gasell::linalg {

/// Whether multiply_small() serves a product of n × k by k × m.
bool is_small(int64_t n, int64_t m, int64_t k);

/// As multiply(), on this thread alone, of matrices with any steps; the result has a unit step along its rows or its columns.
template <class T>
void multiply_small(Matrix<const T> left, Matrix<const T> right, Matrix<T> result, int64_t n, int64_t m, int64_t k, bool add);

/// A product of matrices of R, or of pairs of R, the parts of complex numbers, as vectors compute it. All steps are in R; the elements of a
/// row of `b` and of `c` lie side by side.
template <class R>
struct SmallOperands {
  const R* a;
  int64_t a_row, a_column;
  const R* b;
  int64_t b_row;
  R* c;
  int64_t c_row;
  int64_t n, m, k;  // m in R
  bool add;
};

}  // namespace gasell::linalg
