// Values that plans compute on their way, kept for later plans.
//
//   s = (x * x).sum(); y = x / s; print(y[0]); print(y[1]); print(s)      the sum is computed once, with the first line that is printed
//   t = np.exp(x)
//   for k in range(100): print((t * k).sum())                            the exponentials are stored once computing them again has cost as
//                                                                        much as that: for one function in the third round
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
  /// So much of what somebody holds is kept at once: of chains of operations, which cost little to store where elements are few, and of
  /// reductions, which are stored anyway. What is larger is rented: kept when what was spent on computing it again would have paid for
  /// that.
  static constexpr int64_t kFewElements = 8192, kMostElements = 65536;

  struct Rewritten {
    std::vector<graph::NodeRef> roots;   // of the plan: those given, over what is known, and behind them what shall be known
    std::vector<graph::NodeRef> wanted;  // what the roots behind those given stand for
  };
  /// The roots with known values in place of what computes them; and the values that somebody outside of these graphs holds and that shall
  /// be known: none of more than `most_bytes`.
  Rewritten rewrite(const std::vector<graph::NodeRef>& roots, int64_t most_bytes);
  /// `value`, a BufferNode, is what `node` computes. Kept while somebody else holds the node.
  void keep(const graph::NodeRef& node, graph::NodeRef value);
  /// What is known of the node; null: nothing.
  graph::NodeRef find(const graph::NodeRef& node) const;

 private:
  struct Known {
    std::weak_ptr<const graph::Node> node;
    graph::NodeRef value;
  };
  struct Rent {
    std::weak_ptr<const graph::Node> node;
    double paid;  // in additions
  };
  struct Use;
  /// Whether a value that costs so many additions an element has cost enough; else this use of it counts.
  bool is_worth_keeping(const graph::NodeRef& node, double cost, const Use& use);
  /// What nobody holds any more: at once where it is large, else some time.
  void forget();

  std::unordered_map<const graph::Node*, Known> known_;
  std::unordered_map<const graph::Node*, Rent> rents_;
  std::vector<std::weak_ptr<const graph::Node>> large_;  // of known_
  size_t sweep_at_ = 64;                                 // so many are looked through for those that nobody holds any more
};

}  // namespace gasell
