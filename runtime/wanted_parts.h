// Contents that nobody wanted yet (deferred()), of which graphs read a part: np.sort(x)[:10] asks for ten of its elements.
#pragma once

#include <vector>

#include "compiler/graph/node.h"

namespace gasell {

/// The graphs with memory that holds what they read in the place of contents that wait and can be had in part (HostStorage::part). What is
/// wanted whole stays as it is: make_ready() makes it. Throws what computing the parts throws.
std::vector<graph::NodeRef> with_wanted_parts(const std::vector<graph::NodeRef>& roots);

/// Whether a graph reads contents that wait, though some wait that can be had in part.
bool waits_for_contents(const graph::NodeRef& root);

}  // namespace gasell
