#include "runtime/known_values.h"

#include <algorithm>

#include "compiler/plan/canonical.h"

namespace gasell {

/// How the graphs of a plan use a value.
struct KnownValues::Use {
  int64_t elements = 0;    // of it, at most all
  bool in_parts = false;   // a plan may compute some of its elements only
  bool stretched = false;  // each of its elements goes into many of another array
};

namespace {

using graph::Node;
using graph::NodeRef;

/// Writing an element, and reading it instead of computing it, in additions.
constexpr double kStoring = 8, kReading = 8;
/// A plan for a few elements, where a known value would give them without one.
constexpr double kPlan = 250e3;
/// Few elements that each go into so many of another array are stored by the plan, or computed again for each of those.
constexpr int64_t kStretched = 256;
/// What several use is counted for each of them: so much at most.
constexpr double kMostCost = 1e6;

/// Nothing is computed for it, or nothing worth keeping.
bool is_leaf(const Node& node) { return node.as<graph::BufferNode>() || node.as<graph::ConstantNode>() || node.as<graph::IotaNode>(); }

/// What an element costs beside those of the inputs.
double cost_of(const Node& node) {
  if (const auto* map = node.as<graph::MapNode>()) return info(map->op).cost;
  if (const auto* random = node.as<graph::RandomNode>()) return random->distribution == graph::Distribution::standard_normal ? 100 : 40;
  return node.as<graph::CastNode>() ? 1 : 0;
}

int64_t elements_used(const Node& user, const Node& input) {
  return user.as<graph::ViewNode>() ? std::min(user.size(), input.size()) : input.size();
}

}  // namespace

NodeRef KnownValues::find(const NodeRef& node) const {
  if (known_.empty()) return nullptr;
  const auto found = known_.find(node.get());
  return found != known_.end() && found->second.node.lock() == node ? found->second.value : nullptr;
}

KnownValues::Rewritten KnownValues::rewrite(const std::vector<NodeRef>& roots, int64_t most_bytes) {
  forget();
  const std::vector<NodeRef> order = plan::topological_order(roots);
  struct Place {
    long held = 0;       // by these graphs, by `order` and by `roots`
    int operations = 0;  // on single numbers, since something was stored
    double cost = 0;     // of an element, since something was stored
    Use use;
    NodeRef now;  // null: as it was
  };
  std::unordered_map<const Node*, Place> places;
  places.reserve(order.size());
  for (const NodeRef& node : order) {
    ++places[node.get()].held;
    for (const NodeRef& input : node->inputs) {
      Place& below = places[input.get()];
      ++below.held;
      const int64_t used = elements_used(*node, *input);
      below.use.in_parts = below.use.in_parts || used < input->size();
      below.use.stretched = below.use.stretched || node->size() / kStretched >= input->size();
      below.use.elements = std::min(below.use.elements + used, input->size());
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
      place.cost += below.cost;
      if (below.now) input = below.now;
      changed = changed || below.now;
    }
    if (changed) place.now = plan::rebuild(node, std::move(inputs));
    const bool reduces = node->as<graph::ReduceNode>() != nullptr;
    place.operations = reduces ? 0 : node->as<graph::MapNode>() ? std::min(place.operations + 1, kFewOperations) : place.operations;
    place.cost = reduces ? 0 : std::min(place.cost + cost_of(*node), kMostCost);
    if (node.use_count() <= place.held || std::find(roots.begin(), roots.end(), node) != roots.end()) continue;
    const bool stores = reduces ? node->size() <= kMostElements && !place.use.in_parts
                        : node->size() <= kFewElements
                            ? place.operations == kFewOperations || (place.operations > 0 && place.use.stretched)
                            : node->size() <= most_bytes / gasell::size_of(node->dtype) && is_worth_keeping(node, place.cost, place.use);
    if (!stores) continue;
    place.operations = 0;
    place.cost = 0;
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

/// The rule of who rents skis: what was spent until it is bought is at most the price, so that nobody spends more than twice what would
/// have been best. A use of all elements computes them anyway, and spends only what reading them would have saved.
bool KnownValues::is_worth_keeping(const NodeRef& node, double cost, const Use& use) {
  const auto size = static_cast<double>(node->size()), used = static_cast<double>(use.elements);
  const double price = use.in_parts ? size * (cost + kStoring) : size * kStoring;
  const double rent = use.in_parts ? used * cost + kPlan : size * std::max(0.0, cost - kReading);
  if (rent == 0) return false;
  const auto [found, fresh] = rents_.try_emplace(node.get(), Rent{node, 0});
  if (!fresh && found->second.node.lock() != node) found->second = {node, 0};
  if (found->second.paid >= price) {
    rents_.erase(found);
    return true;
  }
  found->second.paid += rent;
  return false;
}

void KnownValues::keep(const NodeRef& node, NodeRef value) {
  forget();
  if (node->size() > kMostElements) large_.push_back(node);
  known_.insert_or_assign(node.get(), Known{node, std::move(value)});
}

void KnownValues::forget() {
  const bool of_large = std::erase_if(large_, [](const auto& node) { return node.expired(); }) > 0;
  if (!of_large && known_.size() + rents_.size() < sweep_at_) return;
  const auto expired = [](const auto& entry) { return entry.second.node.expired(); };
  std::erase_if(known_, expired);
  std::erase_if(rents_, expired);
  sweep_at_ = std::max<size_t>(64, 2 * (known_.size() + rents_.size()));
}

}  // namespace gasell
