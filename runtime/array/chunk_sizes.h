// What becomes of chunks= along the axes of results: of views, of elementwise functions, of reductions, as Dask has it.
#pragma once

#include <span>

#include "runtime/array/array.h"

namespace gasell {

/// The extents of the chunks of an axis, of which `given` is what an array keeps (Array::Chunks): one even extent, or all of them.
std::vector<int64_t> chunk_extents(const std::vector<int64_t>& given, int64_t extent);
/// The same of axis k, which is one chunk where nothing was asked for.
std::vector<int64_t> chunk_extents(const Array& array, size_t k);

/// Of a view with axes (one an axis of the whole) and this shape. Chunks of which nothing is seen are left out.
Array::Chunks viewed_chunks(const Array& whole, const Array::Axes& axes, const graph::Shape& shape);

/// Of arrays that are broadcast to a shape: along each axis the boundaries of all of them.
Array::Chunks common_chunks(std::span<const Array* const> arrays, const graph::Shape& shape);

/// Of arrays put behind each other along an axis, whose other extents are the same.
Array::Chunks joined_chunks(std::span<const Array* const> arrays, size_t axis);

/// Without an axis; `keep`: with one element along it.
Array::Chunks reduced_chunks(const Array& array, std::span<const int> axes, bool keep);

/// Of the same elements in another shape: axes that are taken over keep theirs; where axes are merged, or one is split, chunks hold as many
/// elements as before at most. One chunk along other axes.
Array::Chunks reshaped_chunks(const Array& array, const graph::Shape& shape);

/// Of a product of matrices, whose last axes are the rows of a and the columns of b; those before are broadcast.
Array::Chunks product_chunks(const Array& a, const Array& b, const graph::Shape& shape);

}  // namespace gasell
