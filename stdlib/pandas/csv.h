// CSV and JSON files as pandas' functions see them.
#pragma once

#include <vector>

#include "runtime/session/objects.h"

namespace gasell::pandas {

/// Natives of _frame.
std::vector<NativeFunction> csv_functions();
std::vector<NativeFunction> json_functions();

}  // namespace gasell::pandas
