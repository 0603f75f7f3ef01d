// Running totals, counts and convolution.
#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>

#include "runtime/primitives/scan.h"
#include "stdlib/library.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/combine.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/later.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

/// Whether running values of such elements must be taken one after the other: those of float16 are rounded at each.
template <class T>
constexpr bool in_order(ScanOp op) {
  return std::is_same_v<T, _Float16> || (op == ScanOp::multiply && !std::is_integral_v<T>);
}

/// The running values of the lanes along an axis.
Value accumulate_now(Interpreter& in, const Array& a, int axis, const std::string& name) {
  if (a.size() > 0)
    if (std::optional<Value> made = on_gpus(in, "gpu_accumulated", {wrap_array(a.node()), make_str(name), Value::of(int64_t{axis})}))
      return *std::move(made);
  const ScanOp op = scan_op(name);
  const Array::Elements from = a.elements(in.engine());
  HostArray result(in, a.dtype(), a.shape());
  with_scan(a.dtype(), op, [&]<class T>(std::type_identity<T>, const auto& combined) {
    scan_lanes(in.engine(), reinterpret_cast<const T*>(from.data), Lanes(a.shape(), axis), result.data<T>(), in_order<T>(op), combined);
  });
  return result.value();
}

/// Running values `begin` to `end` of a vector, which is computed piece by piece and not stored; not for what lies on GPUs.
bool part_of_scan(Interpreter& in, const NodeRef& x, ScanOp op, int64_t begin, int64_t end, void* to) {
  if (in.engine().gpus()) return false;
  with_scan(x->dtype, op, [&]<class T>(std::type_identity<T>, const auto& combined) {
    constexpr int64_t kPiece = kScanBlock * 1024;
    ScanPart<T> part(begin, end, static_cast<T*>(to));
    for (int64_t at = 0; at < end; at += kPiece) {
      check_interrupt(in);
      const int64_t count = std::min(kPiece, end - at);
      const Array::Elements piece = Array(graph::view(x, {count}, {{0, at, 1}})).elements(in.engine());
      part.add(in.engine(), reinterpret_cast<const T*>(piece.data), count, combined);
    }
  });
  return true;
}

/// accumulate(a, op, axis): the running values of the lanes along an axis. Products of floats stay in their order, since parts of them may
/// overflow where the whole does not; everything else is in the order of compiler/graph/scan_blocks.h. Of a long vector they are computed
/// when somebody reads them.
Value accumulate(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const int axis = to_axis(in, args[2], a.rank());
  const std::string name = str(in, args[1]);
  const ScanOp op = scan_op(name);
  const bool waits = may_wait(in, a) && a.dtype() != DType::f16 && !(op == ScanOp::multiply && !is_integer(a.dtype()));
  return with_chunks(
      !waits ? accumulate_now(in, a, axis, name)
             : made_later(
                   in, a, a.dtype(), [&in, name](const Array& x) { return accumulate_now(in, x, 0, name); },
                   [&in, op](const NodeRef& x, int64_t begin, int64_t end, void* to) { return part_of_scan(in, x, op, begin, end, to); }),
      a.requested_chunks());
}

/// bincount(x, weights, minlength): x of integers that are not negative; weights f64 or None.
Value bincount(Interpreter& in, Args args) {
  if (std::optional<Value> made =
          args[1].is_none() ? on_gpus(in, "gpu_counted", {args[0], args[2]}) : on_gpus(in, "gpu_weighed", {args[0], args[1], args[2]}))
    return *std::move(made);
  const Array::Elements x = as_array(in, args[0]).elements(in.engine());
  const int64_t least = to_index(in, args[2]);
  std::optional<HostArray> result;
  with_element_type(x.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* const value = reinterpret_cast<const T*>(x.data);
      const int64_t parts = (x.count + kRowsATask - 1) / kRowsATask;
      std::vector<T> greatest(static_cast<size_t>(parts));
      std::atomic<bool> negative = false;
      over_rows(in.engine(), x.count, [&](int64_t begin, int64_t end) {
        const auto [low, high] = std::minmax_element(value + begin, value + end);
        if (std::is_signed_v<T> && *low < T{0}) negative = true;
        greatest[static_cast<size_t>(begin / kRowsATask)] = *high;
      });
      if (negative) raise("ValueError", "'list' argument must have no negative elements");
      int64_t count = least;
      for (const T high : greatest)  // the largest integer is more than memory holds, with or without one more
        count = std::max(count, static_cast<int64_t>(high) + (static_cast<int64_t>(high) < std::numeric_limits<int64_t>::max()));
      if (!args[1].is_none()) {
        const Array::Elements w = as_array(in, args[1]).elements(in.engine());
        const auto* const weight = reinterpret_cast<const double*>(w.data);
        result.emplace(in, DType::f64, Shape{count});
        auto* const sums = result->data<double>();
        over_rows(in.engine(), count, [&](int64_t begin, int64_t end) { std::fill(sums + begin, sums + end, 0.0); });
        in_turn(in.engine(), x.count, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) sums[value[i]] += weight[i];
        });
        return;
      }
      result.emplace(in, DType::i64, Shape{count});
      auto* const counts = result->data<int64_t>();
      std::fill_n(counts, count, int64_t{0});
      // Each core counts what it sees in numbers of its own, where these are few beside the elements.
      const int64_t cores = count <= x.count / 8 ? std::min<int64_t>(threads_of(in.engine()), parts) : 1;
      std::vector<std::vector<int64_t>> own(static_cast<size_t>(std::max<int64_t>(cores, 1)));
      const int64_t share = cores > 0 ? (x.count + cores - 1) / cores : 0;
      over_rows(
          in.engine(), x.count,
          [&](int64_t begin, int64_t end) {
            std::vector<int64_t>& mine = own[static_cast<size_t>(begin / share)];
            int64_t* to = counts;
            if (begin > 0) {
              mine.assign(static_cast<size_t>(count), 0);
              to = mine.data();
            }
            for (int64_t i = begin; i < end; ++i) {
              if (i % 65536 == 0) check_interrupt(in.engine());
              ++to[value[i]];
            }
          },
          std::max<int64_t>(share, 1));
      for (size_t core = 1; core < own.size(); ++core)
        for (size_t i = 0; i < own[core].size(); ++i) counts[i] += own[core][i];
    }
  });
  return result->value();
}

/// convolve(a, v): the whole discrete convolution of two vectors of one dtype.
Value convolve(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]), v = as_array(in, args[1]);
  const bool swapped = a.size() < v.size();
  if (std::optional<Value> made = on_gpus(in, "gpu_convolved", {args[swapped ? 1 : 0], args[swapped ? 0 : 1]})) return *std::move(made);
  const Array::Elements left = (swapped ? v : a).elements(in.engine()), right = (swapped ? a : v).elements(in.engine());
  const int64_t count = left.count + right.count - 1;
  HostArray result(in, a.dtype(), {count});
  with_element_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    const T *const x = reinterpret_cast<const T*>(left.data), *const y = reinterpret_cast<const T*>(right.data);
    T* const target = result.data<T>();
    // A piece of the result that stays in the cache takes all that comes to it, the elements of the shorter vector one after the other,
    // four of them while it is in registers.
    over_rows(
        in.engine(), count,
        [&](int64_t begin, int64_t end) {
          constexpr int64_t kTogether = 4;
          const auto product = [&](int64_t i, int64_t j) { return combine<ScanOp::multiply>(x[i - j], y[j]); };
          std::fill(target + begin, target + end, T{});
          int64_t j = std::max<int64_t>(0, begin - left.count + 1);
          const int64_t all = std::min(right.count, end);
          const auto one_by_one = [&](int64_t from, int64_t to) {
            for (int64_t i = from; i < to; ++i)
              for (int64_t k = j; k < std::min(j + kTogether, all); ++k)
                if (i >= k && i - k < left.count) target[i] = combine<ScanOp::add>(target[i], product(i, k));
          };
          constexpr int64_t kBetweenChecks = 1 << 10;
          for (int64_t step = 0; j < all; j += kTogether, ++step) {
            if (step % kBetweenChecks == 0) check_interrupt(in.engine());
            const int64_t first = std::min(end, std::max(begin, j + kTogether - 1)), last = std::max(first, std::min(end, left.count + j));
            one_by_one(begin, j + kTogether <= all ? first : end);
            if (j + kTogether > all) break;
            for (int64_t i = first; i < last; ++i) {
              T sum = target[i];
              for (int64_t k = 0; k < kTogether; ++k) sum = combine<ScanOp::add>(sum, product(i, j + k));
              target[i] = sum;
            }
            one_by_one(last, end);
          }
        },
        1 << 12);
  });
  return result.value();
}

/// gather(a, places): the elements of a vector at places that are known to be its own.
Value gather(Interpreter& in, Args args) {
  return wrap_array(graph::gather(as_array(in, args[0]).node(), graph::cast(as_array(in, args[1]).node(), DType::i64)));
}

}  // namespace

std::vector<NativeFunction> scan_functions() {
  return {
      {"accumulate", "a, op, axis", accumulate, "Running sum, product, maximum or minimum."},
      {"bincount", "x, weights, minlength", bincount, "How often each number is there, or the sums of their weights."},
      {"gather", "a, places", gather, "The elements of a vector at places that are known to be its own."},
      {"convolve", "a, v", convolve, "The whole convolution of two vectors of one dtype."},
  };
}

}  // namespace gasell::numpy
