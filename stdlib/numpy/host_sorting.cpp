// Sorting and searching in sorted arrays.
#include <algorithm>
#include <bit>
#include <memory>

#include "runtime/primitives/divide.h"
#include "runtime/primitives/lanes.h"
#include "runtime/primitives/search.h"
#include "runtime/primitives/sort.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/later.h"
#include "stdlib/numpy/selecting.h"
#include "stdlib/numpy/trues.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

/// A place among elements, which may be int64 themselves.
struct Place {
  int64_t number;
};

/// A sorted copy, by the host's cores.
HostArray sorted_on_host(Interpreter& in, const Array& a, int axis) {
  const Lanes lanes(a.shape(), axis);
  const Array::Elements from = a.elements(in.engine());
  HostArray result(in, a.dtype(), a.shape());
  with_element_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    map_lanes(in.engine(), reinterpret_cast<const T*>(from.data), lanes, result.data<T>(), lanes.extent,
              [&](const T* lane, T* sorted, bool alone) {
                if (!alone) return gasell::sort(in.engine(), a.dtype(), lane, sorted, lanes.extent);
                std::copy_n(lane, lanes.extent, sorted);
                sort_alone(a.dtype(), sorted, lanes.extent);
              });
  });
  return result;
}

/// Indices that sort, by the host's cores.
HostArray order_on_host(Interpreter& in, const Array& a, int axis) {
  const Lanes lanes(a.shape(), axis);
  const Array::Elements from = a.elements(in.engine());
  HostArray result(in, DType::i64, a.shape());
  with_element_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    map_lanes(in.engine(), reinterpret_cast<const T*>(from.data), lanes, result.data<int64_t>(), lanes.extent,
              [&](const T* lane, int64_t* order, bool alone) {
                if (!alone) return gasell::argsort(in.engine(), a.dtype(), lane, order, lanes.extent);
                argsort_alone(a.dtype(), lane, order, lanes.extent);
              });
  });
  return result;
}

/// A sorted copy, or the indices that sort, by the GPUs that are in use or the host's cores.
Value in_order_now(Interpreter& in, const Array& a, int axis, bool by_places) {
  if (std::optional<Value> made = on_gpus(in, by_places ? "gpu_order" : "gpu_sorted", {wrap_array(a.node()), Value::of(int64_t{axis})}))
    return *std::move(made);
  return (by_places ? order_on_host(in, a, axis) : sorted_on_host(in, a, axis)).value();
}

/// A long vector is sorted when somebody reads it: who reads a part gets that.
Value in_order(Interpreter& in, const Array& a, int axis, bool by_places) {
  if (!may_wait(in, a) || !has_sorted_parts(a.node())) return in_order_now(in, a, axis, by_places);
  return made_later(
      in, a, by_places ? DType::i64 : a.dtype(), [&in, by_places](const Array& x) { return in_order_now(in, x, 0, by_places); },
      [&in, by_places](const NodeRef& x, int64_t begin, int64_t end, void* to) {
        return part_of_sorted(in, x, begin, end, by_places, to);
      });
}

/// sort(a, axis): a sorted copy.
Value sort(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  return in_order(in, a, to_axis(in, args[1], a.rank()), false);
}

/// host_sorted(a): a vector sorted by the host's cores, for what serves GPUs itself.
Value host_sorted(Interpreter& in, Args args) { return sorted_on_host(in, as_array(in, args[0]), 0).value(); }

/// argsort(a, axis): i64 indices, equal elements in their order.
Value argsort(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  return in_order(in, a, to_axis(in, args[1], a.rank()), true);
}

/// Places without those that are there twice, rising.
std::vector<int64_t> rising_places(std::vector<int64_t> places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

/// partition(a, places, axis, by_places): the lanes along an axis, divided by what sorting puts at these places: what is before the first,
/// what equals it, what is between it and the second, and so on, each in its own order. Or the elements' places in that order.
Value partition(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const int axis = to_axis(in, args[2], a.rank());
  const bool by_places = truth(in, args[3]);
  std::vector<int64_t> places;
  for (const Value& place : to_vector(in, args[1])) places.push_back(to_index(in, place));
  places = rising_places(std::move(places));
  if (std::optional<Value> made =
          on_gpus(in, "gpu_partitioned", {wrap_array(a.node()), args[1], Value::of(int64_t{axis}), Value::of(by_places)}))
    return *std::move(made);
  const Lanes lanes(a.shape(), axis);
  const auto pivot_count = static_cast<int64_t>(places.size());
  return with_element_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    std::vector<std::unique_ptr<T[]>> pivots;  // of a long vector, which is not sorted for them
    if (lanes.count() == 1) {
      pivots.emplace_back(new T[places.size()]);
      if (!select_from_long(in, graph::reshape(a.node(), {lanes.extent}), places, pivots[0].get())) pivots.clear();
    }
    const Array::Elements from = a.elements(in.engine());
    HostArray result(in, by_places ? DType::i64 : a.dtype(), a.shape());
    const auto divided = [&](const T* lane, auto* to, bool alone) {
      const std::unique_ptr<T[]> own(pivots.empty() ? new T[places.size()] : nullptr);
      if (own) gasell::select(in.engine(), a.dtype(), lane, lanes.extent, places, alone, own.get());
      const T* const by = own ? own.get() : pivots[0].get();
      if constexpr (std::is_same_v<decltype(to), Place*>)
        divide_places(in.engine(), a.dtype(), lane, lanes.extent, by, pivot_count, alone, &to->number);
      else
        divide(in.engine(), a.dtype(), lane, lanes.extent, by, pivot_count, alone, to);
    };
    const T* const elements = reinterpret_cast<const T*>(from.data);
    if (by_places)
      map_lanes(in.engine(), elements, lanes, result.data<Place>(), lanes.extent, divided);
    else
      map_lanes(in.engine(), elements, lanes, result.data<T>(), lanes.extent, divided);
    return result.value();
  });
}

/// A number whose bytes, or whose value where it has fewer than four, are a whole number.
template <class T>
T number_of(int64_t key) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(key);
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<int32_t>(key));
  else
    return static_cast<T>(key);
}

/// select() of one vector by the GPUs that are in use; false where they do not.
template <class T>
bool select_on_gpus(Interpreter& in, const Array& a, std::span<const int64_t> places, T* to) {
  if constexpr (std::is_class_v<T>) {
    return false;
  } else {
    std::vector<Value> wanted;
    for (const int64_t place : places) wanted.push_back(Value::of(place));
    const std::optional<Value> keys = on_gpus(in, "gpu_elements_at", {wrap_array(a.node()), make_list(std::move(wanted))});
    if (!keys) return false;
    for (const Value& key : to_vector(in, *keys)) *to++ = number_of<T>(to_index(in, key));
    return true;
  }
}

/// select(a, places): of each vector along the last axis what stands at these places once it is sorted. They are a list of int, each in the
/// vector; the result has them as its last axis.
Value select(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const Lanes lanes(a.shape(), a.rank() - 1);
  std::vector<int64_t> places;
  for (const Value& place : to_vector(in, args[1])) places.push_back(to_index(in, place));
  const std::vector<int64_t> rising = rising_places(places);
  Shape shape = a.shape();
  shape.back() = static_cast<int64_t>(places.size());
  HostArray result(in, a.dtype(), shape);
  std::optional<Value> selected;  // on GPUs
  with_element_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::unique_ptr<T[]> found(new T[rising.size()]);
    const auto give = [&](const T* at_rising, T* to) {
      for (const int64_t place : places) *to++ = at_rising[std::lower_bound(rising.begin(), rising.end(), place) - rising.begin()];
    };
    if (lanes.count() == 1 && select_on_gpus(in, a, rising, found.get())) return give(found.get(), result.data<T>());
    constexpr int64_t kFewLanes = 16;
    if (lanes.count() <= kFewLanes) {
      const NodeRef rows = graph::reshape(a.node(), {lanes.count(), lanes.extent});
      int64_t row = 0;
      while (row < lanes.count() && select_from_long(in, graph::view(rows, {lanes.extent}, {{-1, row, 0}, {0, 0, 1}}), rising, found.get()))
        give(found.get(), result.data<T>() + row++ * shape.back());
      if (row == lanes.count()) return;
    }
    if (std::optional<Value> made = on_gpus(in, "gpu_selected", {args[0], args[1]})) {
      selected = std::move(made);
      return;
    }
    const Array::Elements from = a.elements(in.engine());
    map_lanes(in.engine(), reinterpret_cast<const T*>(from.data), lanes, result.data<T>(), shape.back(),
              [&](const T* lane, T* to, bool alone) {
                const std::unique_ptr<T[]> own(new T[rising.size()]);
                gasell::select(in.engine(), a.dtype(), lane, lanes.extent, rising, alone, own.get());
                give(own.get(), to);
              });
  });
  return selected ? *std::move(selected) : result.value();
}

/// searchsorted(a, v, right): where elements of v go into a, sorted and of the same dtype.
Value searchsorted(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]), v = as_array(in, args[1]);
  if (v.rank() > 0)
    if (std::optional<Value> made =
            on_gpus(in, "gpu_searched", {wrap_array(a.node()), wrap_array(v.node()), Value::of(truth(in, args[2]))}))
      return *std::move(made);
  const Array::Elements sorted = a.elements(in.engine()), wanted = v.elements(in.engine());
  HostArray result(in, DType::i64, v.shape());
  search_sorted(in.engine(), a.dtype(), sorted.data, sorted.count, wanted.data, wanted.count, truth(in, args[2]), result.data<int64_t>());
  return result.value();
}

Value nonzero_of(Interpreter& in, Args args) { return nonzero(in, as_array(in, args[0])); }

}  // namespace

Value nonzero(Interpreter& in, const Array& array) {
  const Array mask(graph::cast(array.node(), DType::boolean));
  if (mask.rank() == 1)
    if (std::optional<Value> made = on_gpus(in, "gpu_places_where", {wrap_array(mask.node())})) return make_tuple({*std::move(made)});
  const Array::Elements e = mask.elements(in.engine());
  const Trues trues(in.engine(), e.data, e.count);
  std::vector<HostArray> axes;
  std::vector<int64_t*> to;
  for (int k = 0; k < mask.rank(); ++k) axes.emplace_back(in, DType::i64, Shape{trues.count()});
  for (HostArray& a : axes) to.push_back(a.data<int64_t>());
  trues.for_each([&](int64_t number, int64_t place) {
    for (size_t k = to.size(); k-- > 1;) {
      to[k][number] = place % mask.shape()[k];
      place /= mask.shape()[k];
    }
    if (!to.empty()) to[0][number] = place;
  });
  std::vector<Value> result;
  for (const HostArray& a : axes) result.push_back(a.value());
  return make_tuple(std::move(result));
}

std::vector<NativeFunction> sorting_functions() {
  return {
      {"sort", "a, axis", sort, "A sorted copy."},
      {"host_sorted", "a", host_sorted, "A vector sorted by the host's cores."},
      {"argsort", "a, axis", argsort, "Indices that sort, stably."},
      {"select", "a, places", select, "What stands at some places of sorted vectors along the last axis."},
      {"partition", "a, places, axis, by_places", partition, "Lanes divided by what sorting puts at some places, or places in that order."},
      {"searchsorted", "a, v, right", searchsorted, "Where the elements of v belong in the sorted vector a of the same dtype."},
      {"nonzero", "a", nonzero_of, "Indices of what is not zero, one vector an axis."},
  };
}

}  // namespace gasell::numpy
