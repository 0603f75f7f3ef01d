// Banded matrices by LAPACK, in its form: the diagonals are rows, that of element (i, j) of a general one is row upper + i - j, of a
// symmetric one i - j of its lower triangle, or kd + i - j of its upper one. Of double and complex<double>, in Fortran's order as in
// lapack.h. Work space is taken from the heap: std::bad_alloc.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/linalg/openblas.h"

namespace gasell::linalg {

/// a x = b for the columns of b (n × m), which x replaces; `bands` has `lower` rows more above, 2 lower + upper + 1 in all. Returns
/// LAPACK's info: above 0 a is singular.
template <class T>
int64_t solve_banded(int64_t n, int64_t lower, int64_t upper, int64_t m, T* bands, T* b);

/// Cholesky's factor of a positive definite one of kd + 1 rows replaces it. Returns LAPACK's info: the first minor that is not positive.
template <class T>
int64_t factor_banded_cholesky(int64_t n, int64_t kd, T* bands, bool upper);

/// x of a x = b by such a factor replaces b (n × m).
template <class T>
void solve_banded_factored(int64_t n, int64_t kd, int64_t m, const T* bands, T* b, bool upper);

/// Eigenvalues of a hermitian one of kd + 1 rows, ascending, and the eigenvectors as columns where not null. False: did not converge.
template <class T>
bool banded_eigenvalues(int64_t n, int64_t kd, T* bands, bool upper, Real<T>* values, T* vectors);

/// Of the real symmetric one with this diagonal, which the eigenvalues replace, and these n - 1 elements beside it.
bool tridiagonal_eigenvalues(int64_t n, double* diagonal, double* beside, double* vectors);

}  // namespace gasell::linalg
