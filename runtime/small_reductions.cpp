#include "runtime/small_reductions.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "compiler/graph/variance_part.h"
#include "compiler/plan/reduction_lowering.h"
#include "compiler/plan/reduction_order.h"
#include "runtime/small_operations.h"

namespace gasell::small {
namespace {

using graph::Node;
using graph::ReduceOp;

/// Reducers have the members of plan::Reducer, over values instead of expressions.
template <class T>
struct ValueReducer {
  using State = T;
  static T single(T x) { return x; }
  static T finish(T state, int64_t) { return state; }
};

template <class T>
struct Sum : ValueReducer<T> {
  /// -0.0, so that a sum of negative zeros stays one until finish().
  static T identity() {
    if constexpr (is_complex_number<T>)
      return {-0.0, -0.0};
    else
      return std::is_floating_point_v<T> ? T(-0.0) : T(0);
  }
  static T merge(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
  static T finish(T state, int64_t) { return merge(state, T(0)); }
};
template <class T>
struct Mean : Sum<T> {
  static T finish(T state, int64_t count) { return (state + T(0)) / static_cast<T>(count); }
};
template <class T>
struct Product : ValueReducer<T> {
  static T identity() { return T(1); }
  static T merge(T a, T b) { return product(a, b); }
};
template <class T>
struct Smallest : ValueReducer<T> {
  static T identity() { return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max(); }
  static T merge(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }
};
template <class T>
struct Largest : ValueReducer<T> {
  static T identity() { return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest(); }
  static T merge(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
};
struct Any : ValueReducer<bool> {
  static bool identity() { return false; }
  static bool merge(bool a, bool b) { return a || b; }
};
struct All : ValueReducer<bool> {
  static bool identity() { return true; }
  static bool merge(bool a, bool b) { return a && b; }
};

/// What var gathers in a block (plan::DeviationSums).
template <class T>
struct Deviations {
  struct State {
    double sum, squares;
  };
  double shift;
  static State identity() { return {0, 0}; }
  State single(T x) const {
    const double deviation = static_cast<double>(x) - shift;
    return {deviation, deviation * deviation};
  }
  static State merge(const State& a, const State& b) { return {a.sum + b.sum, a.squares + b.squares}; }
};
template <class T>
struct Variance {
  struct State {
    double count, mean, offset, spread;
  };
  int64_t ddof;
  static State identity() { return {0, 0, 0, 0}; }
  static State merge(const State& a, const State& b) {
    const double n = a.count + b.count, share = n == 0 ? 0 : b.count / n;
    const double delta = (b.mean - a.mean) + (b.offset - a.offset);
    const bool empty = a.count == 0;
    return {n, empty ? b.mean : a.mean, empty ? b.offset : a.offset + delta * share,
            a.spread + b.spread + delta * (delta * (a.count * share))};
  }
  /// The state of `count` elements whose deviations from `shift` are these.
  static State close(const typename Deviations<T>::State& sums, double shift, double count) {
    const double step = sums.sum / count, spread = sums.squares - step * step * count;
    if (std::isinf(sums.squares) && std::isfinite(step)) return {count, shift, step, sums.squares};
    return {count, shift, step, spread != spread || spread > 0 ? spread : 0};
  }
  double finish(const State& state, int64_t count) const {
    return state.spread / std::max(static_cast<double>(count) - static_cast<double>(ddof), 0.0);
  }
};

/// States 0 … count - 1 of at most `size`, a power of two, merged into the first by halving.
template <class R>
typename R::State halving_tree(const R& by, typename R::State* states, int64_t count, int64_t size) {
  for (int64_t width = size / 2; width > 0; width /= 2)
    for (int64_t l = 0; l < std::min(width, count - width); ++l) states[l] = by.merge(states[l], states[l + width]);
  return states[0];
}

/// One block of a flat reduction in kLanes lanes. Lanes that no element comes to hold the identity, which changes nothing: they are left
/// out.
template <class R, class T>
typename R::State block_in_lanes(const R& by, Operand<T> x, int64_t count) {
  typename R::State lanes[plan::kLanes];
  const int64_t used = std::min(count, plan::kLanes);
  std::fill_n(lanes, used, by.identity());
  int64_t i = 0;
  for (; i + plan::kLanes <= count; i += plan::kLanes)
    for (int64_t l = 0; l < plan::kLanes; ++l) lanes[l] = by.merge(lanes[l], by.single(x[i + l]));
  for (int64_t l = 0; i + l < count; ++l) lanes[l] = by.merge(lanes[l], by.single(x[i + l]));
  return halving_tree(by, lanes, used, plan::kLanes);
}

template <class T>
Deviations<T> deviations_of_row(Operand<T> x, int64_t count) {
  const int64_t width = std::min(count, plan::kLanes);
  double row[plan::kLanes];
  for (int64_t l = 0; l < width; ++l) row[l] = static_cast<double>(x[l]);
  return {halving_tree(Sum<double>(), row, width, plan::kLanes) / static_cast<double>(width)};
}

template <class R, class T>
typename R::State flat_block(const R& by, Operand<T> x, int64_t count) {
  if constexpr (std::is_same_v<R, Variance<T>>) {
    const Deviations<T> sums = deviations_of_row(x, count);
    const auto gathered = block_in_lanes(sums, x, count);
    typename R::State state = R::close(gathered, sums.shift, static_cast<double>(count));
    if (count <= plan::kLanes) state.offset = 0, state.spread = gathered.squares;
    return state;
  } else {
    return block_in_lanes(by, x, count);
  }
}
template <class R, class T>
typename R::State column_block(const R& by, Operand<T> x, int64_t count) {
  if constexpr (std::is_same_v<R, Variance<T>>) {
    const Deviations<T> sums{static_cast<double>(x[0])};
    auto state = sums.identity();
    for (int64_t i = 0; i < count; ++i) state = sums.merge(state, sums.single(x[i]));
    return R::close(state, sums.shift, static_cast<double>(count));
  } else {
    auto state = by.identity();
    for (int64_t i = 0; i < count; ++i) state = by.merge(state, by.single(x[i]));
    return state;
  }
}

/// One output of the `n` elements x[0], x[1], …: along rows, or as one column of several.
template <class R, class T>
auto reduced(const R& by, Operand<T> x, int64_t n, bool by_columns) {
  typename R::State parts[plan::kGroup];
  int64_t count = 0;
  const auto from = [&x](int64_t first) { return Operand<T>{x.data + first * x.step, x.step}; };
  if (by_columns) {
    for (int64_t first = 0; first < n; first += plan::kGroupRows) {
      auto total = by.identity();
      const int64_t last = std::min(first + plan::kGroupRows, n);
      for (int64_t b = first; b < last; b += plan::kColumnBlock)
        total = by.merge(total, column_block(by, from(b), std::min(plan::kColumnBlock, last - b)));
      parts[count++] = total;
    }
  } else {
    for (int64_t first = 0; first < n; first += plan::kStrip)
      parts[count++] = flat_block(by, from(first), std::min(plan::kStrip, n - first));
  }
  return by.finish(halving_tree(by, parts, count, plan::kGroup), n);
}

/// The number of the first of the smallest (or largest) elements; of a NaN where there is one.
template <class T, class Better>
int64_t first_best(Operand<T> x, int64_t n, const Better& better) {
  int64_t best = 0;
  for (int64_t i = 0; i < n && x[best] == x[best]; ++i)
    if (x[i] != x[i] || better(x[i], x[best])) best = i;
  return best;
}

/// Where some axes of a C-contiguous array lead.
struct Way {
  graph::Shape shape;
  std::vector<int64_t> strides;

  int64_t size() const { return graph::size_of(shape); }
  /// The distance from each place to the next, where that is one.
  std::optional<int64_t> step() const {
    int64_t step = 1, extent = 1;
    for (size_t k = shape.size(); k-- > 0;) {
      if (shape[k] == 1) continue;
      if (extent == 1)
        step = strides[k];
      else if (strides[k] != step * extent)
        return {};
      extent *= shape[k];
    }
    return step;
  }
};

/// The outputs of a reduction, each over the elements on a way from where it begins.
struct Walk {
  Way kept, reduced;
};

Walk walk_of(const Node& x, const std::vector<int>& axes) {
  Walk result;
  const std::vector<int64_t> all = graph::contiguous_strides(x.shape);
  for (size_t k = 0; k < x.shape.size(); ++k) {
    Way& way = std::binary_search(axes.begin(), axes.end(), static_cast<int>(k)) ? result.reduced : result.kept;
    way.shape.push_back(x.shape[k]);
    way.strides.push_back(all[k]);
  }
  return result;
}

/// Calls each(output number, its elements) for all outputs.
template <class T, class F>
void for_each_output(const Walk& by, const char* elements, int step, const F& each) {
  const T* const data = reinterpret_cast<const T*>(elements);
  const std::optional<int64_t> apart = step ? by.reduced.step() : 0;
  const auto together = std::make_unique<T[]>(apart ? 0 : static_cast<size_t>(by.reduced.size()));
  walk(by.kept.shape, by.kept.strides, 0, [&](int64_t output, int64_t at) {
    const T* const begin = data + (step ? at : 0);
    if (apart) return each(output, Operand<T>{begin, *apart});
    walk(by.reduced.shape, by.reduced.strides, 0, [&](int64_t i, int64_t from) { together[static_cast<size_t>(i)] = begin[from]; });
    each(output, Operand<T>{together.get(), 1});
  });
}

template <class T>
void reduce_elements(const Node& node, const graph::ReduceNode& op, const char* elements, int step, char* to) {
  const Node& x = *node.inputs[0];
  const Walk by = walk_of(x, op.axes);
  const int64_t n = by.reduced.size();
  const bool columns = plan::reduces_by_columns(x, op.axes).value_or(false);
  const auto with = [&](const auto& reducer) {
    for_each_output<T>(by, elements, step, [&](int64_t o, Operand<T> part) {
      const auto result = reduced(reducer, part, n, columns);
      reinterpret_cast<std::remove_const_t<decltype(result)>*>(to)[o] = result;
    });
  };
  const auto numbers = [&](const auto& better) {
    for_each_output<T>(by, elements, step,
                       [&](int64_t o, Operand<T> part) { reinterpret_cast<int64_t*>(to)[o] = first_best(part, n, better); });
  };
  if constexpr (std::is_same_v<T, bool>) {
    if (op.op == ReduceOp::any) return with(Any());
    return with(All());
  } else {
    switch (op.op) {
      case ReduceOp::sum: return with(Sum<T>());
      case ReduceOp::prod: return with(Product<T>());
      default: break;
    }
    if constexpr (!is_complex_number<T>) {
      switch (op.op) {
        case ReduceOp::min: return with(Smallest<T>());
        case ReduceOp::max: return with(Largest<T>());
        case ReduceOp::argmin: return numbers([](T a, T b) { return a < b; });
        case ReduceOp::argmax: return numbers([](T a, T b) { return a > b; });
        default: break;
      }
    }
    if constexpr (std::is_same_v<T, double>) {
      if (op.op == ReduceOp::mean) return with(Mean<T>());
      return with(Variance<T>{op.ddof});
    }
  }
}

}  // namespace

bool reduces(const Node& node) {
  const auto& op = *node.as<graph::ReduceNode>();
  const Node& x = *node.inputs[0];
  if (x.size() == 0 || node.size() == 0 || !plan::reduces_by_columns(x, op.axes)) return false;
  const bool usual = x.dtype == DType::f64 || x.dtype == DType::f32 || x.dtype == DType::i64;
  switch (op.op) {
    case ReduceOp::sum:
    case ReduceOp::prod: return x.dtype == node.dtype && (usual || x.dtype == DType::c128);
    case ReduceOp::min:
    case ReduceOp::max: return x.dtype == node.dtype && usual;
    case ReduceOp::argmin:
    case ReduceOp::argmax: return usual;
    case ReduceOp::mean:
    case ReduceOp::var: return x.dtype == DType::f64 && node.dtype == DType::f64 && !graph::variance_part(op.ddof);
    case ReduceOp::any:
    case ReduceOp::all: return x.dtype == DType::boolean;
  }
  return false;
}

void reduce(const Node& node, const char* elements, int step, char* to) {
  const auto& op = *node.as<graph::ReduceNode>();
  switch (node.inputs[0]->dtype) {
    case DType::f64: return reduce_elements<double>(node, op, elements, step, to);
    case DType::f32: return reduce_elements<float>(node, op, elements, step, to);
    case DType::i64: return reduce_elements<int64_t>(node, op, elements, step, to);
    case DType::c128: return reduce_elements<std::complex<double>>(node, op, elements, step, to);
    default: return reduce_elements<bool>(node, op, elements, step, to);
  }
}

}  // namespace gasell::small
