// Decompositions by a GPU's library, for np.linalg's natives, which ask here first. Arrays are f64 or c128, matrices or stacks of them.
// Each function gives nothing where the host shall do it: no GPUs are in use or they have no library, matrices are small or have numbers
// that are not finite (what LAPACK makes of these is what counts), or the GPU has no room.
#pragma once

#include <optional>

#include "stdlib/numpy/host.h"

namespace gasell::numpy {

/// What np.linalg raises of a matrix that has no inverse, and of one that has no Cholesky factor.
[[noreturn]] void raise_singular();
[[noreturn]] void raise_not_positive_definite();

std::optional<Value> gpu_solve(Interpreter& in, const Value& a, const Value& b);
/// Nothing also where a matrix has no inverse and `strict` does not make an error of that.
std::optional<Value> gpu_inverse(Interpreter& in, const Value& a, bool strict);
/// The factors' diagonals and pivots, an i64 array, of each matrix; which of them are regular.
struct GpuFactors {
  Array diagonals, pivots;
  std::vector<char> regular;
};
std::optional<GpuFactors> gpu_factors(Interpreter& in, const Value& a);
std::optional<Value> gpu_cholesky(Interpreter& in, const Value& a, bool upper);
/// (factors, tau).
std::optional<Value> gpu_qr(Interpreter& in, const Value& a);
std::optional<Value> gpu_qr_q(Interpreter& in, const Value& factors, const Value& tau, int64_t columns);
/// Eigenvalues; with `vectors` (values, vectors).
std::optional<Value> gpu_eigh(Interpreter& in, const Value& a, bool upper, bool vectors);
/// Singular values; with `vectors` (u, values, vh), of which u and vh have as many columns and rows as there are values.
std::optional<Value> gpu_svd(Interpreter& in, const Value& a, bool vectors);

}  // namespace gasell::numpy
