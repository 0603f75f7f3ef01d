// `gasell lsp`: the Language Server Protocol over standard input and output.
#pragma once

#include "tools/gasell/options.h"

namespace gasell::cli {

/// Serves until `exit` or the end of the input. 0 after `shutdown`, else 1.
int run_language_server(const Options& options);

}  // namespace gasell::cli
