// Small values that a plan computes on its way, kept for later plans.
//
//   s = (x * x).sum(); y = x / s; print(y[0]); print(y[1]); print(s)      the sum is computed once, with the first line that is printed
//
// A graph is a value, so evaluating it twice gives the same; what keeps that from costs is this. Without it, a loop like
//   for k in range(n): b = b * (1 - a * a); a = x[:k].sum() / b; y[k] = a
// would compute in each round all that the rounds before it computed.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "compiler/graph/node.h"

namespace gasell {

class KnownValues {
 public:
  /// Operations on an element that are done again by whoever needs it, rather than kept.
  static constexpr int kFewOperations = 8;
  /// So much of what somebody holds is kept: of chains of operations, which cost little to store where elements are few, and of reductions,
  /// which are stored anyway.
  static constexpr int64_t kFewElements = 8192, kMostElements = 65536;

  struct Rewritten {
    std::vector<graph::NodeRef> roots;   // of the plan: those given, over what is known, and behind them what shall be known
    std::vector<graph::NodeRef> wanted;  // what the roots behind those given stand for
  };
  /// The roots with known values in place of what computes them; and the small values that somebody outside of these graphs holds and that
  /// a plan stores anyway (reductions), or that took a while (chains of operations).
  Rewritten rewrite(const std::vector<graph::NodeRef>& roots) const;
  /// `value`, a BufferNode, is what `node` computes. Kept while somebody else holds the node.
  void keep(const graph::NodeRef& node, graph::NodeRef value);
  /// What is known of the node; null: nothing.
  graph::NodeRef find(const graph::NodeRef& node) const;

 private:
  struct Known {
    std::weak_ptr<const graph::Node> node;
    graph::NodeRef value;
  };
  std::unordered_map<const graph::Node*, Known> known_;
  size_t sweep_at_ = 64;  // so many are looked through for those that nobody holds any more
};

}  // namespace gasell
