#include "runtime/functions/views.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace gasell::functions {
namespace {

using graph::Shape;

/// Finds for every axis of the result the axis of the base that it walks along, by trying.
struct Search {
  const Shape& extents;
  const std::vector<int64_t>& strides;
  const ElementLayout& wanted;
  std::vector<int> axis_of;           // one a wanted axis: the base's, or -1 for an axis that repeats or has one element
  std::vector<bool> taken;            // one a base axis
  std::vector<graph::ViewAxis> axes;  // one a base axis: the answer

  bool find(size_t k) {
    if (k == wanted.extents.size()) return place();
    axis_of[k] = -1;
    if (wanted.extents[k] == 1 || wanted.strides[k] == 0) return find(k + 1);
    for (size_t b = 0; b < extents.size(); ++b) {
      if (taken[b] || extents[b] < wanted.extents[k] || strides[b] == 0 || wanted.strides[k] % strides[b] != 0) continue;
      const int64_t step = wanted.strides[k] / strides[b];
      if (std::abs(step) * (wanted.extents[k] - 1) >= extents[b]) continue;
      taken[b] = true;
      axis_of[k] = static_cast<int>(b);
      if (find(k + 1)) return true;
      taken[b] = false;
      axis_of[k] = -1;
    }
    return false;
  }

  /// Whether the offset is one of starts within the extents; the longest strides take what they can first.
  bool place() {
    axes.assign(extents.size(), {-1, 0, 0});
    for (size_t k = 0; k < axis_of.size(); ++k)
      if (axis_of[k] >= 0) {
        const auto b = static_cast<size_t>(axis_of[k]);
        axes[b].axis = static_cast<int>(k);
        axes[b].step = wanted.strides[k] / strides[b];
      }
    std::vector<size_t> order(extents.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [this](size_t a, size_t b) { return std::abs(strides[a]) > std::abs(strides[b]); });
    return start(order, 0, wanted.offset);
  }

  bool start(const std::vector<size_t>& order, size_t at, int64_t rest) {
    if (at == order.size()) return rest == 0;
    const size_t b = order[at];
    const int64_t span = axes[b].axis < 0 ? 0 : axes[b].step * (wanted.extents[static_cast<size_t>(axes[b].axis)] - 1);
    const int64_t least = std::max<int64_t>(0, -span), most = extents[b] - 1 - std::max<int64_t>(0, span);
    if (strides[b] == 0) {
      axes[b].start = least;
      return least <= most && start(order, at + 1, rest);
    }
    // What is left for the shorter strides is less than this one, on either side.
    const int64_t near = rest / strides[b];
    for (const int64_t candidate : {near, near - 1, near + 1}) {
      if (candidate < least || candidate > most) continue;
      axes[b].start = candidate;
      if (start(order, at + 1, rest - candidate * strides[b])) return true;
    }
    return false;
  }
};

std::optional<Array> search(const Array& base, const std::vector<int64_t>& base_strides, const ElementLayout& layout, bool read_only) {
  Search s{base.shape(), base_strides, layout, std::vector<int>(layout.extents.size(), -1), std::vector<bool>(base.shape().size()), {}};
  if (!s.find(0)) return {};
  bool repeats = false;
  for (size_t k = 0; k < layout.extents.size(); ++k) repeats = repeats || (layout.extents[k] > 1 && layout.strides[k] == 0);
  return base.view(layout.extents, std::move(s.axes), read_only || repeats);
}

/// A run of elements as an array that a layout may be slices of: boxes of the longest stride, in them boxes of what it has in common with
/// the next, and so on. Strides (-6, 2) of 30 elements give the shape (5, 3, 2), strides (15, -4) of 60 the shape (4, 15). Elements beyond
/// the last whole box are left out.
std::optional<Array> in_boxes(const Array& flat, const ElementLayout& layout) {
  std::vector<int64_t> steps;
  for (size_t k = 0; k < layout.extents.size(); ++k)
    if (layout.extents[k] > 1 && layout.strides[k] != 0) steps.push_back(std::abs(layout.strides[k]));
  std::sort(steps.begin(), steps.end(), std::greater<>());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  if (steps.empty()) return flat;
  const int64_t boxes = flat.size() / steps[0];
  if (boxes == 0) return {};
  Shape shape{boxes};
  int64_t stride = steps[0];
  for (size_t k = 1; k < steps.size(); ++k) {
    const int64_t inner = std::gcd(stride, steps[k]);
    shape.push_back(stride / inner);
    stride = inner;
  }
  if (stride != 1) shape.push_back(stride);
  const int64_t used = boxes * steps[0];
  return (used == flat.size() ? flat : flat.view({used}, {{0, 0, 1}})).reshape(std::move(shape));
}

bool is_contiguous(const Shape& shape, const std::vector<int64_t>& strides) {
  const std::vector<int64_t> expected = graph::contiguous_strides(shape);
  for (size_t k = 0; k < shape.size(); ++k)
    if (shape[k] > 1 && strides[k] != expected[k]) return false;
  return true;
}

}  // namespace

std::optional<Array> view_of(const Array& base, const std::vector<int64_t>& base_strides, const ElementLayout& layout, bool read_only) {
  const int64_t size = graph::size_of(layout.extents);
  if (size == 0) return Array(graph::constant(Scalar::of_int(0).cast(base.dtype()), layout.extents));
  if (auto found = search(base, base_strides, layout, read_only)) return found;
  if (!is_contiguous(base.shape(), base_strides)) return {};
  // Reshaped: a run of the elements in order, then cut.
  const Array flat = base.reshape({base.size()});
  if (!is_contiguous(layout.extents, layout.strides)) {
    const std::optional<Array> boxes = in_boxes(flat, layout);
    return boxes ? search(*boxes, graph::contiguous_strides(boxes->shape()), layout, read_only) : std::nullopt;
  }
  if (layout.offset < 0 || layout.offset + size > base.size()) return {};
  return flat.view({size}, {{0, layout.offset, 1}}, read_only).reshape(layout.extents);
}

}  // namespace gasell::functions
