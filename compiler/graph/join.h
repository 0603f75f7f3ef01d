// Arrays joined along an axis that are the same function of pieces of one array: as that function of the whole.
#pragma once

#include <optional>
#include <vector>

#include "compiler/graph/node.h"

namespace gasell::graph {

/// What parts with the same elements but along `axis` are together, without a join: neighbouring views of one array are one view, equal
/// constants one constant, and the same casts and elementwise functions of such parts one cast, one function. Nothing: they are not of
/// that kind. Functions of blocks become functions of arrays by it, which fuse with what surrounds them.
std::optional<NodeRef> joined(const std::vector<NodeRef>& parts, int axis);

}  // namespace gasell::graph
