// The interactive session.
#pragma once

#include "tools/gasell/options.h"

namespace gasell::cli {

/// Reads, runs and prints until Ctrl-D or exit(); returns the command's exit status.
int run_repl(const Options& options);

}  // namespace gasell::cli
