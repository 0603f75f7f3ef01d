// Pairs of matrices a - λ b, by LAPACK: generalized Schur's form (QZ) and eigenvalues. Of double and complex<double>; matrices are
// Fortran's, n × n, as in lapack.h. Work space is taken from the heap: std::bad_alloc.
#pragma once

#include "runtime/linalg/schur.h"

namespace gasell::linalg {

/// a = q s zᴴ and b = q t zᴴ: s and t replace a and b. Eigenvalues are alpha / beta. False: did not converge.
template <class T>
bool qz(int64_t n, T* a, T* b, Complex* alpha, T* beta, T* q, T* z);

/// The same with the chosen eigenvalues (1, not 0) first. False: they could not be separated.
template <class T>
bool reorder_qz(int64_t n, const int64_t* chosen, T* a, T* b, Complex* alpha, T* beta, T* q, T* z);

/// Eigenvalues alpha / beta of a v = λ b v, with left and right eigenvectors as columns. False: did not converge.
template <class T>
bool pencil_eigenvalues(int64_t n, T* a, T* b, Complex* alpha, T* beta, Complex* left, Complex* right);

}  // namespace gasell::linalg
