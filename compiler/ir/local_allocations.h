// Small arrays that nobody else sees live on the stack.
#pragma once

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// An array of a small constant size whose address goes nowhere is memory of its body instead of the context's, which LLVM holds in
/// registers where it can:
///
///   allocate k: f64[3] else 1                             local k: f64[3]
///   k[0] = (s * y)                                   →    k[0] = (s * y)
///   z = k[0]                                              z = k[0]
///   call gasell_release(address(context), address(k))
///
/// Its address goes elsewhere with a pointer, which may outlive the body, and with any call but those that count references.
Kernel local_allocations(const Kernel& kernel);

}  // namespace gasell::ir
