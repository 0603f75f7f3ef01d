// Numbers of units, rows and outputs taken apart into coordinates.
#pragma once

#include <vector>

#include "compiler/plan/kernel_builder.h"

namespace gasell::plan {

struct Parts {
  ir::ExprRef quotient, remainder;
};

/// A number that others, from 0 to below `below`, are divided by. A GPU takes longer for a division than a thread waits for memory, and its
/// compiler longer than for the rest of a small kernel: where the builder says so and numbers are below 2^31, the upper half of a product
/// does.
class Divisor {
 public:
  Divisor(KernelBuilder& builder, int64_t divisor, int64_t below);
  Parts divide(ir::Body& body, const ir::ExprRef& number) const;

 private:
  KernelBuilder* builder_;
  ir::ExprRef divisor_;       // null: 1
  ir::ExprRef scale_, bits_;  // null: by a division
};

/// The extents of axes, outermost first.
class Extents {
 public:
  Extents(KernelBuilder& builder, const Shape& extents);
  bool empty() const { return rank_ == 0; }
  /// Of an element, by its number in C order, as lets.
  std::vector<ir::ExprRef> coordinates(ir::Body& body, ir::ExprRef number) const;

 private:
  size_t rank_;
  std::vector<Divisor> inner_;  // of all axes but the outermost
};

}  // namespace gasell::plan
