#include "runtime/transforms/pieces.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace gasell::transforms {

Pieces::Pieces(const graph::Shape& shape, const std::vector<int64_t>& steps, int axis, int64_t wanted) : shape_(shape), extents_(shape) {
  std::vector<size_t> order;
  for (size_t k = 0; k < shape.size(); ++k)
    if (static_cast<int>(k) != axis) order.push_back(k);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return std::abs(steps[a]) > std::abs(steps[b]); });
  constexpr int64_t kTogether = 32;  // neighbours that share lines of the cache, and are transformed side by side
  for (const size_t k : order) {
    const bool fastest = k == order.back();
    const int64_t unit = fastest ? std::min(kTogether, shape[k]) : 1, units = (shape[k] + unit - 1) / std::max<int64_t>(unit, 1);
    const int64_t parts = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(units, 1));
    extents_[k] = (units + parts - 1) / parts * unit;
    const int64_t made = extents_[k] > 0 ? (shape[k] + extents_[k] - 1) / extents_[k] : 1;
    count_ *= made;
    wanted = (wanted + made - 1) / made;
  }
}

Pieces::Box Pieces::box(int64_t piece) const {
  Box box{graph::Shape(shape_.size(), 0), shape_};
  for (size_t k = shape_.size(); k-- > 0;) {
    if (extents_[k] >= shape_[k]) continue;
    const int64_t parts = (shape_[k] + extents_[k] - 1) / extents_[k];
    box.first[k] = piece % parts * extents_[k];
    box.shape[k] = std::min(extents_[k], shape_[k] - box.first[k]);
    piece /= parts;
  }
  return box;
}

}  // namespace gasell::transforms
