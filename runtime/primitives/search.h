// Looking for many values in a sorted vector.
#pragma once

#include <cstdint>

#include "lang/dtype.h"
#include "runtime/engine.h"

namespace gasell {

/// places[i]: how many of the `size` elements of `sorted` (in NumPy's order) are before values[i]; with `right` also those equal to it.
void search_sorted(Engine& engine, DType dtype, const void* sorted, int64_t size, const void* values, int64_t count, bool right,
                   int64_t* places);

}  // namespace gasell
