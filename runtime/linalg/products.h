// Products of matrices by the library, on the device's threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "compiler/plan/contraction.h"
#include "runtime/device/device.h"

namespace gasell::linalg {

/// A matrix in memory: element (i, j) is data[i * row_step + j * column_step]. For the library one of the steps is 1, and the other at
/// least as large as the extent along the first.
template <class T>
struct Matrix {
  T* data;
  int64_t row_step, column_step;
};

/// result = left * right, n × k by k × m: of one element type, on this thread alone. `add`: result += left * right.
template <class T>
void multiply(Matrix<const T> left, Matrix<const T> right, Matrix<T> result, int64_t n, int64_t m, int64_t k, bool add);

/// The same in tiles that the threads of `host` share; null: this thread alone. How it is cut depends on n, m and k alone, so the bits do
/// not depend on the threads. `symmetric`: `right` is `left` transposed; half of the result is computed. Ends early once `stop` is true.
template <class T>
void multiply_together(Device* host, Matrix<const T> left, Matrix<const T> right, Matrix<T> result, int64_t n, int64_t m, int64_t k,
                       bool symmetric, bool add, const std::atomic<bool>& stop);

/// "product of f64 (1000, 300) and (300, 200), left to the library": for reports.
std::string describe(const plan::Contraction& contraction);

/// A step of a plan; `left`, `right` and `result` are where its arrays begin. Throws Interrupted.
void contract(Device& host, const plan::Contraction& contraction, const char* left, const char* right, char* result,
              const std::atomic<bool>& interrupt);

}  // namespace gasell::linalg
