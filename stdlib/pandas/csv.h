// CSV files as pandas' functions see them.
#pragma once

#include <vector>

#include "runtime/session/objects.h"

namespace gasell::pandas {

/// Natives of _frame.
std::vector<NativeFunction> csv_functions();

}  // namespace gasell::pandas
