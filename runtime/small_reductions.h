// Reductions of few elements, as kernels do them (compiler/plan/reduction_lowering.h): the same states, merged in the same order, so the
// same bits.
#pragma once

#include "compiler/graph/node.h"

namespace gasell::small {

/// Whether reduce() does it: one without elements, of types that are rare, or whose order of additions depends on where its operands lie is
/// left to kernels.
bool reduces(const graph::Node& node);
/// The elements of `node`, a ReduceNode that reduces() takes. Those of its input lie in C order; with step 0 one stands for all.
void reduce(const graph::Node& node, const char* elements, int step, char* to);

}  // namespace gasell::small
