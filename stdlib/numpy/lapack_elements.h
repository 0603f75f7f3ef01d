// What the decompositions on the host share: memory that is not set, and the element types of LAPACK's routines.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "compiler/graph/node.h"

namespace gasell::numpy {

template <class T>
std::unique_ptr<T[]> unset_memory(int64_t count) {
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(std::max<int64_t>(count, 1)));
}

/// work(std::type_identity<T>) with the element type, double or complex.
template <class Work>
auto with_element(DType dtype, Work&& work) {
  if (is_complex(dtype)) return work(std::type_identity<std::complex<double>>{});
  return work(std::type_identity<double>{});
}

}  // namespace gasell::numpy
