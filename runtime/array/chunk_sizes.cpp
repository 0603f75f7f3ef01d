#include "runtime/array/chunk_sizes.h"

#include <algorithm>

namespace gasell {
namespace {

using Extents = std::vector<int64_t>;

/// One even extent where that says it, so that many chunks take no room.
Extents shortest(Extents extents, int64_t extent) {
  if (extents.empty()) return {std::max<int64_t>(extent, 1)};
  const int64_t first = extents.front();
  const bool even = std::all_of(extents.begin(), extents.end() - 1, [&](int64_t n) { return n == first; }) && extents.back() <= first;
  return even && first > 0 ? Extents{first} : extents;
}

bool is_whole(const Extents& given, int64_t extent) { return given.size() <= 1 && (given.empty() || given[0] >= extent); }

Extents kept(const Array& array, size_t k) {
  const Array::Chunks& chunks = array.requested_chunks();
  return k < chunks.size() ? chunks[k] : Extents{std::max<int64_t>(array.shape()[k], 1)};
}

/// Of the elements start, start + step, … (`count` of them) of an axis.
Extents viewed(const Extents& given, int64_t extent, const graph::ViewAxis& axis, int64_t count) {
  if (is_whole(given, extent) || count == 0) return {std::max<int64_t>(count, 1)};
  if (given.size() == 1 && axis.step == 1 && axis.start % given[0] == 0) return given;
  Extents seen;
  int64_t end = 0, done = 0;
  const bool backwards = axis.step < 0;
  const int64_t step = std::abs(axis.step), first = backwards ? axis.start + (count - 1) * axis.step : axis.start;
  for (const int64_t n : chunk_extents(given, extent)) {
    end += n;  // elements first, first + step, … below `end`
    const int64_t until = std::clamp<int64_t>(end <= first ? 0 : (end - first - 1) / step + 1, 0, count);
    if (until > done) seen.push_back(until - done);
    done = std::max(done, until);
  }
  if (backwards) std::reverse(seen.begin(), seen.end());
  return shortest(std::move(seen), count);
}

/// The boundaries of both.
Extents common(const Extents& a, const Extents& b, int64_t extent) {
  if (a == b || is_whole(b, extent)) return a;
  if (is_whole(a, extent)) return b;
  const Extents x = chunk_extents(a, extent), y = chunk_extents(b, extent);
  Extents both;
  int64_t at = 0, x_end = 0, y_end = 0;
  for (size_t i = 0, j = 0; at < extent;) {
    while (x_end <= at && i < x.size()) x_end += x[i++];
    while (y_end <= at && j < y.size()) y_end += y[j++];
    const int64_t next = std::min(x_end, y_end);
    both.push_back(next - at);
    at = next;
  }
  return shortest(std::move(both), extent);
}

}  // namespace

Extents chunk_extents(const Extents& given, int64_t extent) {
  if (given.size() > 1) return given;
  if (extent == 0) return {0};
  const int64_t even = given.empty() ? extent : std::max<int64_t>(given[0], 1);
  Extents extents(static_cast<size_t>(extent / even), even);
  if (extent % even) extents.push_back(extent % even);
  return extents;
}

Extents chunk_extents(const Array& array, size_t k) { return chunk_extents(kept(array, k), array.shape()[k]); }

Array::Chunks viewed_chunks(const Array& whole, const Array::Axes& axes, const graph::Shape& shape) {
  if (whole.requested_chunks().empty()) return {};
  Array::Chunks chunks;
  for (const int64_t extent : shape) chunks.push_back({std::max<int64_t>(extent, 1)});
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].axis < 0 || axes[k].step == 0) continue;
    const auto to = static_cast<size_t>(axes[k].axis);
    chunks[to] = viewed(kept(whole, k), whole.shape()[k], axes[k], shape[to]);
  }
  return chunks;
}

Array::Chunks common_chunks(std::span<const Array* const> arrays, const graph::Shape& shape) {
  if (std::ranges::all_of(arrays, [](const Array* a) { return a->requested_chunks().empty(); })) return {};
  Array::Chunks chunks;
  for (const int64_t extent : shape) chunks.push_back({std::max<int64_t>(extent, 1)});
  for (const Array* array : arrays) {
    if (array->shape().size() > shape.size()) continue;
    const size_t extra = shape.size() - array->shape().size();
    for (size_t k = 0; k < array->shape().size(); ++k)
      if (array->shape()[k] == shape[extra + k]) chunks[extra + k] = common(chunks[extra + k], kept(*array, k), shape[extra + k]);
  }
  return chunks;
}

Array::Chunks joined_chunks(std::span<const Array* const> arrays, size_t axis) {
  if (std::ranges::all_of(arrays, [](const Array* a) { return a->requested_chunks().empty(); })) return {};
  Array::Chunks chunks = common_chunks(arrays, arrays[0]->shape());
  Extents along;
  int64_t total = 0;
  for (const Array* array : arrays) {
    const Extents own = chunk_extents(*array, axis);
    if (array->shape()[axis] > 0) along.insert(along.end(), own.begin(), own.end());
    total += array->shape()[axis];
  }
  chunks[axis] = shortest(std::move(along), total);
  return chunks;
}

Array::Chunks reduced_chunks(const Array& array, std::span<const int> axes, bool keep) {
  Array::Chunks chunks;
  if (array.requested_chunks().empty()) return chunks;
  for (size_t k = 0; k < array.shape().size(); ++k) {
    const bool gone = std::ranges::find(axes, static_cast<int>(k)) != axes.end();
    if (!gone)
      chunks.push_back(kept(array, k));
    else if (keep)
      chunks.push_back({1});
  }
  return chunks;
}

}  // namespace gasell
