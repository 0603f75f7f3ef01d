// `gasell fmt`.
#pragma once

#include "tools/gasell/options.h"

namespace gasell::cli {

/// Returns the command's exit status: 1 where a file is no program, or, with --check and --diff, would change.
int run_format(const Options& options);

}  // namespace gasell::cli
