// What small_graphs.cpp does with elements: loops over a few operations, reductions in the kernels' tree, and the ways of strided layouts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "compiler/graph/node.h"
#include "compiler/plan/kernel_builder.h"
#include "compiler/plan/reduction_lowering.h"

namespace gasell::small {

/// Operations whose result is the exact one, rounded once, on every device.
inline bool is_exact(ScalarOp op, DType type) {
  switch (op) {
    case ScalarOp::add: case ScalarOp::sub: case ScalarOp::mul: case ScalarOp::div: case ScalarOp::neg: case ScalarOp::abs: case ScalarOp::sign: case ScalarOp::min:
    case ScalarOp::max: case ScalarOp::fmin: case ScalarOp::fmax: case ScalarOp::bit_and: case ScalarOp::bit_or: case ScalarOp::bit_xor: case ScalarOp::bit_not:
    case ScalarOp::shl: case ScalarOp::shr: case ScalarOp::eq: case ScalarOp::ne: case ScalarOp::lt: case ScalarOp::le: case ScalarOp::gt: case ScalarOp::ge:
    case ScalarOp::logical_and: case ScalarOp::logical_or: case ScalarOp::logical_xor: case ScalarOp::logical_not: case ScalarOp::select: case ScalarOp::isnan:
    case ScalarOp::isinf: case ScalarOp::isfinite: case ScalarOp::signbit: case ScalarOp::copysign: case ScalarOp::floor: case ScalarOp::ceil: case ScalarOp::trunc:
    case ScalarOp::rint: case ScalarOp::sqrt: case ScalarOp::conj: case ScalarOp::real: return true;
    case ScalarOp::floordiv: case ScalarOp::mod: case ScalarOp::fmod: case ScalarOp::pow: case ScalarOp::mulhi: return is_integer(type);
    default: return false;
  }
}

/// Elements that lie behind each other, or one that stands for all (step 0).
template <class T>
struct Operand {
  const T* data;
  int64_t step;
  T operator[](int64_t i) const { return data[i * step]; }
};

template <class T, class R, class F>
void loop(int64_t n, char* to, const F& f, Operand<T> a) {
  R* const out = reinterpret_cast<R*>(to);
  if (a.step) for (int64_t i = 0; i < n; ++i) out[i] = f(a.data[i]);
  else std::fill_n(out, n, static_cast<R>(f(a.data[0])));
}
template <class T, class R, class F>
void loop(int64_t n, char* to, const F& f, Operand<T> a, Operand<T> b) {
  R* const out = reinterpret_cast<R*>(to);
  if (a.step && b.step) for (int64_t i = 0; i < n; ++i) out[i] = f(a.data[i], b.data[i]);
  else if (a.step) for (int64_t i = 0; i < n; ++i) out[i] = f(a.data[i], b.data[0]);
  else if (b.step) for (int64_t i = 0; i < n; ++i) out[i] = f(a.data[0], b.data[i]);
  else std::fill_n(out, n, static_cast<R>(f(a.data[0], b.data[0])));
}

/// Whether there is a loop for the operation on this type; with `n`, runs it.
template <class T>
bool binary_loop(ScalarOp op, int64_t n, char* to, Operand<T> a, Operand<T> b) {
  using U = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const auto u = [](T x) { return static_cast<U>(x); };
  switch (op) {
    case ScalarOp::add: loop<T, T>(n, to, [&](T x, T y) { return static_cast<T>(u(x) + u(y)); }, a, b); return true;
    case ScalarOp::sub: loop<T, T>(n, to, [&](T x, T y) { return static_cast<T>(u(x) - u(y)); }, a, b); return true;
    case ScalarOp::mul: loop<T, T>(n, to, [&](T x, T y) { return static_cast<T>(u(x) * u(y)); }, a, b); return true;
    case ScalarOp::eq: loop<T, bool>(n, to, [](T x, T y) { return x == y; }, a, b); return true;
    case ScalarOp::ne: loop<T, bool>(n, to, [](T x, T y) { return x != y; }, a, b); return true;
    case ScalarOp::lt: loop<T, bool>(n, to, [](T x, T y) { return x < y; }, a, b); return true;
    case ScalarOp::le: loop<T, bool>(n, to, [](T x, T y) { return x <= y; }, a, b); return true;
    case ScalarOp::gt: loop<T, bool>(n, to, [](T x, T y) { return x > y; }, a, b); return true;
    case ScalarOp::ge: loop<T, bool>(n, to, [](T x, T y) { return x >= y; }, a, b); return true;
    case ScalarOp::div:
      if constexpr (std::is_floating_point_v<T>) {
        loop<T, T>(n, to, [](T x, T y) { return x / y; }, a, b);
        return true;
      }
      return false;
    default: return false;
  }
}
template <class T>
bool unary_loop(ScalarOp op, int64_t n, char* to, Operand<T> a) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case ScalarOp::neg: loop<T, T>(n, to, [](T x) { return -x; }, a); return true;
      case ScalarOp::abs: loop<T, T>(n, to, [](T x) { return std::fabs(x); }, a); return true;
      case ScalarOp::sqrt: loop<T, T>(n, to, [](T x) { return std::sqrt(x); }, a); return true;
      default: return false;
    }
  }
  return false;
}

inline bool has_loop(ScalarOp op, DType type) {
  if (type != DType::f64 && type != DType::f32 && type != DType::i64) return false;
  switch (op) {
    case ScalarOp::add: case ScalarOp::sub: case ScalarOp::mul: case ScalarOp::eq: case ScalarOp::ne: case ScalarOp::lt: case ScalarOp::le: case ScalarOp::gt:
    case ScalarOp::ge: return true;
    case ScalarOp::div: case ScalarOp::neg: case ScalarOp::abs: case ScalarOp::sqrt: return is_float(type);
    default: return false;
  }
}

/// As kernels reduce one output of at most kGroup blocks (compiler/plan/reduction_lowering.h): blocks of kStrip elements in kLanes lanes each, lanes and blocks in halving trees.
template <class T, class Merge>
T reduce_in_tree(Operand<T> x, int64_t n, T identity, const Merge& merge) {
  T blocks[plan::kGroup];
  const int64_t count = (n + plan::kStrip - 1) / plan::kStrip;
  for (int64_t b = 0; b < count; ++b) {
    T lanes[plan::kLanes];
    std::fill_n(lanes, plan::kLanes, identity);
    const int64_t first = b * plan::kStrip, last = std::min(first + plan::kStrip, n);
    int64_t i = first;
    for (; i + plan::kLanes <= last; i += plan::kLanes)
      for (int64_t l = 0; l < plan::kLanes; ++l) lanes[l] = merge(lanes[l], x[i + l]);
    for (int64_t l = 0; i + l < last; ++l) lanes[l] = merge(lanes[l], x[i + l]);
    for (int64_t width = plan::kLanes / 2; width > 0; width /= 2)
      for (int64_t l = 0; l < width; ++l) lanes[l] = merge(lanes[l], lanes[l + width]);
    blocks[b] = lanes[0];
  }
  for (int64_t width = plan::kGroup / 2; width > 0; width /= 2)
    for (int64_t l = 0; l < std::min(width, count - width); ++l) blocks[l] = merge(blocks[l], blocks[l + width]);
  return blocks[0];
}

template <class T>
T reduced(graph::ReduceOp op, Operand<T> x, int64_t n) {
  using Limits = std::numeric_limits<T>;
  constexpr bool real = std::is_floating_point_v<T>;
  const auto plus = [](T a, T b) {
    if constexpr (real) return a + b;
    else return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  };
  const auto times = [](T a, T b) {
    if constexpr (real) return a * b;
    else return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  };
  const auto is_nan = [](T a) { return a != a; };
  switch (op) {
    case graph::ReduceOp::prod: return reduce_in_tree<T>(x, n, T(1), times);
    case graph::ReduceOp::min: return reduce_in_tree<T>(x, n, real ? Limits::infinity() : Limits::max(), [&](T a, T b) { return is_nan(a) ? a : is_nan(b) ? b : a < b ? a : b; });
    case graph::ReduceOp::max: return reduce_in_tree<T>(x, n, real ? -Limits::infinity() : Limits::min(), [&](T a, T b) { return is_nan(a) ? a : is_nan(b) ? b : a > b ? a : b; });
    default: {
      const T sum = reduce_in_tree<T>(x, n, real ? T(-0.0) : T(0), plus);
      return op == graph::ReduceOp::mean ? (sum + T(0)) / static_cast<T>(n) : sum + T(0);
    }
  }
}

/// Visits what a strided layout holds in C order: f(element number, offset).
template <class F>
void walk(const graph::Shape& shape, const std::vector<int64_t>& strides, int64_t offset, const F& f) {
  const int64_t n = graph::size_of(shape);
  if (n == 0) return;
  if (shape.empty()) return f(0, offset);
  int64_t index[32] = {};
  const size_t rank = shape.size();
  const int64_t inner = shape[rank - 1], step = strides[rank - 1];
  for (int64_t i = 0; i < n; i += inner) {
    for (int64_t k = 0; k < inner; ++k) f(i + k, offset + k * step);
    for (size_t k = rank - 1; k-- > 0;) {
      offset += strides[k];
      if (++index[k] < shape[k]) break;
      offset -= strides[k] * shape[k];
      index[k] = 0;
    }
  }
}

inline void move_element(char* to, const char* from, int width) {
  switch (width) {
    case 8: std::memcpy(to, from, 8); break;
    case 4: std::memcpy(to, from, 4); break;
    case 1: *to = *from; break;
    default: std::memcpy(to, from, static_cast<size_t>(width));
  }
}

/// Elements of a strided layout behind each other, and the other way round.
inline void gather(char* to, const char* from, int width, const graph::Shape& shape, const std::vector<int64_t>& strides, int64_t offset) {
  walk(shape, strides, offset, [&](int64_t i, int64_t at) { move_element(to + i * width, from + at * width, width); });
}
inline void scatter(char* to, const char* from, int step, int width, const graph::Shape& shape, const std::vector<int64_t>& strides, int64_t offset) {
  walk(shape, strides, offset, [&](int64_t i, int64_t at) { move_element(to + at * width, from + i * step * width, width); });
}

inline bool is_contiguous(const graph::Shape& shape, const std::vector<int64_t>& strides) {
  int64_t stride = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    if (shape[k] != 1 && strides[k] != stride) return false;
    stride *= shape[k];
  }
  return true;
}

}  // namespace gasell::small
