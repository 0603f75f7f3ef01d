// What calls of LAPACK's routines share that only few functions need: they are looked up by name, and asked how much work space they want.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>

#include "runtime/linalg/openblas.h"

namespace gasell::linalg {

using FortranInt = const int64_t*;
using FortranText = const char*;

/// A routine of OpenBLAS as a function with these arguments, all by address; the lengths of texts, 1 each, follow them.
template <class Signature, class T>
Signature* lapack_routine(const char* name) {
  return reinterpret_cast<Signature*>(OpenBlas::get().routine<T>(name));
}

template <class T>
std::unique_ptr<T[]> lapack_memory(int64_t count) {
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(std::max<int64_t>(count, 1)));
}

/// call(work, size) twice: with the size -1, which asks for the size, and with as much work space, at least `least` elements.
template <class T, class Call>
void with_work_space(int64_t least, const Call& call) {
  T answer{};
  int64_t size = -1;
  call(&answer, &size);
  size = std::max({least, static_cast<int64_t>(std::real(answer)), int64_t{1}});
  const auto work = lapack_memory<T>(size);
  call(work.get(), &size);
}

/// The size of a leading dimension, which is never 0.
inline int64_t leading(int64_t n) { return std::max<int64_t>(n, 1); }

}  // namespace gasell::linalg
