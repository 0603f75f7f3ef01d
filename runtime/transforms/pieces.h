// Boxes that an array's vectors along an axis are divided into.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/node.h"

namespace gasell::transforms {

class Pieces {
 public:
  /// About `wanted` of them, cut along the slowest axes of `steps` first, and along the fastest in whole lines of the cache.
  Pieces(const graph::Shape& shape, const std::vector<int64_t>& steps, int axis, int64_t wanted);
  int64_t count() const { return count_; }
  struct Box {
    graph::Shape first, shape;  // without regard to the axis: all of it
  };
  Box box(int64_t piece) const;

 private:
  graph::Shape shape_;
  std::vector<int64_t> extents_;  // of a box
  int64_t count_ = 1;
};

}  // namespace gasell::transforms
