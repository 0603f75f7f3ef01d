// numba.extending.overload: functions that are another one for each set of argument types.
#pragma once

#include <optional>
#include <vector>

#include "stdlib/numba/outside.h"

namespace gasell::numba {

/// What a function with overloads is to compiled ones; nullopt: it has none.
std::optional<functions::Outside> outside_of_overloaded(Compilation& compilation, const Value& v);

/// overload, and names of numba.extending that are refused with what to write instead.
std::vector<NativeFunction> extending_functions();

}  // namespace gasell::numba
