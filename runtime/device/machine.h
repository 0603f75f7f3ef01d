// What this machine is.
#pragma once

#include <cstdint>

namespace gasell {

/// Bytes of memory this process may use: the machine's, or its control group's limit where that is lower.
int64_t machine_memory();

}  // namespace gasell
