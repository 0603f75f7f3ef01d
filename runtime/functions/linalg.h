// Linear algebra for compiled functions, which call it by name (codegen/externals.h). In the following a matrix x is four arguments, its
// address, the offset of element (0, 0), and its row and column steps, in elements; results that are one argument are arrays in C order.
// `dtype` is that of all matrices: f32, f64, c64 or c128. All give a LinalgStatus.
//
//   gasell_multiply(context, dtype, a, b, c, n, m, k)             c = a b, n × k by k × m; c overlaps neither
//   gasell_dot(dtype, a, offset, step, b, offset, step, n)        Σ a b of f32 or f64, as a double; no status
//   gasell_solve(context, dtype, a, b, x, n, m)                            a x = b, n × n and n × m; b's address 0: the inverse
//   gasell_determinant(context, dtype, a, n, sign, logarithm)
//   gasell_cholesky(context, dtype, a, l, n)
//   gasell_qr(context, dtype, a, q, r, m, n)                               q: m × min(m, n)
//   gasell_svd(context, dtype, a, u, s, vh, m, n, all)                     u's address 0: values alone; all: 1 for whole u and vh
//   gasell_eig(context, dtype, a, values, vectors, n)                      of a's dtype; vectors' address 0: values alone
//   gasell_eigh(context, dtype, a, values, vectors, n)                     of the lower triangle
//   gasell_lstsq(context, dtype, a, b, m, n, columns, rcond, x, residuals, s, rank)
//   gasell_pinv(context, dtype, a, m, n, rcond, result)
//   gasell_matrix_power(context, dtype, a, n, power, result)
#pragma once

namespace gasell::functions {

/// Before the first function that calls them runs; once is enough.
void register_linalg_functions();

}  // namespace gasell::functions
