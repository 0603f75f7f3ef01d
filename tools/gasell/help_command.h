// `gasell help`.
#pragma once

#include "tools/gasell/options.h"

namespace gasell::cli {

/// Returns the command's exit status: 1 where a name is unknown.
int run_help(const Options& options);

}  // namespace gasell::cli
