// ufunc.at and ufunc.reduceat: values combined into elements at places, and slices of lanes reduced.
#include <algorithm>
#include <atomic>
#include <vector>

#include "lang/diagnostic.h"
#include "stdlib/library.h"
#include "stdlib/numpy/combine.h"
#include "stdlib/numpy/host.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

void check_places(Engine& engine, const int64_t* places, int64_t count, int64_t extent) {
  std::atomic<bool> all_fit{true};
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    bool fit = true;
    for (int64_t i = begin; i < end; ++i) fit = fit && places[i] >= -extent && places[i] < extent;
    if (!fit) all_fit = false;
  });
  if (all_fit) return;
  const int64_t wrong = *std::find_if(places, places + count, [&](int64_t place) { return place < -extent || place >= extent; });
  raise("IndexError", "index " + std::to_string(wrong) + " is out of bounds for axis 0 with size " + std::to_string(extent));
}

/// target[place] = combined(target[place], value) for each place within [low, high), in their order.
template <class T, class Combine>
void scatter_range(Engine& engine, T* target, int64_t extent, const int64_t* places, const T* values, int64_t count, int64_t low,
                   int64_t high, const Combine& combined) {
  if (low == 0 && high == extent) {
    return in_turn(engine, count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T& to = target[places[i] < 0 ? places[i] + extent : places[i]];
        to = combined(to, values[i]);
      }
    });
  }
  // Which of a stretch of places are in the range is found without branches, which no processor foresees.
  constexpr int64_t kStretch = 1024;
  int64_t at[kStretch];
  int32_t which[kStretch];
  in_turn(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kStretch) {
      int64_t found = 0;
      for (int64_t i = first; i < std::min(end, first + kStretch); ++i) {
        at[found] = places[i] < 0 ? places[i] + extent : places[i];
        which[found] = static_cast<int32_t>(i - first);
        found += at[found] >= low && at[found] < high;
      }
      for (int64_t k = 0; k < found; ++k) target[at[k]] = combined(target[at[k]], values[first + which[k]]);
    }
  });
}

/// scatter(a, positions, values, op): a copy of a where element positions[i] (in C order, negative ones from the end) took values[i], one
/// after the other. Where it is larger than the caches, each core serves a range of it.
Value scatter(Interpreter& in, Args args) {
  if (std::optional<Value> made = on_gpus(in, "gpu_scattered", {args[0], args[1], args[2], args[3]})) return *std::move(made);
  const Array a = as_array(in, args[0]);
  const ScanOp op = scan_op(str(in, args[3]));
  const Array::Elements from = a.elements(in.engine()), at = as_array(in, args[1]).elements(in.engine()),
                        values = as_array(in, args[2]).elements(in.engine());
  HostArray result(in, a.dtype(), a.shape());
  with_scan(a.dtype(), op, [&]<class T>(std::type_identity<T>, const auto& combined) {
    constexpr int64_t kCached = 1 << 20;  // bytes
    Engine& engine = in.engine();
    const auto* const places = reinterpret_cast<const int64_t*>(at.data);
    const T* const value = reinterpret_cast<const T*>(values.data);
    T* const target = result.data<T>();
    const int64_t n = from.count;
    check_places(engine, places, at.count, n);
    copy_elements(engine, reinterpret_cast<const T*>(from.data), n, target);
    const int64_t ranges = n * static_cast<int64_t>(sizeof(T)) > kCached && at.count > kRowsATask ? threads_of(engine) : 1;
    in_parallel(ranges, [&](int64_t range) {
      scatter_range(engine, target, n, places, value, at.count, n * range / ranges, n * (range + 1) / ranges, combined);
    });
  });
  return result.value();
}

/// Sums as NumPy rounds them: blocks of up to 128 in eight running sums, which are added up in pairs, as are the blocks. `step` in
/// elements; a complex number is two of R, each part with sums of its own.
template <class R>
struct PairwiseSum {
  const R* from;
  int64_t step;

  R of(int64_t begin, int64_t count, int64_t together) const {
    const auto at = [&](int64_t i) { return from[(begin + i) * step]; };
    if (count < together) {
      R sum = R(-0.0);
      for (int64_t i = 0; i < count; ++i) sum += at(i);
      return sum;
    }
    if (count <= 16 * together) {
      R sums[8];
      for (int64_t k = 0; k < together; ++k) sums[k] = at(k);
      int64_t i = together;
      for (; i < count - count % together; i += together)
        for (int64_t k = 0; k < together; ++k) sums[k] += at(i + k);
      R sum = together == 8 ? ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
                            : (sums[0] + sums[1]) + (sums[2] + sums[3]);
      for (; i < count; ++i) sum += at(i);
      return sum;
    }
    int64_t half = count / 2;
    half -= half % together;
    return of(begin, half, together) + of(begin + half, count - half, together);
  }
};

/// What `first` and `count` elements behind it come to, in NumPy's order; elements lie `step` apart.
template <class T, class Combine>
T reduced(const T* first, int64_t count, int64_t step, ScanOp op, const Combine& combined) {
  if (op == ScanOp::add && count > 1) {
    if constexpr (std::is_same_v<T, _Float16>) {  // float32's sum, rounded once
      auto sum = static_cast<float>(*first);
      for (int64_t i = 1; i < count; ++i) sum += static_cast<float>(first[i * step]);
      return static_cast<T>(sum);
    } else if constexpr (std::is_floating_point_v<T>) {
      return *first + PairwiseSum<T>{first + step, step}.of(0, count - 1, 8);
    } else if constexpr (std::is_class_v<T>) {
      using R = typename T::value_type;
      const auto* const parts = reinterpret_cast<const R*>(first + step);
      const PairwiseSum<R> real{parts, 2 * step}, imaginary{parts + 1, 2 * step};
      return *first + T(real.of(0, count - 1, 4), imaginary.of(0, count - 1, 4));
    }
  }
  T result = *first;
  for (int64_t i = 1; i < count; ++i) result = combined(result, first[i * step]);
  return result;
}

/// reduce_at(a, starts, op, axis): the slices along an axis from each of the places `starts` to the next one, reduced; of a slice that is
/// empty its first element. IndexError where a place is not there.
Value reduce_at(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const ScanOp op = scan_op(str(in, args[2]));
  const Lanes lanes(a.shape(), to_axis(in, args[3], a.rank()));
  const Array::Elements from = a.elements(in.engine()), at = as_array(in, args[1]).elements(in.engine());
  const auto* const starts = reinterpret_cast<const int64_t*>(at.data);
  for (int64_t k = 0; k < at.count; ++k)
    if (starts[k] < 0 || starts[k] >= lanes.extent)
      raise("IndexError", "index " + std::to_string(starts[k]) + " out-of-bounds in " + str(in, args[2]) + ".reduceat [0, " +
                              std::to_string(lanes.extent) + ")");
  Shape shape = a.shape();
  shape[static_cast<size_t>(to_axis(in, args[3], a.rank()))] = at.count;
  HostArray result(in, a.dtype(), shape);
  with_scan(a.dtype(), op, [&]<class T>(std::type_identity<T>, const auto& combined) {
    const T* const source = reinterpret_cast<const T*>(from.data);
    T* const target = result.data<T>();
    const int64_t slices = lanes.outer * at.count, length = lanes.extent / std::max<int64_t>(1, at.count) + 1;
    over_rows(
        in.engine(), slices,
        [&](int64_t begin, int64_t end) {
          for (int64_t slice = begin; slice < end; ++slice) {
            const int64_t o = slice / at.count, k = slice % at.count, first = starts[k];
            const int64_t last = k + 1 < at.count ? starts[k + 1] : lanes.extent;
            for (int64_t i = 0; i < lanes.inner; ++i)
              target[slice * lanes.inner + i] = reduced(source + (o * lanes.extent + first) * lanes.inner + i,
                                                        std::max<int64_t>(1, last - first), lanes.inner, op, combined);
          }
        },
        std::max<int64_t>(1, kRowsATask / (length * std::max<int64_t>(1, lanes.inner))));
  });
  return result.value();
}

}  // namespace

std::vector<NativeFunction> scatter_functions() {
  return {
      {"scatter", "a, positions, values, op", scatter, "A copy with values combined into its elements, one after the other."},
      {"reduce_at", "a, starts, op, axis", reduce_at, "Slices along an axis from each place to the next one, reduced."},
  };
}

}  // namespace gasell::numpy
