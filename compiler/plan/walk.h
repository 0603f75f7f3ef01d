// Which part of an array a part of a step's units uses: what lets a device run some units with some of the memory.
#pragma once

#include <cstdint>
#include <limits>

#include "compiler/plan/pull.h"

namespace gasell::plan {

struct Step;

/// Of one array of a step. Bytes count from the array's byte offset.
struct Walk {
  /// All that the step uses of it lies in [begin, end); beyond the memory's bounds where that is not known.
  int64_t begin = std::numeric_limits<int64_t>::min() / 4, end = std::numeric_limits<int64_t>::max() / 4;
  /// With Step::together = t, units [t * b, t * e) use nothing outside of [b * step - before, e * step + after). 0: any unit may use
  /// anything.
  double step = 0;
  int64_t before = 0, after = 0;
  /// Every byte of [begin, end) is written; with a step, those units write [b * step, e * step) and no other.
  bool dense = false;
};

/// Of an access whose units take `elements` consecutive points of `space` (C order) each `together`; 0: they take them in another order.
Walk walk_of(const Shape& space, const Access& access, int64_t elements);
/// Of an array that has `bytes` in all, and of which each `together` of units write `bytes_together` in order.
Walk dense_walk(int64_t bytes, int64_t bytes_together);

/// Fills in the walks of a step's arrays: the inputs are the pulled buffers in order (neighbours() of one array together), then come the
/// outputs, with `output` each.
void describe_walks(Step& step, const Pulled& pulled, int64_t together, int64_t elements, const std::vector<Walk>& outputs);

}  // namespace gasell::plan
