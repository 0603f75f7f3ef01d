// Fourier transforms by a GPU's library: how an array and its axes become calls.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/device/storage.h"
#include "runtime/gpu/gpu_device.h"

namespace gasell {
namespace {

using Kind = GpuTransform::Kind;

// What must be done in more calls than this is copied first.
constexpr int64_t kMostCalls = 64;

/// An axis that is not transformed: over its elements go the stack of a call, or calls.
struct Loop {
  int64_t extent, from, to;
};

/// The axes but those that are transformed, outer ones first; neighbours that move on as one are one.
std::vector<Loop> loops_of(const std::vector<int64_t>& shape, const std::vector<int>& axes, const std::vector<int64_t>& from,
                           const std::vector<int64_t>& to) {
  std::vector<Loop> loops;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1 || std::find(axes.begin(), axes.end(), static_cast<int>(k)) != axes.end()) continue;
    if (!loops.empty() && loops.back().from == from[k] * shape[k] && loops.back().to == to[k] * shape[k])
      loops.back() = {loops.back().extent * shape[k], from[k], to[k]};
    else
      loops.push_back({shape[k], from[k], to[k]});
  }
  return loops;
}

/// The transform of the first call, and the loops that others go over; nothing where the library does not take the steps.
struct Calls {
  GpuTransform first;
  std::vector<Loop> loops;
  int64_t count = 1;
};
std::optional<Calls> calls_of(Kind kind, bool single, const std::vector<int64_t>& shape, std::vector<int> axes,
                              const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  Calls calls;
  GpuTransform& t = calls.first;
  t.kind = kind;
  t.single = single;
  t.rank = static_cast<int>(axes.size());
  if (axes.empty() || axes.size() > t.extents.size()) return std::nullopt;
  // Halves lie along the last axis that is given, which must be the innermost one.
  const int halved = axes.back();
  std::sort(axes.begin(), axes.end());
  const bool to_half = kind == Kind::real_to_complex, from_half = kind == Kind::complex_to_real;
  if ((to_half || from_half) && halved != axes.back()) return std::nullopt;
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto axis = static_cast<size_t>(axes[k]);
    t.extents[k] = shape[axis];
    t.from.steps[k] = from[axis], t.to.steps[k] = to[axis];
    if (t.from.steps[k] < 1 || t.to.steps[k] < 1) return std::nullopt;
    if (k == 0) continue;
    if (axes[k] == axes[k - 1]) return std::nullopt;
    const auto nested = [&](const GpuTransform::Side& side, int64_t extent) {
      return side.steps[k - 1] % side.steps[k] == 0 && side.steps[k - 1] >= extent * side.steps[k];
    };
    const int64_t half = k + 1 == axes.size() ? t.extents[k] / 2 + 1 : t.extents[k];
    if (!nested(t.from, from_half ? half : t.extents[k]) || !nested(t.to, to_half ? half : t.extents[k])) return std::nullopt;
  }
  calls.loops = loops_of(shape, axes, from, to);
  // Back to real numbers the library may use up all that lies between a call's elements: those of other calls must not lie there, so the
  // stack is of the nearest ones, and calls that others would still lie between are none. Nor are calls whose results begin in the middle
  // of what would be a complex number: the library's real sides lie as complex ones do.
  const auto stacked = std::max_element(calls.loops.begin(), calls.loops.end(),
                                        [&](const Loop& a, const Loop& b) { return from_half ? a.from > b.from : a.extent < b.extent; });
  if (stacked != calls.loops.end() && stacked->from > 0 && stacked->to > 0) {
    t.count = stacked->extent, t.from.stack = stacked->from, t.to.stack = stacked->to;
    calls.loops.erase(stacked);
  }
  if (from_half) {
    int64_t reach = 1 + (t.count - 1) * t.from.stack;
    for (size_t k = 0; k < axes.size(); ++k) reach += (k + 1 == axes.size() ? t.extents[k] / 2 : t.extents[k] - 1) * t.from.steps[k];
    for (const Loop& loop : calls.loops)
      if (std::abs(loop.from) < reach || loop.to % 2 != 0) return std::nullopt;
  }
  for (const Loop& loop : calls.loops) calls.count *= loop.extent;
  if (calls.count > kMostCalls) return std::nullopt;
  return calls;
}

/// The bytes that an array's elements take: `shape` as this side has it.
GpuDevice::GridLaunch::Piece piece_of(const GpuDevice::Placed& side, const std::vector<int64_t>& shape, int64_t width, bool written) {
  int64_t first = side.offset, last = side.offset;
  for (size_t k = 0; k < shape.size(); ++k) (side.steps[k] < 0 ? first : last) += (shape[k] - 1) * side.steps[k];
  return {side.storage, side.offset * width, first * width, (last + 1) * width, written};
}

}  // namespace

bool GpuDevice::transform(Kind kind, bool single, const std::vector<int64_t>& shape, const std::vector<int>& axes, const Placed& from,
                          const Placed& to) {
  const std::optional<Calls> calls = calls_of(kind, single, shape, axes, from.steps, to.steps);
  if (!calls) return false;
  std::vector<int64_t> half = shape;
  int64_t& extent = half[static_cast<size_t>(axes.back())];
  extent = extent / 2 + 1;
  const int64_t number = single ? 4 : 8;
  const bool to_half = kind == Kind::real_to_complex, from_half = kind == Kind::complex_to_real;
  const int64_t from_width = to_half ? number : 2 * number, to_width = from_half ? number : 2 * number;
  return call_library(
      {piece_of(from, from_half ? half : shape, from_width, from_half), piece_of(to, to_half ? half : shape, to_width, true)},
      [&](Gpu& gpu, std::span<const GpuArray> arrays, const GpuWorkSpace& space) {
        // The calls come one after the other and are of one size: the first one's work space serves all.
        GpuAddress kept = 0;
        const GpuWorkSpace kept_space = [&](int64_t bytes) {
          if (!kept) kept = space(bytes);
          return kept;
        };
        for (int64_t call = 0; call < calls->count; ++call) {
          int64_t at_from = 0, at_to = 0, number_left = call;
          for (size_t k = calls->loops.size(); k-- > 0;) {
            const Loop& loop = calls->loops[k];
            at_from += number_left % loop.extent * loop.from, at_to += number_left % loop.extent * loop.to;
            number_left /= loop.extent;
          }
          GpuTransform t = calls->first;
          t.from.data = arrays[0].base + static_cast<GpuAddress>(at_from * from_width);
          t.to.data = arrays[1].base + static_cast<GpuAddress>(at_to * to_width);
          if (!gpu.transform(t, kept_space)) return false;
        }
        return true;
      });
}

}  // namespace gasell
