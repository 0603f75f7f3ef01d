// The k-th elements of an order without the order: medians, quantiles, partitions.
#pragma once

#include <cstdint>
#include <span>

#include "lang/dtype.h"
#include "runtime/engine.h"

namespace gasell {

/// to[i]: what stands at places[i] of sort(from); the places rise and are in [0, count). One pass over the elements of long vectors: those
/// between brackets of a sample around each place are kept and sorted, the others counted (Floyd and Rivest, 1975).
void select(Engine& engine, DType dtype, const void* from, int64_t count, std::span<const int64_t> places, void* to);

/// The same by the calling core alone, without memory of the budget.
void select_alone(DType dtype, const void* from, int64_t count, std::span<const int64_t> places, void* to);

}  // namespace gasell
