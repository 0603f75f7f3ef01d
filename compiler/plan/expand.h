#pragma once

#include <vector>

#include "compiler/graph/node.h"

namespace gasell::plan {

/// The nodes with what their calls stand for in the place of these. Without calls: as they are.
std::vector<graph::NodeRef> expand(const std::vector<graph::NodeRef>& roots);

}  // namespace gasell::plan
