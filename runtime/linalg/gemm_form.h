// What a call of BLAS's gemm is told of three matrices: Fortran's have their columns together, ours one of both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gasell::linalg {

/// Where the elements of a matrix are: (i, j) is i * row + j * column elements behind the first. For gemm one of the steps is 1, and the
/// other at least as large as the extent along the first.
struct MatrixSteps {
  int64_t row, column;
};

/// result = left * right, n × k by k × m, as gemm computes it. `exchanged`: its first matrix is our right one, for a result whose rows lie
/// together is that of the transposed product; then n and m are exchanged, too.
struct GemmForm {
  struct Operand {
    bool transposed;
    int64_t leading;
  };
  bool exchanged;
  int64_t n, m;
  Operand first, second;
  int64_t result_leading;
};

inline GemmForm gemm_form(MatrixSteps left, MatrixSteps right, MatrixSteps result, int64_t n, int64_t m, int64_t k) {
  const bool exchanged = result.column == 1 && !(result.row == 1 && n > 1 && m == 1);
  if (exchanged) {
    std::swap(left, right);
    for (MatrixSteps* x : {&left, &right, &result}) std::swap(x->row, x->column);
    std::swap(n, m);
  }
  // A matrix with unit steps along rows is one that Fortran sees transposed. Of a single row or column the other step says nothing.
  const auto operand = [](MatrixSteps x, int64_t rows, int64_t columns) {
    const bool plain = x.row == 1 && (columns == 1 || x.column >= rows);
    const int64_t step = plain ? (columns == 1 ? 1 : x.column) : (rows == 1 ? 1 : x.row);
    return GemmForm::Operand{!plain, std::max<int64_t>({1, plain ? rows : columns, step})};
  };
  return {exchanged, n, m, operand(left, n, k), operand(right, k, m), std::max<int64_t>({1, n, m == 1 ? 1 : result.column})};
}

}  // namespace gasell::linalg
