// QR of matrices with many more rows than columns: block by block, each in the cache and on any core, then of what is left of the blocks.
//
//   a = [a0; a1; …],  ai = qi ri,  [r0; r1; …] = q' r,  q = [q0 q'0; q1 q'1; …]
//
// Source: J. Demmel, L. Grigori, M. Hoemmen, J. Langou, "Communication-optimal parallel and sequential QR and LU factorizations", SIAM J.
// Sci. Comput. 34 (2012); the signs of LAPACK's own factors by G. Ballard, J. Demmel, L. Grigori, M. Jacquelin, H. D. Nguyen, E. Solomonik,
// "Reconstructing Householder vectors from tall-skinny QR", IPDPS 2014. How a is cut depends on its shape alone, so the bits do not depend
// on the threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/linalg/openblas.h"

namespace gasell::linalg {

/// Whether a matrix is so tall, and so large, that tall_qr is faster than factor_qr.
bool is_tall(int64_t rows, int64_t columns);

/// Copies `rows` rows of a matrix from row `begin` on into Fortran's order, whose columns lie `leading` elements apart.
template <class T>
using RowsOf = std::function<void(int64_t begin, int64_t rows, T* to, int64_t leading)>;

/// A matrix that is made while it is used: `at_a_time` rows, about, are asked for before `rows` gives them. 0: all are there.
template <class T>
struct TallRows {
  RowsOf<T> rows;
  int64_t at_a_time = 0;
  std::function<void(int64_t begin, int64_t end)> prepare;
};

/// a = q r, m × n with is_tall(m, n); `a` is asked for its rows on several threads. r: n × n in Fortran's order, zeros below its diagonal.
/// q, where it is wanted (else null): m × n, its rows together. With `like_lapack` the factors have the signs that factor_qr gives them;
/// without, and without q, r is right but for the signs of its rows. Ends early once `stop` is true. Throws std::bad_alloc.
template <class T>
void tall_qr(Device& host, int64_t m, int64_t n, const TallRows<T>& a, T* r, T* q, bool like_lapack, const std::atomic<bool>& stop);

/// The signs by which LAPACK's q, of which `top` has the first n rows, differs from one whose factors were found otherwise, column by
/// column; r is the other factor. Both n × n in Fortran's order; top is overwritten. Ends early once `stop` is true.
template <class T>
std::vector<Real<T>> signs_of_lapack(Device& host, int64_t n, T* top, const T* r, const std::atomic<bool>& stop);

/// As least_squares() of lapack.h, of a tall matrix: x (n × columns, Fortran's order), the sums of squared residuals of each column. The
/// rows that `both` gives have those of b behind those of a.
template <class T>
bool tall_least_squares(Device& host, int64_t m, int64_t n, int64_t columns, const RowsOf<T>& both, T* x, double* residuals, Real<T>* s,
                        Real<T> rcond, int64_t& rank, const std::atomic<bool>& stop);

}  // namespace gasell::linalg
