// Stable sorting of numbered rows by unsigned keys.
#pragma once

#include <cstdint>

#include "runtime/primitives/scratch.h"

namespace gasell {

/// Sorts keys[0, count), and rows with them; rows of equal keys keep their order. A first pass on all cores divides by the highest bits
/// that differ; what is left of each bucket is sorted from the lowest bits up while it is in a core's cache.
void sort_by_keys(Engine& engine, Scratch<uint64_t>& keys, Scratch<uint32_t>& rows, int64_t count);

/// The same by the calling core, by way of memory of the same length.
void sort_by_keys_alone(uint64_t* keys, uint32_t* rows, uint64_t* spare_keys, uint32_t* spare_rows, int64_t count);

}  // namespace gasell
