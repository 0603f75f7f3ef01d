// Parquet, Arrow IPC and ORC files as pandas' functions see them.
#pragma once

#include <vector>

#include "runtime/session/objects.h"

namespace gasell::pandas {

/// Natives of _frame.
std::vector<NativeFunction> parquet_functions();

}  // namespace gasell::pandas
