// Products of matrices by a GPU's library of linear algebra.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/plan/contraction.h"
#include "runtime/device/storage.h"
#include "runtime/gpu/gpu_device.h"

namespace gasell {
namespace {

using plan::Contraction;

/// The elements of one of the three arrays, as steps along the axes: from the first to behind the last.
struct Extent {
  int64_t begin = 0, end = 1;
  void take(int64_t extent, int64_t step) { (step < 0 ? begin : end) += step * (extent - 1); }
};
Extent extent_of(const Contraction& c, int64_t Contraction::Axis::* step) {
  Extent e;
  for (const Contraction::Axis* axis : {&c.rows, &c.columns, &c.summed}) e.take(axis->extent, axis->*step);
  for (const Contraction::Axis& axis : c.outer) e.take(axis.extent, axis.*step);
  return e;
}

/// Loops around a product: the one of the result's that is longest goes into one call, over the others calls go one by one; where the
/// result is not stepped on, they add.
struct Loops {
  Contraction::Axis stack;
  std::vector<Contraction::Axis> others;
};
Loops loops_of(const Contraction& c) {
  Loops loops;
  const Contraction::Axis* longest = nullptr;
  for (const Contraction::Axis& axis : c.outer)
    if (axis.result != 0 && (!longest || axis.extent > longest->extent)) longest = &axis;
  if (longest) loops.stack = *longest;
  for (const Contraction::Axis& axis : c.outer)
    if (&axis != longest) loops.others.push_back(axis);
  // What is added up walks fastest: the first of a result's calls writes it, those behind it add.
  std::stable_partition(loops.others.begin(), loops.others.end(), [](const Contraction::Axis& axis) { return axis.result != 0; });
  return loops;
}

bool give(Gpu& gpu, const Contraction& c, std::span<const GpuArray> arrays) {
  const Loops loops = loops_of(c);
  const int64_t width = size_of(c.dtype);
  GpuProduct product;
  product.dtype = c.dtype;
  product.rows = c.rows.extent, product.columns = c.columns.extent, product.summed = c.summed.extent;
  product.count = loops.stack.extent;
  product.left = {0, {c.rows.left, c.summed.left}, loops.stack.left};
  product.right = {0, {c.summed.right, c.columns.right}, loops.stack.right};
  product.result = {0, {c.rows.result, c.columns.result}, loops.stack.result};
  int64_t calls = 1;
  for (const Contraction::Axis& axis : loops.others) calls *= axis.extent;
  for (int64_t call = 0; call < calls; ++call) {
    int64_t left = 0, right = 0, result = 0, number = call;
    product.add = c.add;
    for (size_t k = loops.others.size(); k-- > 0;) {
      const Contraction::Axis& axis = loops.others[k];
      const int64_t i = number % axis.extent;
      number /= axis.extent;
      left += i * axis.left, right += i * axis.right, result += i * axis.result;
      if (axis.result == 0 && i > 0) product.add = true;
    }
    const auto at = [&](size_t k, int64_t elements) { return arrays[k].base + static_cast<GpuAddress>(elements * width); };
    product.left.data = at(0, left), product.right.data = at(1, right), product.result.data = at(2, result);
    if (!gpu.multiply(product)) return false;
  }
  return true;
}

}  // namespace

bool GpuDevice::contract(const Contraction& c, std::span<const StorageRef> storages, std::span<const int64_t> byte_offsets) {
  const int64_t width = size_of(c.dtype);
  std::vector<GridLaunch::Piece> arrays;
  constexpr int64_t Contraction::Axis::* kSteps[] = {&Contraction::Axis::left, &Contraction::Axis::right, &Contraction::Axis::result};
  for (size_t k = 0; k < 3; ++k) {
    const Extent elements = extent_of(c, kSteps[k]);
    arrays.push_back({static_cast<HostStorage*>(storages[k].get()), byte_offsets[k], byte_offsets[k] + elements.begin * width,
                      byte_offsets[k] + elements.end * width, k == 2});
  }
  return call_library(std::move(arrays),
                      [&](Gpu& gpu, std::span<const GpuArray> bound, const GpuWorkSpace&) { return give(gpu, c, bound); });
}

}  // namespace gasell
