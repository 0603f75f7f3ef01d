// Decompositions of one dense matrix by LAPACK. Matrices are Fortran's (columns lie together, no gaps) and are overwritten unless said
// otherwise. Of float, double and complex numbers of either. Work space is taken from the heap: std::bad_alloc.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/linalg/openblas.h"

namespace gasell::linalg {

/// a x = b for the columns of b (n × m), which x replaces; a is left as its factors. False: a is singular.
template <class T>
bool solve(int64_t n, int64_t m, T* a, T* b);

/// a = p l u, m × n: u in the upper triangle of a, l, whose diagonal is 1, below it. Row k was exchanged with row pivots[k], counted from
/// 1, one after the other (min(m, n) of them). False: u is singular.
template <class T>
bool factor_lu(int64_t m, int64_t n, T* a, int64_t* pivots);

/// x of op(a) x = b, which replaces b (n × m); of a, n × n, one triangle is read. `operation`: 'N', 'T' or 'C'. `unit`: a's diagonal is 1.
template <class T>
void solve_triangular(int64_t n, int64_t m, const T* a, T* b, bool upper, char operation, bool unit);

/// x of a x = b after factor_lu() of a, n × n; it replaces b (n × m).
template <class T>
void solve_factored(int64_t n, int64_t m, const T* a, const int64_t* pivots, T* b);

/// The determinant of a, n × n, as sign * exp(logarithm); of a singular matrix 0 and -inf. `product`: it itself, which may overflow.
template <class T>
struct Determinant {
  T sign;
  Real<T> logarithm;
  T product;
};
template <class T>
void determinant(int64_t n, T* a, Determinant<T>& result);
/// Of factor_lu's: their diagonal, of which element k is diagonal[k * step], and its pivots. `regular`: what factor_lu gave.
template <class T>
void determinant_of_factors(int64_t n, bool regular, const T* diagonal, int64_t step, const int64_t* pivots, Determinant<T>& result);

/// a = l lᴴ, or uᴴ u with `upper`, of that triangle of a, which the factor replaces; zeros in the other. False: not positive definite.
template <class T>
bool cholesky(int64_t n, T* a, bool upper);
/// The same, but the other triangle stays as it is.
template <class T>
bool factor_cholesky(int64_t n, T* a, bool upper);

/// a = q r, m × n: r in the upper triangle of a, below it and in tau (min(m, n) elements) what q is made of.
template <class T>
void factor_qr(int64_t m, int64_t n, T* a, T* tau);
/// The first `columns` columns of q (m × columns, at least k) from k columns of factor_qr's.
template <class T>
void make_q(int64_t m, int64_t columns, int64_t k, T* a, const T* tau);

/// Singular values, descending, and where wanted u (m × m, or m × min(m, n)) and vᴴ (n × n, or min(m, n) × n).
enum class SingularVectors : char { none = 'N', some = 'S', all = 'A' };
/// False: did not converge.
template <class T>
bool singular_values(int64_t m, int64_t n, T* a, SingularVectors wanted, Real<T>* s, T* u, T* vt);

/// Eigenvalues, and the eigenvectors as columns where `vectors` is not null. False: did not converge.
template <class T>
bool eigenvalues(int64_t n, T* a, std::complex<Real<T>>* values, std::complex<Real<T>>* vectors);

/// Of a hermitian matrix, of which one triangle is read: ascending; a becomes the eigenvectors with `vectors`. False: did not converge.
template <class T>
bool hermitian_eigenvalues(int64_t n, T* a, bool upper, bool vectors, Real<T>* values);

/// Least squares: columns of b (max(m, n) × columns) become the solutions; s: a's singular values, descending. rcond as in LAPACK, below 0:
/// the machine's precision. False: did not converge.
template <class T>
bool least_squares(int64_t m, int64_t n, int64_t columns, T* a, T* b, Real<T>* s, Real<T> rcond, int64_t& rank);

}  // namespace gasell::linalg
