#include "runtime/array/chunk_sizes.h"

#include <algorithm>
#include <span>

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

/// What an array keeps of axis k, which is nothing where nothing was asked for.
const Extents& kept(const Array& array, size_t k) {
  static const Extents nothing;
  const Array::Chunks& chunks = array.requested_chunks();
  return k < chunks.size() ? chunks[k] : nothing;
}

/// One chunk an axis.
Array::Chunks whole_chunks(const graph::Shape& shape) {
  Array::Chunks chunks(shape.size());
  for (size_t k = 0; k < shape.size(); ++k) chunks[k].assign(1, std::max<int64_t>(shape[k], 1));
  return chunks;
}

/// The chunks of an axis one after the other, as chunk_extents() has them.
class Walk {
 public:
  Walk(const Extents& given, int64_t extent)
      : given_(given), left_(extent), even_(std::max<int64_t>(given.empty() ? extent : given[0], 1)) {}
  /// The next extent; behind the last chunk one that has no end.
  int64_t next() {
    constexpr int64_t kEndless = INT64_MAX / 4;
    if (given_.size() > 1) return at_ < given_.size() ? given_[at_++] : kEndless;
    const int64_t extent = std::min(even_, left_);
    left_ -= extent;
    return extent > 0 ? extent : kEndless;
  }

 private:
  const Extents& given_;
  size_t at_ = 0;
  int64_t left_, even_;
};

/// Of the elements start, start + step, … (`count` of them) of an axis.
Extents viewed(const Extents& given, int64_t extent, const graph::ViewAxis& axis, int64_t count) {
  if (is_whole(given, extent) || count == 0) return {std::max<int64_t>(count, 1)};
  if (given.size() == 1 && axis.step == 1 && axis.start % given[0] == 0) return given;
  Extents seen;
  seen.reserve(given.size() > 1 ? given.size() : static_cast<size_t>(std::min(extent / given[0] + 2, count)));
  int64_t end = 0, done = 0;
  const bool backwards = axis.step < 0;
  const int64_t step = std::abs(axis.step), first = backwards ? axis.start + (count - 1) * axis.step : axis.start;
  for (Walk chunks(given, extent); done < count;) {
    end += chunks.next();  // elements first, first + step, … below `end`
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
  Walk x(a, extent), y(b, extent);
  Extents both;
  both.reserve(std::max(a.size(), b.size()) + 2);
  for (int64_t at = 0, x_end = 0, y_end = 0; at < extent;) {
    while (x_end <= at) x_end += x.next();
    while (y_end <= at) y_end += y.next();
    const int64_t next = std::min(x_end, y_end);
    both.push_back(next - at);
    at = next;
  }
  return shortest(std::move(both), extent);
}

/// Chunks in pieces of at most `most` elements, nearly even within each.
Extents cut(const Extents& extents, int64_t most) {
  Extents pieces;
  for (const int64_t n : extents) {
    const int64_t count = std::max<int64_t>((n + most - 1) / most, 1);
    for (int64_t k = 0; k < count; ++k) pieces.push_back(n * (k + 1) / count - n * k / count);
  }
  return pieces;
}

int64_t product(std::span<const int64_t> extents) {
  int64_t n = 1;
  for (const int64_t extent : extents) n *= extent;
  return n;
}

/// Of several axes (their extents and chunks) as one.
Extents merged(std::span<const int64_t> extents, const std::vector<Extents>& chunks) {
  int64_t most = 1;
  for (const Extents& along : chunks) most *= *std::ranges::max_element(along);
  size_t pivot = 0;  // the axis that is cut: those before it in single elements, those after it whole
  while (pivot + 1 < extents.size() && product(extents.subspan(pivot + 1)) > most) ++pivot;
  const int64_t after = product(extents.subspan(pivot + 1));
  const Extents pieces = cut(chunks[pivot], std::max<int64_t>(most / after, 1));
  Extents result;
  for (int64_t k = 0; k < product(extents.first(pivot)); ++k)
    for (const int64_t n : pieces) result.push_back(n * after);
  return result;
}

/// Of one axis as several of these extents.
std::vector<Extents> divided(const Extents& chunks, std::span<const int64_t> extents) {
  const int64_t most = *std::ranges::max_element(chunks);
  std::vector<Extents> result;
  size_t k = 0;
  for (; k + 1 < extents.size() && product(extents.subspan(k + 1)) > most; ++k) result.push_back({1});
  for (bool first = true; k < extents.size(); ++k, first = false)
    result.push_back({first ? std::clamp<int64_t>(most / product(extents.subspan(k + 1)), 1, extents[k]) : extents[k]});
  return result;
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
  Array::Chunks chunks = whole_chunks(shape);
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].axis < 0 || axes[k].step == 0) continue;
    const auto to = static_cast<size_t>(axes[k].axis);
    chunks[to] = viewed(kept(whole, k), whole.shape()[k], axes[k], shape[to]);
  }
  return chunks;
}

Array::Chunks common_chunks(std::span<const Array* const> arrays, const graph::Shape& shape) {
  const auto first = std::ranges::find_if(arrays, [](const Array* a) { return !a->requested_chunks().empty(); });
  if (first == arrays.end()) return {};
  const bool starts = (*first)->shape() == shape;
  Array::Chunks chunks = starts ? (*first)->requested_chunks() : whole_chunks(shape);
  for (const Array* array : arrays) {
    if (array->requested_chunks().empty() || array->shape().size() > shape.size() || (starts && array == *first)) continue;
    const size_t extra = shape.size() - array->shape().size();
    for (size_t k = 0; k < array->shape().size(); ++k)
      if (const Extents& own = kept(*array, k); array->shape()[k] == shape[extra + k] && own != chunks[extra + k])
        chunks[extra + k] = common(chunks[extra + k], own, shape[extra + k]);
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

Array::Chunks reshaped_chunks(const Array& array, const graph::Shape& shape) {
  if (array.requested_chunks().empty() || array.size() == 0) return {};
  const graph::Shape& old = array.shape();
  Array::Chunks chunks;
  size_t i = 0, j = 0;
  while (i < old.size() || j < shape.size()) {
    // The fewest axes of both that hold the same elements.
    const size_t from = i, to = j;
    int64_t held = 1, made = 1;
    if (i < old.size()) held = old[i++];
    if (j < shape.size()) made = shape[j++];
    while (held != made) {
      if (held < made)
        held *= old[i++];
      else
        made *= shape[j++];
    }
    const std::span<const int64_t> before(old.data() + from, i - from), after(shape.data() + to, j - to);
    if (before.size() == 1 && after.size() == 1) {
      chunks.push_back(kept(array, from));
    } else if (before.empty()) {
      for (const int64_t extent : after) chunks.push_back({extent});
    } else if (after.size() == 1) {
      std::vector<Extents> along;
      for (size_t k = from; k < i; ++k) along.push_back(chunk_extents(array, k));
      chunks.push_back(shortest(merged(before, along), made));
    } else if (before.size() == 1 && !after.empty()) {
      for (Extents& extents : divided(chunk_extents(array, from), after)) chunks.push_back(std::move(extents));
    } else {
      for (const int64_t extent : after) chunks.push_back({extent});
    }
  }
  return chunks;
}

Array::Chunks product_chunks(const Array& a, const Array& b, const graph::Shape& shape) {
  if (a.requested_chunks().empty() && b.requested_chunks().empty()) return {};
  const size_t rows = a.shape().size() > 1 ? 1 : 0, columns = b.shape().size() > 1 ? 1 : 0;
  if (a.shape().empty() || b.shape().empty() || shape.size() < rows + columns) return {};
  Array::Chunks chunks;
  const size_t batch = shape.size() - rows - columns;
  for (size_t k = 0; k < batch; ++k) chunks.push_back({std::max<int64_t>(shape[k], 1)});
  for (const Array* array : {&a, &b}) {
    const size_t own = std::max<size_t>(array->shape().size(), 2) - 2;
    for (size_t k = 0; k < own; ++k)
      if (array->shape()[k] == shape[batch - own + k])
        chunks[batch - own + k] = common(chunks[batch - own + k], kept(*array, k), array->shape()[k]);
  }
  if (rows) chunks.push_back(kept(a, a.shape().size() - 2));
  if (columns) chunks.push_back(kept(b, b.shape().size() - 1));
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
