// Sorting and searching in sorted arrays.
#include <algorithm>
#include <numeric>

#include "stdlib/numpy/host.h"
#include "stdlib/numpy/trues.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

/// sort(a, axis): a sorted copy.
Value sort(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const Lanes lanes(a.shape(), to_axis(in, args[1], a.rank()));
  const Array::Elements from = a.elements(in.engine());
  HostArray result(in, a.dtype(), a.shape());
  with_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* source = reinterpret_cast<const T*>(from.data);
    T* target = result.data<T>();
    const std::unique_ptr<T[]> lane(lanes.inner > 1 ? new T[static_cast<size_t>(lanes.extent)] : nullptr);
    for (int64_t o = 0; o < lanes.outer; ++o) {
      for (int64_t k = 0; k < lanes.inner; ++k) {
        check_interrupt(in);
        const int64_t begin = o * lanes.extent * lanes.inner + k;
        T* values = lane ? lane.get() : target + begin;
        for (int64_t i = 0; i < lanes.extent; ++i) values[i] = source[begin + i * lanes.inner];
        std::sort(values, values + lanes.extent, ordered_before<T>);
        if (lane)
          for (int64_t i = 0; i < lanes.extent; ++i) target[begin + i * lanes.inner] = values[i];
      }
    }
  });
  return result.value();
}

/// argsort(a, axis): i64 indices, equal elements in their order.
Value argsort(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const Lanes lanes(a.shape(), to_axis(in, args[1], a.rank()));
  const Array::Elements from = a.elements(in.engine());
  HostArray result(in, DType::i64, a.shape());
  with_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* source = reinterpret_cast<const T*>(from.data);
    int64_t* target = result.data<int64_t>();
    std::vector<int64_t> order(static_cast<size_t>(lanes.extent));
    for (int64_t o = 0; o < lanes.outer; ++o) {
      for (int64_t k = 0; k < lanes.inner; ++k) {
        check_interrupt(in);
        const int64_t begin = o * lanes.extent * lanes.inner + k;
        std::iota(order.begin(), order.end(), int64_t{0});
        std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
          return ordered_before(source[begin + x * lanes.inner], source[begin + y * lanes.inner]);
        });
        for (int64_t i = 0; i < lanes.extent; ++i) target[begin + i * lanes.inner] = order[static_cast<size_t>(i)];
      }
    }
  });
  return result.value();
}

/// searchsorted(a, v, right): where elements of v go into a, sorted and of the same dtype.
Value searchsorted(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]), v = as_array(in, args[1]);
  const bool right = truth(in, args[2]);
  const Array::Elements sorted = a.elements(in.engine()), wanted = v.elements(in.engine());
  HostArray result(in, DType::i64, v.shape());
  with_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    const T *begin = reinterpret_cast<const T*>(sorted.data), *end = begin + sorted.count;
    const T* value = reinterpret_cast<const T*>(wanted.data);
    for (int64_t i = 0; i < wanted.count; ++i)
      result.data<int64_t>()[i] =
          (right ? std::upper_bound(begin, end, value[i], ordered_before<T>) : std::lower_bound(begin, end, value[i], ordered_before<T>)) -
          begin;
  });
  return result.value();
}

Value nonzero_of(Interpreter& in, Args args) { return nonzero(in, as_array(in, args[0])); }

}  // namespace

Value nonzero(Interpreter& in, const Array& array) {
  const Array mask(graph::cast(array.node(), DType::boolean));
  const Array::Elements e = mask.elements(in.engine());
  const Trues trues(e.data, e.count);
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
      {"argsort", "a, axis", argsort, "Indices that sort, stably."},
      {"searchsorted", "a, v, right", searchsorted, "Where the elements of v belong in the sorted vector a of the same dtype."},
      {"nonzero", "a", nonzero_of, "Indices of what is not zero, one vector an axis."},
  };
}

}  // namespace gasell::numpy
