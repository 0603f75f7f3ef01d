// `gasell check`.
#pragma once

#include "tools/gasell/options.h"

namespace gasell::cli {

/// Returns the command's exit status: 1 where a file has an error.
int run_check(const Options& options);

}  // namespace gasell::cli
