// How much code loops between constants are, written out.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// How many operations a loop has with all of its rounds, and those of the loops within, written out; more than `most` where they are more
/// or cannot be known.
int64_t unrolled_size(const Stmt& loop, int64_t most);

}  // namespace gasell::ir
