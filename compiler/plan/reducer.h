// The state of a reduction: how it starts, takes an element, merges with another and ends. A state is one scalar a component: (sum),
// (value, index), (count, shift, mean - shift, sum of squared deviations from the mean): a mean in two parts keeps the digits that
// differences of means need.
#pragma once

#include <vector>

#include "compiler/graph/node.h"
#include "compiler/ir/ir.h"

namespace gasell::plan {

using State = std::vector<ir::ExprRef>;

class Reducer {
 public:
  Reducer(graph::ReduceOp op, DType element);

  const std::vector<DType>& components() const { return components_; }
  /// Merging it changes nothing.
  State identity() const;
  /// The state of one element; `index` is its C-order number among the reduced.
  State single(const ir::ExprRef& x, const ir::ExprRef& index) const;
  /// Expressions may repeat operands: callers bind states to variables first. Order matters for argmin/argmax: `a` comes before `b`.
  State merge(const State& a, const State& b) const;
  /// merge(a, single(x, index)) for a state `a` that is not empty and holds only elements before this one: what the inner loops do.
  State accumulate(const State& a, const ir::ExprRef& x, const ir::ExprRef& index) const;
  /// Whether accumulate() is cheaper than merge().
  bool accumulates() const;
  /// The result, of dtype `result`; `count` is the number of reduced elements as f64.
  ir::ExprRef finish(const State& state, const ir::ExprRef& count, int64_t ddof, DType result) const;

  /// var goes over the elements of a block with DeviationSums.
  bool is_var() const { return op_ == graph::ReduceOp::var; }

 private:
  graph::ReduceOp op_;
  DType element_;
  std::vector<DType> components_;
};

/// What var gathers in a block: (sum of x - shift, sum of |x - shift|²). The shift is the mean of 1/r of the block's elements; then the
/// squared distance of shift and mean is at most r - 1 variances (Cauchy and Schwarz), and close() loses at most log2(r) bits to
/// cancellation.
class DeviationSums {
 public:
  explicit DeviationSums(DType mean) : mean_(mean) {}
  void set_shift(ir::ExprRef shift) { shift_ = std::move(shift); }

  std::vector<DType> components() const { return {mean_, DType::f64}; }
  State identity() const;
  State single(const ir::ExprRef& x, const ir::ExprRef& index) const;
  State merge(const State& a, const State& b) const;
  State accumulate(const State& a, const ir::ExprRef& x, const ir::ExprRef& index) const { return merge(a, single(x, index)); }
  bool accumulates() const { return false; }
  /// The state of var of `count` (f64) elements.
  State close(const State& sums, const ir::ExprRef& count) const;

 private:
  DType mean_;
  ir::ExprRef shift_;
};

/// sum / count for a count (f64) that is not 0.
ir::ExprRef divided_by_count(const ir::ExprRef& sum, const ir::ExprRef& count);
/// a comes before b in the order of `op` (argmin, min: a < b with NaN first; complex numbers lexicographically).
ir::ExprRef precedes(graph::ReduceOp op, const ir::ExprRef& a, const ir::ExprRef& b);

}  // namespace gasell::plan
