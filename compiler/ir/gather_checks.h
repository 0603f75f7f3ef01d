// Checks of indices before the loads between them.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// In kernels of threads (Kernel::simt): moves checks, and what they are computed from, in front of the loads that stand before them in
/// their body, as far as nothing but lets and checks is between. Their order stays, so the same error is noted. A GPU then has the loads
/// under way together, and one branch for all the checks.
Kernel gather_checks(const Kernel& kernel);

}  // namespace gasell::ir
