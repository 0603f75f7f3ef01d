// Fourier, cosine and sine transforms of the vectors along one axis, on the host's cores.
#pragma once

#include <vector>

#include "compiler/graph/node.h"
#include "runtime/transforms/lanes.h"
#include "runtime/transforms/sharing.h"

namespace gasell::transforms {

struct Transform {
  Kind kind;
  bool single;  // float, else double
  bool forward = true;
  double factor = 1;
  int type = 0;             // of cosine and sine transforms: 1 to 4
  bool orthogonal = false;  // of these
};

/// An array in memory: steps in elements.
template <class Data>
struct Strided {
  Data* data;
  graph::Shape shape;
  std::vector<int64_t> steps;
};

/// The vectors of `in` along `axis` into those of `out`, which may be `in` itself. Many vectors are shared among the cores; few long ones
/// are cut, so that all cores work on each: a vector of n = a b elements is a × b of them, of which the columns are transformed, turned
/// by roots of unity, and then the rows (Bailey, "FFTs in external or hierarchical memory", 1990); where n has no such factors, it
/// becomes a convolution of a length that has (Bluestein, 1970). Throws Interrupted, MemoryError, and RuntimeError without a library.
void transform(const Cores& cores, const Transform& transform, const Strided<const void>& in, const Strided<void>& out, int axis);

}  // namespace gasell::transforms
