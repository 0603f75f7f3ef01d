// The graph before planning: reshapes and slices moved towards the sources, where they cost nothing.
//
//   reshape(x + y)      →  reshape(x) + reshape(y)
//   mean(x, axis=1)[3]  →  mean(x[3:4], axis=1)[0]      (computes one row)
#pragma once

#include <vector>

#include "compiler/graph/node.h"

namespace gasell::plan {

std::vector<graph::NodeRef> canonical(const std::vector<graph::NodeRef>& roots);

/// The nodes reachable from `roots`, inputs before their users.
std::vector<graph::NodeRef> topological_order(const std::vector<graph::NodeRef>& roots);

/// The node with other inputs, through the builders, so that it simplifies.
graph::NodeRef rebuild(const graph::NodeRef& node, std::vector<graph::NodeRef> inputs);

}  // namespace gasell::plan
