// chunks= and .chunks as Dask spells them. They change no result: the engine cuts its work by its own measure.
#pragma once

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// The bytes of a block along axes that are "auto".
constexpr int64_t kAutoBytes = int64_t{128} << 20;

/// A chunks argument: an extent for every axis, or a tuple with one entry an axis (an extent, a tuple of extents, -1 or None for the whole
/// axis), a dict of entries by axis, "auto", or a size in bytes ("64MiB"). `missing_axes`: what an axis gets that a dict or None leaves
/// out. ValueErrors as Dask words them.
Array::Chunks to_chunks(Interpreter& in, const Value& v, const Array& array, const Array::Chunks& missing_axes = {},
                        int64_t auto_bytes = kAutoBytes);
/// Sets them where the argument is given.
void request_chunks(Interpreter& in, Array& array, const Value& chunks);
/// A tuple of extents an axis.
Value chunks_value(const Array& array);

/// A result with the chunks that it takes over from the arrays it was made of: none where there are none.
Value with_chunks(Value result, Array::Chunks chunks);
/// The result of an elementwise function of values, of values put behind each other along an axis, and along a new one.
Value with_common_chunks(Value result, std::span<const Value> operands);
Value with_joined_chunks(Value result, std::span<const Value> parts, int axis);
Value with_stacked_chunks(Value result, std::span<const Value> parts, int axis);
/// The product of matrices a and b.
Value with_product_chunks(Value result, const Value& a, const Value& b);

/// ValueError for what is no scheduler of Dask's. Which one it is changes no result.
void check_scheduler(Interpreter& in, const Value& scheduler);
/// The parameters of compute and persist, of which the first is the scheduler.
constexpr const char* kHowToCompute =
    "*, scheduler=None, num_workers: Unused=None, optimize_graph: Unused=True, traverse: Unused=True, pool: Unused=None, "
    "rerun_exceptions_locally: Unused=None";

/// Evaluates the arrays and NumPy scalars among some values in one plan: what they share is computed once.
void compute_together(Interpreter& in, std::span<const Value> values);

}  // namespace gasell::numpy
