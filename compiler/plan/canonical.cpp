#include "compiler/plan/canonical.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/plan/reduction_order.h"

namespace gasell::plan {

using graph::Node;
using graph::NodeRef;
using graph::Shape;
using graph::ViewAxis;

std::vector<NodeRef> topological_order(const std::vector<NodeRef>& roots) {
  std::vector<NodeRef> order;
  std::unordered_set<const Node*> seen;
  struct Visit {
    NodeRef node;
    size_t next_input;
  };
  std::vector<Visit> stack;  // explicit: lazy chains may be deep
  for (const NodeRef& root : roots) {
    if (seen.insert(root.get()).second) stack.push_back({root, 0});
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next_input < top.node->inputs.size()) {
        NodeRef input = top.node->inputs[top.next_input++];
        if (seen.insert(input.get()).second) stack.push_back({std::move(input), 0});
      } else {
        order.push_back(std::move(top.node));
        stack.pop_back();
      }
    }
  }
  return order;
}

NodeRef rebuild(const NodeRef& node, std::vector<NodeRef> inputs) {
  if (inputs == node->inputs) return node;
  if (const auto* m = node->as<graph::MapNode>()) return graph::map(m->op, std::move(inputs));
  if (node->as<graph::CastNode>()) return graph::cast(inputs[0], node->dtype);
  if (const auto* v = node->as<graph::ViewNode>()) return graph::view(inputs[0], node->shape, v->axes);
  if (node->as<graph::ReshapeNode>()) return graph::reshape(inputs[0], node->shape);
  if (const auto* r = node->as<graph::ReduceNode>()) return graph::reduce(r->op, inputs[0], r->axes, r->ddof);
  if (const auto* c = node->as<graph::ConcatenateNode>()) return graph::concatenate(std::move(inputs), c->axis);
  if (const auto* p = node->as<graph::PadNode>()) return graph::pad(inputs[0], node->shape, p->before, p->value);
  if (node->as<graph::GatherNode>()) return graph::gather(inputs[0], inputs[1]);
  if (const auto* c = node->as<graph::CallNode>()) return graph::call(c->function, std::move(inputs));
  return node;
}

namespace {

/// reshape(x, shape) with the reshape moved below element-wise operations. Recursion is as deep as the run of element-wise operations;
/// shared operands are reshaped once.
class ReshapePusher {
 public:
  NodeRef push(const NodeRef& x, const Shape& shape) {
    const auto key = std::pair(x.get(), shape);
    if (auto known = done_.find(key); known != done_.end()) return known->second;
    NodeRef result;
    if (x->as<graph::MapNode>() || x->as<graph::CastNode>()) {
      std::vector<NodeRef> chain{x};  // casts and unary maps in a row need no recursion
      while (chain.back()->inputs.size() == 1 && (chain.back()->as<graph::MapNode>() || chain.back()->as<graph::CastNode>()))
        chain.push_back(chain.back()->inputs[0]);
      const NodeRef& bottom = chain.back();
      if (bottom->as<graph::MapNode>()) {
        std::vector<NodeRef> inputs;
        for (const NodeRef& input : bottom->inputs) inputs.push_back(push(input, shape));
        result = rebuild(bottom, std::move(inputs));
      } else {
        result = graph::reshape(bottom, shape);
      }
      for (size_t k = chain.size() - 1; k-- > 0;) result = rebuild(chain[k], {result});
    } else {
      result = graph::reshape(x, shape);
    }
    done_.emplace(key, result);
    return result;
  }

 private:
  std::map<std::pair<const Node*, Shape>, NodeRef> done_;
};

/// Whether the order in which it takes its elements shows in what a reduction of this type gives.
bool order_shows(graph::ReduceOp op, DType type) {
  using graph::ReduceOp;
  return (op == ReduceOp::sum || op == ReduceOp::prod || op == ReduceOp::mean || op == ReduceOp::var) && !is_integer(type) &&
         type != DType::boolean;
}

/// view(reduce(x)) that keeps fewer results than the reduction has, as a reduction of a view: where that takes its elements in the same
/// order, so that the results have the bits that they have among the others.
std::optional<NodeRef> slice_reduction(const NodeRef& node) {
  const auto* view = node->as<graph::ViewNode>();
  const NodeRef& inner = node->inputs[0];
  const auto* reduce = inner->as<graph::ReduceNode>();
  if (!reduce || node->size() >= inner->size()) return {};
  std::vector<bool> used(node->shape.size(), false);
  for (const ViewAxis& a : view->axes)
    if (a.axis >= 0) used[a.axis] = true;
  for (size_t k = 0; k < used.size(); ++k)
    if (!used[k] && node->shape[k] != 1) return {};
  const NodeRef& x = inner->inputs[0];
  Shape shape = node->shape;
  std::vector<ViewAxis> axes;
  std::vector<int> reduced;
  size_t kept = 0;
  for (int k = 0; k < x->rank(); ++k) {
    if (std::find(reduce->axes.begin(), reduce->axes.end(), k) == reduce->axes.end()) {
      axes.push_back(view->axes[kept++]);
    } else {
      axes.push_back({static_cast<int>(shape.size()), 0, 1});
      reduced.push_back(static_cast<int>(shape.size()));
      shape.push_back(x->shape[k]);
    }
  }
  const NodeRef part = graph::view(x, std::move(shape), std::move(axes));
  if (order_shows(reduce->op, x->dtype)) {
    const std::optional<bool> of_all = reduces_by_columns(*x, reduce->axes);
    if (!of_all || of_all != reduces_by_columns(*part, reduced)) return {};
  }
  return graph::reduce(reduce->op, part, std::move(reduced), reduce->ddof);
}

}  // namespace

std::vector<NodeRef> canonical(const std::vector<NodeRef>& roots) {
  std::unordered_map<const Node*, NodeRef> done;
  const std::vector<NodeRef> order = topological_order(roots);
  std::unordered_map<const Node*, int> users;
  for (const NodeRef& node : order)
    for (const NodeRef& input : node->inputs) ++users[input.get()];
  for (const NodeRef& root : roots) ++users[root.get()];
  ReshapePusher pusher;
  for (const NodeRef& node : order) {
    std::vector<NodeRef> inputs;
    for (const NodeRef& input : node->inputs) inputs.push_back(done.at(input.get()));
    NodeRef result = rebuild(node, std::move(inputs));
    if (result->as<graph::ReshapeNode>()) {
      result = pusher.push(result->inputs[0], result->shape);
    } else if (result->as<graph::ViewNode>() && users[node->inputs[0].get()] == 1) {
      if (auto sliced = slice_reduction(result)) result = *sliced;
    }
    done.emplace(node.get(), std::move(result));
  }
  std::vector<NodeRef> results;
  for (const NodeRef& root : roots) results.push_back(done.at(root.get()));
  return results;
}

}  // namespace gasell::plan
