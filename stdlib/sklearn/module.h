// The modules sklearn, cuml and dask_ml: one library of estimators, written in Gasell, under the names of all three.
#pragma once

#include "runtime/session/interpreter.h"

namespace gasell {

Value make_sklearn(Interpreter& in);
Value make_cuml(Interpreter& in);
Value make_dask_ml(Interpreter& in);
/// _sklearn: what the texts of the estimators share.
Value make_sklearn_library(Interpreter& in);

}  // namespace gasell
