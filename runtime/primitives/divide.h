// Dividing vectors by a few of their elements.
#pragma once

#include <cstdint>
#include <span>

#include "lang/dtype.h"
#include "runtime/engine.h"

namespace gasell {

/// What stands at `places`, which rise, of the `count` elements of `from` once these are in NumPy's order. `alone`: by the calling core,
/// and memory that is not the budget's.
void select(Engine& engine, DType dtype, const void* from, int64_t count, std::span<const int64_t> places, bool alone, void* found);

/// `to`: the elements of `from`, which is another memory, first those before the first of the pivots, then those equal to it, then those
/// between it and the second, and so on; of each kind in their own order. The pivots are in NumPy's order.
void divide(Engine& engine, DType dtype, const void* from, int64_t count, const void* pivots, int64_t pivot_count, bool alone, void* to);

/// The places of the elements in that order.
void divide_places(Engine& engine, DType dtype, const void* from, int64_t count, const void* pivots, int64_t pivot_count, bool alone,
                   int64_t* to);

}  // namespace gasell
