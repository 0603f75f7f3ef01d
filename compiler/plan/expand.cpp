#include "compiler/plan/expand.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/plan/canonical.h"

namespace gasell::plan {

using graph::Node;
using graph::NodeRef;

namespace {

/// A function's result with `inputs` in the place of its parameters.
NodeRef result_of(const graph::Function& function, const std::vector<NodeRef>& inputs) {
  std::unordered_map<const Node*, NodeRef> done;
  for (const NodeRef& node : topological_order({function.result})) {
    if (const auto* parameter = node->as<graph::ParameterNode>()) {
      done.emplace(node.get(), inputs[parameter->number]);
      continue;
    }
    std::vector<NodeRef> now;
    for (const NodeRef& input : node->inputs) now.push_back(done.at(input.get()));
    done.emplace(node.get(), rebuild(node, std::move(now)));
  }
  return done.at(function.result.get());
}

}  // namespace

std::vector<NodeRef> expand(const std::vector<NodeRef>& roots) {
  if (std::none_of(roots.begin(), roots.end(), [](const NodeRef& root) { return root->has_calls; })) return roots;
  std::unordered_map<const Node*, NodeRef> done;
  for (const NodeRef& node : topological_order(roots)) {
    if (!node->has_calls) {
      done.emplace(node.get(), node);
      continue;
    }
    std::vector<NodeRef> inputs;
    for (const NodeRef& input : node->inputs) inputs.push_back(done.at(input.get()));
    const auto* call = node->as<graph::CallNode>();
    done.emplace(node.get(), call ? result_of(*call->function, inputs) : rebuild(node, std::move(inputs)));
  }
  std::vector<NodeRef> expanded;
  for (const NodeRef& root : roots) expanded.push_back(done.at(root.get()));
  return expanded;
}

}  // namespace gasell::plan
