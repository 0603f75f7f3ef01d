// --emit: what a script's computations look like on their way to machine code.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/engine.h"
#include "tools/gasell/options.h"

namespace gasell::cli {

/// Every plan that `engine` forces from now on is printed to stdout as options.emit says, before it runs.
/// Gives the number of plans so far.
std::shared_ptr<const int64_t> emit_plans(Engine& engine, const Options& options);

}  // namespace gasell::cli
