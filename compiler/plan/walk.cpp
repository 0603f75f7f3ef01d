#include "compiler/plan/walk.h"

#include <algorithm>

#include "compiler/plan/plan.h"

namespace gasell::plan {

Walk walk_of(const Shape& space, const Access& access, int64_t elements) {
  const int64_t width = gasell::size_of(access.dtype);
  Walk walk{0, width};
  if (access.index >= 0) {
    (access.index_stride < 0 ? walk.begin : walk.end) += (access.source->size() - 1) * access.index_stride * width;
    return walk;
  }
  Shape extents;
  std::vector<int64_t> strides;
  for (size_t k = 0; k < space.size(); ++k) {
    if (space[k] <= 1) continue;
    extents.push_back(space[k]);
    strides.push_back(access.coefficients[k] * width);
    (strides.back() < 0 ? walk.begin : walk.end) += (space[k] - 1) * strides.back();
  }
  if (strides.empty()) {
    walk.dense = true;
    return walk;
  }
  bool linear = true;
  for (size_t k = 0; k + 1 < strides.size(); ++k) linear = linear && strides[k] == extents[k + 1] * strides[k + 1];
  walk.dense = linear && strides.back() == width;
  if (elements <= 0 || strides[0] <= 0 || std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s < 0; })) return walk;
  if (linear) {
    walk.step = static_cast<double>(elements * strides.back());
    return walk;
  }
  // A line through the outermost axis' steps, and how far the points lie off it at most.
  int64_t inner = 1, reach = width;
  for (size_t k = 1; k < extents.size(); ++k) {
    inner *= extents[k];
    reach += (extents[k] - 1) * strides[k];
  }
  walk.step = static_cast<double>(elements) / static_cast<double>(inner) * static_cast<double>(strides[0]);
  if (elements % inner == 0) {
    walk.after = std::max<int64_t>(0, reach - strides[0]);
  } else {
    walk.before = strides[0] + width;  // a width more for the rounding of the step
    walk.after = reach + width;
  }
  if (walk.before + walk.after > (walk.end - walk.begin) / 2) walk.step = 0, walk.before = 0, walk.after = 0;
  return walk;
}

Walk dense_walk(int64_t bytes, int64_t bytes_together) { return {0, bytes, static_cast<double>(bytes_together), 0, 0, true}; }

void describe_walks(Step& step, const Pulled& pulled, int64_t together, int64_t elements, const std::vector<Walk>& outputs) {
  step.together = together;
  const std::vector<Neighbour> near = neighbours(pulled);
  for (size_t a = 0; a < pulled.accesses.size(); ++a) {
    if (near[a].array != static_cast<int>(a) || !pulled.accesses[a].source->as<graph::BufferNode>()) continue;
    const Walk own = walk_of(pulled.space, pulled.accesses[a], elements);
    Walk all = own;
    for (size_t b = a + 1; b < pulled.accesses.size(); ++b) {
      if (near[b].array != static_cast<int>(a)) continue;
      const int64_t apart = (pulled.accesses[b].offset - pulled.accesses[a].offset) * gasell::size_of(pulled.accesses[a].dtype);
      all.begin = std::min(all.begin, own.begin + apart);
      all.end = std::max(all.end, own.end + apart);
      all.before = std::max(all.before, own.before - apart);
      all.after = std::max(all.after, own.after + apart);
      all.dense = false;
    }
    if (all.before + all.after > (all.end - all.begin) / 2) all.step = 0, all.before = 0, all.after = 0;
    step.walks.push_back(all);
  }
  step.walks.insert(step.walks.end(), outputs.begin(), outputs.end());
}

}  // namespace gasell::plan
