// Less common factors of one dense matrix by LAPACK. Of double and complex<double>; matrices are Fortran's, as in lapack.h. Work space is
// taken from the heap: std::bad_alloc.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/linalg/lapack.h"

namespace gasell::linalg {

/// a = l d lᵀ, or with `hermitian` l d lᴴ (u instead of l with `upper`), n × n, by Bunch and Kaufman: pivots as LAPACK's sytrf gives them.
template <class T>
void factor_ldl(int64_t n, T* a, bool upper, bool hermitian, int64_t* pivots);

/// a p = q r as factor_qr(): column k of a p is column order[k] of a, from 1.
template <class T>
void factor_pivoted_qr(int64_t m, int64_t n, T* a, T* tau, int64_t* order);

/// q c or, with side 'R', c q, which replaces c (m × n), where q is made of k columns of factor_qr's, `rows` long. Operation: 'N', 'C'.
template <class T>
void multiply_q(int64_t m, int64_t n, int64_t k, int64_t rows, char side, char operation, const T* a, const T* tau, T* c);

/// Singular values as singular_values(), by the QR iteration (gesvd) instead of divide and conquer.
template <class T>
bool singular_values_by_qr(int64_t m, int64_t n, T* a, SingularVectors wanted, Real<T>* s, T* u, T* vt);

/// The blocks of a unitary matrix m × m, of which p rows and q columns are x11: uᴴ x v has cosines and sines. theta: min(p, m - p, q, m -
/// q). False: did not converge.
template <class T>
bool cosines_and_sines(int64_t m, int64_t p, int64_t q, bool other_signs, bool left, bool right, T* x11, T* x12, T* x21, T* x22,
                       Real<T>* theta, T* u1, T* u2, T* v1t, T* v2t);

}  // namespace gasell::linalg
