// Stencils as array expressions: views of the arrays, shifted against each other.
#pragma once

#include <optional>
#include <vector>

#include "compiler/functions/function.h"
#include "compiler/graph/node.h"
#include "runtime/functions/call.h"
#include "stdlib/numba/stencil_trees.h"

namespace gasell::numba {

/// The elements of a stencil's result on [begin, end) of each axis.
struct Box {
  std::vector<int64_t> begin, end;
};
/// Those that need nothing from beyond an array of this shape; with no elements where the array is too small.
Box inner_box(const graph::Shape& shape, const Reach& reach);

/// What a stencil gives for arrays of the leaves' shapes, which are its parameters: for BorderMode::constant and valid the elements of the
/// inner box, else all. `kernel`: of the tree with relative indices, for arguments of `types`, whose leaves are `leaves`, the first an
/// array. nullopt: it cannot be told as an expression (functions/as_graph.h), or indices leave the neighborhood or the arrays.
std::optional<graph::Function> stencil_expression(const functions::Compiled& kernel, const std::vector<functions::Type>& types,
                                                  const std::vector<functions::Leaf>& leaves, const Reach& reach, BorderMode mode);

}  // namespace gasell::numba
