#include "compiler/plan/reduction_order.h"

#include <algorithm>
#include <cstdlib>

namespace gasell::plan {
namespace {

using graph::Node;
using graph::Shape;

constexpr int64_t kShortReduction = 32;  // fewer elements an output than this go by columns
constexpr int64_t kLeastColumns = 32;    // that are worth it where the elements of an output lie far apart

bool is_among(const std::vector<int>& axes, size_t axis) { return std::binary_search(axes.begin(), axes.end(), static_cast<int>(axis)); }

/// Steps along an axis of an array; without steps (0) the array is the same all along.
struct Direction {
  int axis;
  int64_t step;
};

bool goes_farther(const Node& x, const std::vector<int64_t>& strides, Direction a, Direction b) {
  const auto along = [&](Direction d) {
    return d.step == 0 || x.shape[static_cast<size_t>(d.axis)] == 1 ? 0 : std::abs(strides[static_cast<size_t>(d.axis)] * d.step);
  };
  return along(b) != 0 && along(a) > along(b);
}

/// Whether a kernel walks memory behind `x` in shorter steps towards `last` than towards `kept`, wherever a plan stores something on the
/// way. False: perhaps not.
bool lies_in_rows(const Node& x, Direction kept, Direction last, int depth = 0) {
  constexpr int kDeepest = 5;
  if (const auto* buffer = x.as<graph::BufferNode>()) return goes_farther(x, buffer->strides, kept, last);
  if (depth == kDeepest) return false;
  if (const auto* view = x.as<graph::ViewNode>()) {
    const auto below = [view](Direction d) {
      Direction found{0, 0};
      for (size_t k = 0; k < view->axes.size(); ++k)
        if (view->axes[k].axis == d.axis) found = {static_cast<int>(k), view->axes[k].step * d.step};
      return found;
    };
    return lies_in_rows(*x.inputs[0], below(kept), below(last), depth + 1);
  }
  if (!goes_farther(x, graph::contiguous_strides(x.shape), kept, last)) return false;
  if (x.as<graph::ReduceNode>() || x.as<graph::ConcatenateNode>()) return true;  // they are stored
  if (!x.as<graph::MapNode>() && !x.as<graph::CastNode>()) return false;
  return std::any_of(x.inputs.begin(), x.inputs.end(),
                     [&](const graph::NodeRef& input) { return lies_in_rows(*input, kept, last, depth + 1); });
}

}  // namespace

InnermostAxes innermost_axes(const Shape& space, const std::vector<int>& reduced) {
  InnermostAxes axes;
  for (size_t k = 0; k < space.size(); ++k) {
    if (space[k] <= 1) continue;
    axes.any = static_cast<int>(k);
    if (!is_among(reduced, k)) axes.kept = axes.any;
  }
  return axes;
}

std::optional<bool> reduces_by_columns(const Shape& space, const std::vector<int>& reduced) {
  const InnermostAxes axes = innermost_axes(space, reduced);
  if (axes.kept < 0) return false;
  int64_t count = 1;
  for (const int axis : reduced) count *= space[static_cast<size_t>(axis)];
  if (axes.any == axes.kept || count <= kShortReduction) return true;
  if (space[static_cast<size_t>(axes.kept)] < kLeastColumns) return false;
  return {};
}

std::optional<bool> reduces_by_columns(const Node& x, const std::vector<int>& reduced) {
  if (const std::optional<bool> by_shape = reduces_by_columns(x.shape, reduced)) return by_shape;
  const InnermostAxes innermost = innermost_axes(x.shape, reduced);
  if (lies_in_rows(x, {innermost.kept, 1}, {innermost.any, 1})) return false;
  return {};
}

}  // namespace gasell::plan
