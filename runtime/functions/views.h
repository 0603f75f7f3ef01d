// An array that a compiled function returned, as a view of one that it was given.
#pragma once

#include <optional>
#include <vector>

#include "runtime/array/array.h"

namespace gasell::functions {

/// Where elements lie: element (i0, i1, …) at offset + Σ i_k * strides[k] from the first element of the array it is a view of. In elements.
struct ElementLayout {
  int64_t offset = 0;
  std::vector<int64_t> extents, strides;
};

/// The view of `base`, whose elements lie with `base_strides`, that has this layout: slices, transpositions, new axes, and reshapes of
/// contiguous arrays. nullopt: no such view exists. `read_only`: the view is.
std::optional<Array> view_of(const Array& base, const std::vector<int64_t>& base_strides, const ElementLayout& layout,
                             bool read_only = false);

}  // namespace gasell::functions
