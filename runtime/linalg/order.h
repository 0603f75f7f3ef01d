// Copies between our order of a matrix's elements and Fortran's.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gasell::linalg {

/// to[i * to_row + j * to_column] = from[i * from_row + j * from_column], in blocks whose rows and columns stay in the cache.
template <class T>
void copy_matrix(const T* from, int64_t from_row, int64_t from_column, T* to, int64_t to_row, int64_t to_column, int64_t rows,
                 int64_t columns) {
  constexpr int64_t kBlock = 16;
  for (int64_t ib = 0; ib < rows; ib += kBlock)
    for (int64_t jb = 0; jb < columns; jb += kBlock)
      for (int64_t i = ib; i < std::min(rows, ib + kBlock); ++i)
        for (int64_t j = jb; j < std::min(columns, jb + kBlock); ++j) to[i * to_row + j * to_column] = from[i * from_row + j * from_column];
}

}  // namespace gasell::linalg
