// An array expression as a function from index to value, flattened: what one kernel evaluates at each point of its iteration space.
//
// Pulling walks from the roots to the sources and composes slices, transpositions and broadcasts into affine positions, so that they cost
// index arithmetic only:   (x[::2] + 1).T  over  space (i, j)   becomes   add(x at offset 0 + 1*i + 2*stride*j, 1).
#pragma once

#include <vector>

#include "compiler/graph/node.h"

namespace gasell::plan {

using graph::NodeRef;
using graph::Shape;

/// Where a source is read (or a result written): element offset + Σ coefficients[k] * i_k. For iota and random sources this is the
/// C-order index in the whole source array. With an `index`, at offset + index_stride * that value of the same point.
struct Access {
  NodeRef source;  // BufferNode, IotaNode or RandomNode; null for a result
  DType dtype;
  std::vector<int64_t> coefficients;
  int64_t offset = 0;
  int index = -1;  // of Pulled::values; then all coefficients are zero
  int64_t index_stride = 0;
  bool operator==(const Access&) const = default;
};

/// One value of the flattened expression; operands come before their users.
struct Value {
  enum class Kind : uint8_t { access, constant, op, cast } kind;
  DType dtype;
  int access = -1;
  Scalar constant;
  ScalarOp op = ScalarOp::add;
  std::vector<int> operands;
};

struct Pulled {
  Shape space;
  std::vector<Access> accesses;
  std::vector<Value> values;
  std::vector<int> roots;  // values
  /// Operations a point, in units of an addition.
  double cost() const;
};

/// Flattens `roots`, all of one shape. Only views, maps, casts, constants, iotas, random sources, buffers and gathers of buffers may occur.
Pulled pull(const std::vector<NodeRef>& roots);
/// The same over a larger space, in which the root's element 0 is at `before`: what is read outside of the root's own elements is nothing.
Pulled pull_within(const NodeRef& root, const Shape& space, const std::vector<int64_t>& before);

/// How an access to memory can be expressed by an earlier one: neighbours in a stencil read one array at places that differ by constants.
struct Neighbour {
  int array;       // the first access of the same memory, dtype and coefficients; itself where it is that (or no memory)
  int near;        // an earlier access of that array (or itself) whose offset is at most kNear elements away
  int64_t offset;  // from `near`; where `near` is the access itself, from `array`
};
inline constexpr int64_t kNear = 64;
std::vector<Neighbour> neighbours(const Pulled& pulled);

/// Merges neighbouring axes of the space where every access (and every one of `results`) walks them as one, and drops axes of extent 1.
/// Axes in different classes (`axis_class[k]` != `axis_class[k+1]`) stay apart. Returns the class of each axis left.
std::vector<int> collapse(Pulled& pulled, std::vector<Access>& results, std::vector<int> axis_class);

}  // namespace gasell::plan
