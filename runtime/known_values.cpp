#include "runtime/known_values.h"

#include <algorithm>

#include "compiler/plan/canonical.h"

namespace gasell {
namespace {

using graph::Node;
using graph::NodeRef;

bool is_leaf(const Node& node) { return node.inputs.empty(); }

}  // namespace

NodeRef KnownValues::find(const NodeRef& node) const {
  if (known_.empty()) return nullptr;
  const auto found = known_.find(node.get());
  return found != known_.end() && found->second.node.lock() == node ? found->second.value : nullptr;
}

KnownValues::Rewritten KnownValues::rewrite(const std::vector<NodeRef>& roots) const {
  const std::vector<NodeRef> order = plan::topological_order(roots);
  struct Place {
    long held = 0;          // by these graphs, by `order` and by `roots`
    int operations = 0;     // on single numbers, since something was stored
    bool in_parts = false;  // a plan may compute some of its elements only
    NodeRef now;            // null: as it was
  };
  std::unordered_map<const Node*, Place> places;
  places.reserve(order.size());
  for (const NodeRef& node : order) {
    ++places[node.get()].held;
    for (const NodeRef& input : node->inputs) {
      Place& below = places[input.get()];
      ++below.held;
      below.in_parts = below.in_parts || (node->as<graph::ViewNode>() && node->size() < input->size());
    }
  }
  for (const NodeRef& root : roots) ++places[root.get()].held;

  Rewritten result;
  for (const NodeRef& node : order) {
    if (is_leaf(*node)) continue;
    Place& place = places[node.get()];
    if (NodeRef known = find(node)) {
      place.now = std::move(known);
      continue;
    }
    bool changed = false;
    std::vector<NodeRef> inputs = node->inputs;
    for (NodeRef& input : inputs) {
      const Place& below = places[input.get()];
      place.operations += below.operations;
      if (below.now) input = below.now;
      changed = changed || below.now;
    }
    if (changed) place.now = plan::rebuild(node, std::move(inputs));
    const bool reduces = node->as<graph::ReduceNode>() != nullptr;
    place.operations = reduces ? 0 : node->as<graph::MapNode>() ? std::min(place.operations + 1, kFewOperations) : place.operations;
    const bool stores =
        reduces ? node->size() <= kMostElements && !place.in_parts : node->size() <= kFewElements && place.operations == kFewOperations;
    if (!stores || node.use_count() <= place.held || std::find(roots.begin(), roots.end(), node) != roots.end()) continue;
    place.operations = 0;
    result.wanted.push_back(node);
  }
  const auto now = [&](const NodeRef& node) {
    const NodeRef& rewritten = places[node.get()].now;
    return rewritten ? rewritten : node;
  };
  for (const NodeRef& root : roots) result.roots.push_back(now(root));
  for (const NodeRef& node : result.wanted) result.roots.push_back(now(node));
  return result;
}

void KnownValues::keep(const NodeRef& node, NodeRef value) {
  if (known_.size() >= sweep_at_) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.node.expired(); });
    sweep_at_ = std::max<size_t>(64, 2 * known_.size());
  }
  known_.insert_or_assign(node.get(), Known{node, std::move(value)});
}

}  // namespace gasell
