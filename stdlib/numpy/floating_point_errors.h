// np.seterr and the RuntimeWarnings of numbers: division by zero, overflow, invalid values.
//
// NumPy reads the processor's flags after each operation. Operations on arrays are computed later and together here, partly or never, in
// kernels without flags, so that nothing is said of their elements. An operation on single numbers is computed where it stands, and its
// operands and its result tell what went wrong: the same warnings as NumPy's come of those.
#pragma once

#include <span>

#include "runtime/session/value.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {

/// Which kinds are warned of.
struct ErrorHandling {
  bool divide = true, over = true, invalid = true;
};
ErrorHandling& error_handling();

/// Warns of what went wrong in a ufunc of numbers that gave `result`; nothing where one of them is an array or is not computed yet.
/// `operation`: an operator between numbers, whose integers are watched for overflow too, unlike those of a call, and which is called
/// "scalar NAME". What the library does for a script is not looked at.
void check_numbers(Interpreter& in, const Ufunc& f, bool operation, std::span<const Value> operands, const Value& result);

}  // namespace gasell::numpy
