// Graphs of few elements, evaluated at once on the host: without a plan, a kernel or a compiler, which take some hundred times as long as
// the arithmetic.
//
// The results have the bits that the kernels' would have: the same operations on the same types, sums in the same tree. Only exponentials
// and other functions of the C library are its scalar ones, where kernels take its vector ones for whole vectors. What draws random numbers
// is left to kernels, and so is a sum whose order depends on where a plan stores its operands.
#pragma once

#include <optional>
#include <vector>

#include "compiler/plan/plan.h"
#include "runtime/device/device.h"
#include "runtime/known_values.h"

namespace gasell {

class SmallGraphs {
 public:
  SmallGraphs(Device& host, KnownValues& known);
  ~SmallGraphs();
  /// A BufferNode for each root, over its destination where it has one; nothing where kernels have to do it.
  std::optional<std::vector<graph::NodeRef>> evaluate(const std::vector<graph::NodeRef>& roots,
                                                      const std::vector<plan::Destination>& destinations);

 private:
  class Evaluation;
  Device& host_;
  KnownValues& known_;
  std::vector<char> memory_;  // for the elements of all nodes of one evaluation
};

}  // namespace gasell
