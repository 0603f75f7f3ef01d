// Selecting from long vectors that may be expressions.
#pragma once

#include <span>

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// to[i]: what stands at places[i] of the sorted vector x; the places rise. The vector is read once, or computed, and not stored. False
/// where it is short, its type small or complex, or a sample does not lead to the places (Floyd and Rivest, "Expected time bounds for
/// selection", 1975): the caller sorts it then.
bool select_from_long(Interpreter& in, const NodeRef& x, std::span<const int64_t> places, void* to);

/// to[i]: element begin + i of the sorted vector x, or with `by_places` (i64) of the places that sort it stably. As above, read once; false
/// where it is not worth it, or the sample does not lead there.
bool part_of_sorted(Interpreter& in, const NodeRef& x, int64_t begin, int64_t end, bool by_places, void* to);
/// Whether x is long enough and of a type for that.
bool has_sorted_parts(const NodeRef& x);

}  // namespace gasell::numpy
