// What is stored and why: the one place of that decision.
//
// A node is stored when it must be (asked for, a reduction, a concatenation, what a reshape needs in order), or when computing it again
// where it is used costs more than writing it once and reading it there.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/graph/node.h"
#include "compiler/plan/plan.h"

namespace gasell::plan {

/// Node → reason. Roots are among them. `order` has inputs before their users.
std::unordered_map<const graph::Node*, std::string> choose_stored(const std::vector<graph::NodeRef>& order,
                                                                  const std::vector<graph::NodeRef>& roots, const PlanOptions& options);

}  // namespace gasell::plan
