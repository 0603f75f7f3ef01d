// The parts of the module math.
#pragma once

#include <vector>

#include "runtime/session/value.h"

namespace gasell {

std::vector<NativeFunction> math_integer_functions();
std::vector<NativeFunction> math_sum_functions();

[[noreturn]] void raise_math_domain();
[[noreturn]] void raise_math_range();

}  // namespace gasell
