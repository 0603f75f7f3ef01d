#include "compiler/plan/placement.h"

#include <algorithm>
#include <unordered_set>

namespace gasell::plan {
namespace {

using graph::Node;
using graph::NodeRef;

constexpr int kMaxDepth = 100;       // operations in a row one kernel may hold: compile time grows with them
constexpr size_t kMaxContexts = 16;  // places of use told apart
constexpr double kStoreCost = 3;     // writing one element, in operations
constexpr double kLoadCost = 1.5;    // reading it back
constexpr double kRandomCost = 40;
constexpr double kGatherCost = 4;  // an element that may lie anywhere

bool is_leaf(const Node& node) { return node.as<graph::BufferNode>() || node.as<graph::ConstantNode>() || node.as<graph::IotaNode>(); }
bool is_memory(const Node& node) { return node.as<graph::BufferNode>() != nullptr; }

double own_cost(const Node& node) {
  if (const auto* m = node.as<graph::MapNode>()) return info(m->op).cost;
  if (node.as<graph::CastNode>()) return 1;
  if (node.as<graph::GatherNode>()) return kGatherCost;
  return node.as<graph::RandomNode>() ? kRandomCost : 0;
}

bool must_store(const Node& node) { return node.as<graph::ReduceNode>() || node.as<graph::ConcatenateNode>() || node.as<graph::PadNode>(); }

/// Joined arrays that are nothing but parts of others: those are written part by part.
std::unordered_set<const Node*> joined_in_place(const std::vector<NodeRef>& order, const std::vector<NodeRef>& roots) {
  std::unordered_set<const Node*> joined;
  for (const NodeRef& node : order)
    if (node->as<graph::ConcatenateNode>()) joined.insert(node.get());
  for (const NodeRef& node : order)
    if (!node->as<graph::ConcatenateNode>())
      for (const NodeRef& input : node->inputs) joined.erase(input.get());
  for (const NodeRef& root : roots) joined.erase(root.get());
  return joined;
}

/// Where and how often a node is evaluated: one entry for each kernel and slice through which it is reached.
using Contexts = std::vector<std::pair<uint64_t, double>>;

void add(Contexts& contexts, uint64_t key, double evaluations) {
  for (auto& [known, count] : contexts)
    if (known == key) return void(count = std::max(count, evaluations));
  if (contexts.size() < kMaxContexts)
    contexts.emplace_back(key, evaluations);
  else
    contexts.back().second += evaluations;
}

uint64_t through_view(uint64_t key, const graph::ViewNode& view) {
  for (const graph::ViewAxis& a : view.axes)
    for (const auto part : {static_cast<uint64_t>(a.axis), static_cast<uint64_t>(a.start), static_cast<uint64_t>(a.step)})
      key = (key ^ part) * 0x9e3779b97f4a7c15ull + (key >> 29);
  return key;
}

/// Broadcasting along the innermost axes is free: the value is computed before that loop.
double hoisted(const Node& node, const graph::ViewNode& view) {
  double factor = 1;
  for (int k = node.rank(); k-- > 0;) {
    const bool used = std::any_of(view.axes.begin(), view.axes.end(), [k](const graph::ViewAxis& a) { return a.axis == k; });
    if (used) break;
    factor *= static_cast<double>(std::max<int64_t>(1, node.shape[k]));
  }
  return factor;
}

std::string plural(double n, const char* what) {
  std::string count = std::to_string(static_cast<int64_t>(n + 0.5));
  return count + " " + what + (count == "1" ? "" : "s");
}

}  // namespace

std::unordered_map<const Node*, std::string> choose_stored(const std::vector<NodeRef>& order, const std::vector<NodeRef>& roots,
                                                           const PlanOptions& options) {
  std::unordered_map<const Node*, std::string> stored;
  for (const NodeRef& root : roots) stored.emplace(root.get(), "asked for");

  // Upwards: cost of one element, and what must be stored whatever it costs.
  std::unordered_map<const Node*, double> cost;
  std::unordered_map<const Node*, int> depth;
  const std::unordered_set<const Node*> joined = joined_in_place(order, roots);
  const bool bordered = std::any_of(order.begin(), order.end(), [](const NodeRef& node) { return node->as<graph::PadNode>() != nullptr; });
  for (const NodeRef& node : order) {
    double total = own_cost(*node);
    int levels = 1;
    for (const NodeRef& input : node->inputs) {
      total += cost[input.get()];
      levels = std::max(levels, depth[input.get()] + 1);
    }
    if (node->as<graph::ReduceNode>()) stored.emplace(node.get(), "reduction");
    if (node->as<graph::ConcatenateNode>() && !joined.count(node.get())) stored.emplace(node.get(), "joined from parts");
    if (node->as<graph::PadNode>()) stored.emplace(node.get(), "has a border");
    if (bordered && node->as<graph::RandomNode>()) stored.emplace(node.get(), "drawn beside a border");
    if (node->as<graph::ReshapeNode>()) stored.emplace(node->inputs[0].get(), "reshaped, which needs its elements in order");
    if (node->as<graph::GatherNode>() && !is_memory(*node->inputs[0])) stored.emplace(node->inputs[0].get(), "read in any order");
    if (levels >= kMaxDepth && !is_leaf(*node))
      stored.emplace(node.get(), "a kernel holds at most " + std::to_string(kMaxDepth) + " operations in a row");
    if (!options.fuse && (node->as<graph::MapNode>() || node->as<graph::CastNode>() || node->as<graph::RandomNode>() ||
                          node->as<graph::IotaNode>() || node->as<graph::GatherNode>()))
      stored.emplace(node.get(), "fusion is off");
    const bool is_stored = stored.count(node.get()) != 0;
    cost[node.get()] = is_stored ? 0 : std::min(total, 1e9);
    depth[node.get()] = is_stored ? 0 : levels;
  }

  // Downwards: how often each node is evaluated, given what its users decided.
  std::unordered_map<const Node*, Contexts> uses;
  int64_t memory_left = options.memory / 2;
  for (size_t k = order.size(); k-- > 0;) {
    const Node& node = *order[k];
    Contexts& contexts = uses[&node];
    auto reason = stored.find(&node);
    if (reason == stored.end() && !is_leaf(node) && own_cost(node) > 0) {
      double evaluations = 0;
      for (const auto& [key, count] : contexts) evaluations += count;
      const auto size = static_cast<double>(node.size());
      const double each = cost[&node];
      const int64_t bytes = node.size() * gasell::size_of(node.dtype);
      if (evaluations * each > size * (each + kStoreCost) + evaluations * kLoadCost && bytes <= memory_left) {
        memory_left -= bytes;
        reason = stored
                     .emplace(&node, "evaluated " + plural(evaluations / std::max(1.0, size), "time") + " an element, " +
                                         plural(each, "operation") + " each")
                     .first;
      }
    }
    if (reason != stored.end()) contexts.clear();
    for (const NodeRef& input : node.inputs) {
      Contexts& to = uses[input.get()];
      if (reason != stored.end()) {
        // A kernel of its own: over its elements, or for a reduction over what it reduces.
        const Node& space = must_store(node) ? *input : node;
        uint64_t key = node.hash;
        double evaluations = static_cast<double>(space.size());
        if (const auto* v = node.as<graph::ViewNode>()) key = through_view(key, *v), evaluations /= hoisted(node, *v);
        add(to, key, evaluations);
      } else {
        const auto* v = node.as<graph::ViewNode>();
        // Of a joined array each part is evaluated where it stands.
        const double part = joined.count(&node) && node.size() ? static_cast<double>(input->size()) / static_cast<double>(node.size()) : 1;
        for (const auto& [key, count] : contexts) add(to, v ? through_view(key, *v) : key, (v ? count / hoisted(node, *v) : count) * part);
      }
    }
  }
  return stored;
}

}  // namespace gasell::plan
