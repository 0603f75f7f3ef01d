// Schur's form of matrices and what is made by it, by LAPACK: Hessenberg's form, order of eigenvalues, Sylvester's equation, balance. Of
// double and complex<double>. Matrices are Fortran's, as in lapack.h. Work space is taken from the heap: std::bad_alloc.
#pragma once

#include <complex>
#include <cstdint>

namespace gasell::linalg {

using Complex = std::complex<double>;

/// a = q h qᴴ, n × n: h, zero below its first subdiagonal, replaces a.
template <class T>
void hessenberg(int64_t n, T* a, T* q);

/// a = z t zᴴ: t, upper triangular but for the 2 × 2 blocks of pairs of complex eigenvalues, replaces a. False: did not converge.
template <class T>
bool schur(int64_t n, T* a, T* z, Complex* values);

/// t and z of schur() with the chosen eigenvalues (1, not 0) first. False: they could not be separated.
template <class T>
bool reorder_schur(int64_t n, const int64_t* chosen, T* t, T* z, Complex* values);

/// The x of op(a) x + sign x op(b) = scale c, which replaces c (m × n); a and b are Schur's forms. The operations: 'N', 'T' (of reals) or
/// 'C'. False: eigenvalues of both are so near that they were moved a little.
template <class T>
bool sylvester(int64_t m, int64_t n, const T* a, const T* b, T* c, char a_operation, char b_operation, int64_t sign, double& scale);

/// a balanced by a permutation and a diagonal matrix: `job` is 'P', 'S' or 'B' (both). What was exchanged with, from 1, stands in scale
/// outside of low..high (from 1), the factors inside.
template <class T>
void balance(int64_t n, T* a, char job, int64_t& low, int64_t& high, double* scale);

/// Eigenvalues with left and right eigenvectors as columns. False: did not converge.
template <class T>
bool eigenvalues_of_both_sides(int64_t n, T* a, Complex* values, Complex* left, Complex* right);

/// The vectors of real routines: of a pair of complex eigenvalues the real and the imaginary parts in two columns.
void complex_vectors(int64_t n, const Complex* values, const double* packed, Complex* vectors);

}  // namespace gasell::linalg
