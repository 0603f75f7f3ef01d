// Natives of _frame: what operators on GPUs need to know of arrays before they run.
#include <algorithm>
#include <limits>

#include "runtime/gpu/gpu_device.h"
#include "stdlib/library.h"
#include "stdlib/numba/cuda.h"
#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

struct Bounds {
  int64_t low, high;
  bool within(const Bounds& other) const { return low >= other.low && high <= other.high; }
};

/// What a type of at most 32 bits holds.
std::optional<Bounds> bounds_of(DType dtype) {
  const int bits = 8 * size_of(dtype);
  if (dtype == DType::boolean) return Bounds{0, 1};
  if (bits > 32 || (kind(dtype) != 'i' && kind(dtype) != 'u')) return {};
  const bool has_sign = kind(dtype) == 'i';
  return Bounds{has_sign ? -(int64_t{1} << (bits - 1)) : 0, (int64_t{1} << (has_sign ? bits - 1 : bits)) - 1};
}

/// Between which integers the values of an expression lie, as far as its form says it: hours are below 24.
std::optional<Bounds> bounds_of(const NodeRef& node, int depth) {
  constexpr int kDeepest = 24;
  const std::optional<Bounds> of_type = bounds_of(node->dtype);
  if (depth > kDeepest) return of_type;
  const auto input = [&](size_t k) { return bounds_of(node->inputs[k], depth + 1); };
  if (const auto* constant = node->as<graph::ConstantNode>()) {
    if (!constant->value.is_integral() || kind(node->dtype) == 'u') return of_type;
    return Bounds{constant->value.i, constant->value.i};
  }
  if (node->as<graph::CastNode>()) {
    const std::optional<Bounds> from = input(0);
    if (!from || kind(node->dtype) == 'f') return of_type;
    const bool fits = of_type ? from->within(*of_type) : kind(node->dtype) == 'i';
    return fits ? from : of_type;
  }
  const auto* map = node->as<graph::MapNode>();
  if (!map || kind(node->dtype) != 'i') return of_type;
  const auto is_in_type = [&](const Bounds& b) { return of_type ? b.within(*of_type) : true; };
  switch (map->op) {
    case ScalarOp::mod: {
      const std::optional<Bounds> by = input(1);
      if (!by || by->low <= 0) return of_type;
      return Bounds{0, by->high - 1};
    }
    case ScalarOp::add:
    case ScalarOp::sub: {
      const std::optional<Bounds> a = input(0), b = input(1);
      constexpr int64_t kFar = int64_t{1} << 40;
      const Bounds near{-kFar, kFar};
      if (!a || !b || !a->within(near) || !b->within(near)) return of_type;
      const Bounds result =
          map->op == ScalarOp::add ? Bounds{a->low + b->low, a->high + b->high} : Bounds{a->low - b->high, a->high - b->low};
      return is_in_type(result) ? result : of_type;
    }
    case ScalarOp::select: {
      const std::optional<Bounds> a = input(1), b = input(2);
      if (!a || !b) return of_type;
      return Bounds{std::min(a->low, b->low), std::max(a->high, b->high)};
    }
    default: return of_type;
  }
}

/// bounds(array): (low, high) that an expression of integers is known to keep without being computed, or None.
Value bounds(Interpreter& in, Args args) {
  const std::optional<Bounds> found = bounds_of(numpy::as_array(in, args[0]).node(), 0);
  if (!found) return {};
  return make_tuple({Value::of(found->low), Value::of(found->high)});
}

/// portions(arrays, grain): [(GPU, first row, end)] for arrays of the same rows, each by itself: where their rows lie, or shall be taken
/// to.
Value portions(Interpreter& in, Args args) {
  std::vector<GpuDevice::Rows> rows;
  int64_t count = 0;
  std::vector<Array> arrays;
  for (const Value& v : to_vector(in, args[0])) arrays.push_back(numpy::as_array(in, v));
  std::vector<const Array*> settled;
  for (const Array& array : arrays) settled.push_back(&array);
  settle(in.engine(), settled, std::vector<bool>(arrays.size(), false));
  for (const Array& array : arrays) {
    count = array.shape().at(0);
    if (count == 0) continue;
    const Array::Place place = array.place();
    const int64_t width = size_of(array.dtype()), begin = place.offset * width;
    rows.push_back({place.storage, begin, place.strides.at(0) * width});
  }
  std::vector<Value> results;
  GpuDevice* const gpus = in.engine().chosen_gpus();
  if (!gpus || count == 0) {
    results.push_back(make_tuple({Value::of(int64_t{-1}), Value::of(int64_t{0}), Value::of(count)}));
  } else {
    for (const GpuDevice::Portion& p : gpus->portions(rows, count, to_index(in, args[1])))
      results.push_back(make_tuple({Value::of(int64_t{p.gpu}), Value::of(p.begin), Value::of(p.end)}));
  }
  return make_list(std::move(results));
}

/// later(count, make): so many int64, which make() gives when somebody wants them.
Value later(Interpreter& in, Args args) {
  const int64_t count = to_index(in, args[0]);
  const HostStorageRef memory = deferred(count * size_of(DType::i64), [&in, make = args[1]] {
    const Array made = numpy::as_array(in, call(in, make, Arguments()));
    const NodeRef node = in.engine().force(graph::cast(made.node(), DType::i64));
    return std::static_pointer_cast<HostStorage>(node->as<graph::BufferNode>()->storage);
  });
  return numpy::wrap_array(graph::buffer(memory, DType::i64, {count}, {1}, 0));
}

}  // namespace

std::vector<NativeFunction> gpu_functions() {
  return {
      {"bounds", "array", bounds, "Bounds of integers that need not be computed, or None."},
      {"portions", "arrays, grain", portions, "[(GPU, first row, end)]: where rows are used."},
      {"later", "count, make", later, "int64 that a function gives when they are wanted."},
      {"compile_ahead", "work", numba::compile_ahead, "work() without its launches: their kernels begin to be compiled."},
  };
}

}  // namespace gasell::pandas
