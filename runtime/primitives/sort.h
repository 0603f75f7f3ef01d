// Sorting of vectors of elements, on all cores where they are long. Which core did what changes no bit of a result.
#pragma once

#include <cstdint>

#include "lang/dtype.h"
#include "runtime/engine.h"

namespace gasell {

/// `to`: the `count` elements of `from`, which is another memory, in NumPy's order; equal ones (signs of zeros, NaN of different bits) stay
/// in theirs. Numbers are sorted by Highway's vectorised quicksort (Wassenberg, Blacher, Giesen and Sanders, 2022) in buckets between
/// splitters of a sample (Frazer and McKellar, 1970); bytes by counting them.
void sort(Engine& engine, DType dtype, const void* from, void* to, int64_t count);

/// The places of the elements in that order; equal ones in their own.
void argsort(Engine& engine, DType dtype, const void* from, int64_t* order, int64_t count);

/// The same by the calling core alone, without memory of the budget: the elements in place, and their places.
void sort_alone(DType dtype, void* elements, int64_t count);
void argsort_alone(DType dtype, const void* from, int64_t* order, int64_t count);

}  // namespace gasell
