// What the runtime's functions of linear algebra tell compiled functions that call them (library_linalg.cpp, runtime/functions/linalg.cpp).
#pragma once

#include <cstdint>

namespace gasell::functions {

enum class LinalgStatus : int64_t {
  done = 0,
  not_possible,  // singular, or not positive definite
  not_converged,
  not_finite,  // an element is infinite or NaN
  not_real,    // eigenvalues of a real matrix are complex
  no_memory,
  no_library,
};

}  // namespace gasell::functions
