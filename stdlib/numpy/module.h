// The modules numpy, cupy and dask.array: one implementation.
#pragma once

#include "runtime/session/interpreter.h"

namespace gasell {

Value make_numpy(Interpreter& in);
/// NumPy's own exceptions: each is also one of Python's. Once is enough; before exception_type() is asked for one.
void register_numpy_exceptions();
/// dask itself: compute, persist.
Value make_numpy_random(Interpreter& in);

}  // namespace gasell
