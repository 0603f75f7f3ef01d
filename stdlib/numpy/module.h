// The modules numpy, cupy and dask.array: one implementation.
#pragma once

#include "runtime/session/interpreter.h"

namespace gasell {

/// What numpy.polynomial's families have in common.
Value make_polynomial_library(Interpreter&);
Value make_numpy(Interpreter& in);
/// NumPy's own exceptions: each is also one of Python's. Once is enough; before exception_type() is asked for one.
void register_numpy_exceptions();
/// dask itself: compute, persist.
Value make_numpy_random(Interpreter& in);
/// What the families of numpy.polynomial have in common.
Value make_polynomial_library(Interpreter& in);

}  // namespace gasell
