// The module scipy: what of it Gasell has.
#pragma once

#include "runtime/session/interpreter.h"

namespace gasell {

Value make_scipy(Interpreter& in);
/// _scipy: what its texts share.
Value make_scipy_library(Interpreter& in);

}  // namespace gasell
