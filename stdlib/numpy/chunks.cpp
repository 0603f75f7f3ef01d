#include "stdlib/numpy/chunks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "runtime/array/chunk_sizes.h"
#include "runtime/device/parse_bytes.h"
#include "runtime/engine.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/str.h"
#include "runtime/session/types.h"

namespace gasell::numpy {
namespace {

using Chunks = Array::Chunks;

std::string shown_shape(Interpreter& in, const Array& array) { return repr(in, from_shape(array.shape())); }

/// Whole rows, as many as the bytes hold; where one row is too long, parts of it.
Chunks within_bytes(const Array& array, int64_t bytes) {
  Chunks chunks(array.shape().size());
  int64_t room = std::max<int64_t>(bytes / gasell::size_of(array.dtype()), 1);
  for (size_t k = chunks.size(); k-- > 0;) {
    const int64_t extent = std::max<int64_t>(array.shape()[k], 1);
    chunks[k] = {std::min(extent, room)};
    room = std::max<int64_t>(room / extent, 1);
  }
  return chunks;
}

/// The chunks of one axis.
std::vector<int64_t> of_axis(Interpreter& in, const Value& v, const Value& whole_argument, const Array& array, size_t axis,
                             const Chunks& missing_axes, int64_t auto_bytes) {
  const int64_t extent = array.shape()[axis];
  if (v.is_none()) return axis < missing_axes.size() ? missing_axes[axis] : std::vector<int64_t>{std::max<int64_t>(extent, 1)};
  if (const auto* text = v.as<Str>(); text && text->value == "auto") {
    // With the other axes whole.
    const int64_t bytes = std::max<int64_t>(graph::bytes_of(array.shape(), array.dtype()) / std::max<int64_t>(extent, 1), 1);
    return {std::clamp<int64_t>(auto_bytes / bytes, 1, std::max<int64_t>(extent, 1))};
  }
  if (v.as<Str>()) return to_chunks(in, v, array)[axis];
  if (v.as<Tuple>() || v.as<List>()) {
    std::vector<int64_t> extents = to_shape(in, v);
    for (int64_t n : extents) {
      if (n < 0) raise("ValueError", "chunks cannot be negative, got " + repr(in, whole_argument));
    }
    if (std::accumulate(extents.begin(), extents.end(), int64_t{0}) != extent) {
      raise("ValueError", "Chunks do not add up to shape. Got chunks=" + repr(in, whole_argument) + ", shape=" + shown_shape(in, array));
    }
    if (extents.empty()) extents.push_back(1);  // of an axis without elements
    return extents;
  }
  const int64_t n = to_index(in, v);
  if (n == -1) return {std::max<int64_t>(extent, 1)};
  if (n <= 0) raise("ValueError", "chunks must be positive, got " + repr(in, whole_argument), "-1 is the whole axis");
  return {n};
}

constexpr std::array<std::string_view, 8> kSchedulers = {"distributed", "multiprocessing", "processes", "single-threaded",
                                                         "sync",        "synchronous",     "threading", "threads"};
/// Library functions and classes that are schedulers, too: dask.get, dask.threaded.get and the like.
constexpr std::string_view kSchedulerFunctions[] = {"get", "get_sync"},
                           kSchedulerObjects[] = {"Client", "ProcessPoolExecutor", "ThreadPoolExecutor"};

bool has_chunks(const Value& v) {
  const auto* array = v.as<NdArray>();
  return array && !array->array.requested_chunks().empty();
}

bool have_chunks(std::span<const Value> values) { return std::ranges::any_of(values, has_chunks); }

std::vector<const Array*> arrays_among(std::span<const Value> values) {
  std::vector<const Array*> arrays;
  arrays.reserve(values.size());
  for (const Value& v : values)
    if (const auto* array = v.as<NdArray>()) arrays.push_back(&array->array);
  return arrays;
}

}  // namespace

Value with_chunks(Value result, Array::Chunks chunks) {
  if (chunks.empty()) return result;
  if (auto* array = result.as<NdArray>()) array->array.set_requested_chunks(std::move(chunks));
  return result;
}

Value with_common_chunks(Value result, std::span<const Value> operands) {
  const auto* array = result.as<NdArray>();
  if (!array || !have_chunks(operands)) return result;
  return with_chunks(std::move(result), common_chunks(arrays_among(operands), array->array.shape()));
}

Value with_joined_chunks(Value result, std::span<const Value> parts, int axis) {
  if (!have_chunks(parts)) return result;
  const std::vector<const Array*> arrays = arrays_among(parts);
  if (arrays.size() != parts.size()) return result;
  return with_chunks(std::move(result), joined_chunks(arrays, static_cast<size_t>(axis)));
}

Value with_stacked_chunks(Value result, std::span<const Value> parts, int axis) {
  if (!have_chunks(parts)) return result;
  const std::vector<const Array*> arrays = arrays_among(parts);
  if (arrays.size() != parts.size()) return result;
  Chunks chunks = common_chunks(arrays, arrays[0]->shape());
  if (!chunks.empty()) chunks.insert(chunks.begin() + axis, {1});
  return with_chunks(std::move(result), std::move(chunks));
}

Value with_product_chunks(Value result, const Value& a, const Value& b) {
  const auto *left = a.as<NdArray>(), *right = b.as<NdArray>(), *made = result.as<NdArray>();
  if (!left || !right || !made) return result;
  Chunks chunks = product_chunks(left->array, right->array, made->array.shape());
  return with_chunks(std::move(result), std::move(chunks));
}

void check_scheduler(Interpreter& in, const Value& scheduler) {
  if (scheduler.is_none()) return;
  if (!scheduler.as<Str>()) {
    if (const auto* function = scheduler.as<Function>(); function && function->code->globals->library)
      if (std::ranges::find(kSchedulerFunctions, function->code->name) != std::end(kSchedulerFunctions)) return;
    if (std::ranges::find(kSchedulerObjects, type_of(scheduler).name) != std::end(kSchedulerObjects)) return;
    if (scheduler.as<Function>())
      raise("NotImplementedError", "a scheduler of one's own is not in Gasell", "dask.get and dask.threaded.get are there");
    raise("ValueError", "Unexpected scheduler: " + repr(in, scheduler));
  }
  std::string name = str(in, scheduler);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::ranges::find(kSchedulers, name) != kSchedulers.end()) return;
  std::string expected;
  for (const std::string_view known : kSchedulers) expected += (expected.empty() ? "" : ", ") + std::string(known);
  raise("ValueError", "Expected one of [" + expected + "]");
}

void compute_together(Interpreter& in, std::span<const Value> values) {
  std::vector<Array> arrays;
  std::vector<std::pair<NumpyScalar*, size_t>> scalars;  // and their places among the arrays
  for (const Value& v : values) {
    if (const auto* a = v.as<NdArray>()) {
      arrays.push_back(a->array);
    } else if (auto* scalar = v.as<NumpyScalar>()) {
      scalars.emplace_back(scalar, arrays.size());
      arrays.emplace_back(scalar->node());
    }
  }
  force_all(in.engine(), arrays);
  for (const auto& [scalar, at] : scalars) scalar->set_value(arrays[at].elements(in.engine())[0]);
}

Chunks to_chunks(Interpreter& in, const Value& v, const Array& array, const Chunks& missing_axes, int64_t auto_bytes) {
  const size_t rank = array.shape().size();
  if (const auto* text = v.as<Str>()) {
    if (text->value == "auto") return auto_bytes == kAutoBytes ? Chunks{} : within_bytes(array, auto_bytes);
    return within_bytes(array, parse_bytes(text->value));
  }
  std::vector<Value> entries(rank);
  if (const auto* by_axis = v.as<Dict>()) {
    for (const Dict::Entry& e : by_axis->entries()) {
      if (!e.key.is_absent()) entries[static_cast<size_t>(to_axis(in, e.key, static_cast<int>(rank)))] = e.value;
    }
  } else if (v.as<Tuple>() || v.as<List>()) {
    const auto& given = v.as<Tuple>() ? v.as<Tuple>()->items : v.as<List>()->items;
    const bool flat = rank == 1 && given.size() != 1;  // the extents of the only axis
    if (!flat && given.size() != rank) {
      raise("ValueError",
            "Chunks and shape must be of the same length/dimension. Got chunks=" + repr(in, v) + ", shape=" + shown_shape(in, array));
    }
    if (flat) {
      entries[0] = v;
    } else {
      entries.assign(given.begin(), given.end());
    }
  } else {
    entries.assign(rank, v);
  }
  Chunks chunks;
  for (size_t k = 0; k < rank; ++k) chunks.push_back(of_axis(in, entries[k], v, array, k, missing_axes, auto_bytes));
  return chunks;
}

void request_chunks(Interpreter& in, Array& array, const Value& chunks) {
  if (!is_missing(chunks) && !chunks.is_none()) array.set_requested_chunks(to_chunks(in, chunks, array));
}

Value chunks_value(const Array& array) {
  std::vector<Value> axes;
  for (size_t k = 0; k < array.shape().size(); ++k) {
    std::vector<Value> pieces;
    for (const int64_t extent : chunk_extents(array, k)) pieces.push_back(Value::of(extent));
    axes.push_back(make_tuple(std::move(pieces)));
  }
  return make_tuple(std::move(axes));
}

}  // namespace gasell::numpy
