// --emit: what a script's computations look like on their way to machine code.
#pragma once

#include "runtime/engine.h"
#include "tools/gasell/options.h"

namespace gasell::cli {

/// Every plan that `engine` forces from now on is printed to stdout as options.emit says, before it runs.
void emit_plans(Engine& engine, const Options& options);

}  // namespace gasell::cli
