#include "stdlib/numpy/nested.h"

#include <string>

#include "stdlib/numpy/methods.h"

namespace gasell::numpy {

void NestedShape::ragged(size_t depth) const {
  const Shape found(shape_.begin(), shape_.begin() + static_cast<std::ptrdiff_t>(depth));
  raise("ValueError", "setting an array element with a sequence. The requested array has an inhomogeneous shape after " +
                          std::to_string(depth) + " dimensions. The detected shape was " + str(in_, from_shape(found)) +
                          " + inhomogeneous part.");
}

void NestedShape::extent(size_t depth, int64_t n) {
  if (shape_.size() <= depth) {
    if (complete_) ragged(depth);
    shape_.push_back(n);
  } else if (shape_[depth] != n) {
    ragged(depth);
  }
}

void NestedShape::end(size_t depth) {
  if (shape_.size() != depth) ragged(depth);
  complete_ = true;
}

}  // namespace gasell::numpy
