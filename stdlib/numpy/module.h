// The modules numpy, cupy and dask.array: one implementation.
#pragma once

#include "runtime/session/interpreter.h"

namespace gasell {

Value make_numpy(Interpreter& in);
/// dask itself: compute, persist.
Value make_dask(Interpreter& in);
Value make_numpy_random(Interpreter& in);

}  // namespace gasell
