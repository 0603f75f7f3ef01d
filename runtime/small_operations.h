// What small_graphs.cpp does with elements: loops over operations, and the ways of strided layouts.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "compiler/graph/node.h"
#include "compiler/math/evaluate.h"

namespace gasell::small {

template <class T>
inline constexpr bool is_complex_number = std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::complex<float>>;

/// As kernels multiply; std::complex has another way with infinities.
template <class T>
T product(T a, T b) {
  if constexpr (is_complex_number<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

/// Whether every way to compute it gives the same bits: not where LLVM and the C library have ways of their own (remainders of floats,
/// elementary functions of complex numbers).
inline bool is_exact(ScalarOp op, DType type) {
  if (is_complex(type)) {
    switch (op) {
      case ScalarOp::add:
      case ScalarOp::sub:
      case ScalarOp::mul:
      case ScalarOp::div:
      case ScalarOp::neg:
      case ScalarOp::conj:
      case ScalarOp::real:
      case ScalarOp::imag:
      case ScalarOp::eq:
      case ScalarOp::ne:
      case ScalarOp::logical_and:
      case ScalarOp::logical_or:
      case ScalarOp::logical_xor:
      case ScalarOp::logical_not:
      case ScalarOp::select:
      case ScalarOp::isnan:
      case ScalarOp::isinf:
      case ScalarOp::isfinite: return true;
      default: return false;
    }
  }
  switch (op) {
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
    case ScalarOp::div:
    case ScalarOp::neg:
    case ScalarOp::abs:
    case ScalarOp::sign:
    case ScalarOp::min:
    case ScalarOp::max:
    case ScalarOp::fmin:
    case ScalarOp::fmax:
    case ScalarOp::bit_and:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
    case ScalarOp::bit_not:
    case ScalarOp::shl:
    case ScalarOp::shr:
    case ScalarOp::eq:
    case ScalarOp::ne:
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge:
    case ScalarOp::logical_and:
    case ScalarOp::logical_or:
    case ScalarOp::logical_xor:
    case ScalarOp::logical_not:
    case ScalarOp::select:
    case ScalarOp::isnan:
    case ScalarOp::isinf:
    case ScalarOp::isfinite:
    case ScalarOp::signbit:
    case ScalarOp::copysign:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::rint:
    case ScalarOp::sqrt:
    case ScalarOp::conj:
    case ScalarOp::real:
    case ScalarOp::imag:
    case ScalarOp::make_complex: return true;
    case ScalarOp::floordiv:
    case ScalarOp::mod:
    case ScalarOp::fmod:
    case ScalarOp::pow:
    case ScalarOp::mulhi: return is_integer(type) || (op == ScalarOp::pow && math::has(op));
    default: return math::has(op);
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
  if (n == 0) return;
  R* const out = reinterpret_cast<R*>(to);
  if (a.step)
    for (int64_t i = 0; i < n; ++i) out[i] = f(a.data[i]);
  else
    std::fill_n(out, n, static_cast<R>(f(a.data[0])));
}
template <class T, class R, class F>
void loop(int64_t n, char* to, const F& f, Operand<T> a, Operand<T> b) {
  if (n == 0) return;
  R* const out = reinterpret_cast<R*>(to);
  if (a.step && b.step)
    for (int64_t i = 0; i < n; ++i) out[i] = f(a.data[i], b.data[i]);
  else if (a.step)
    for (int64_t i = 0; i < n; ++i) out[i] = f(a.data[i], b.data[0]);
  else if (b.step)
    for (int64_t i = 0; i < n; ++i) out[i] = f(a.data[0], b.data[i]);
  else
    std::fill_n(out, n, static_cast<R>(f(a.data[0], b.data[0])));
}

/// Whether there is a loop for the operation on this type, which has run then.
template <class T>
bool binary_loop(ScalarOp op, int64_t n, char* to, Operand<T> a, Operand<T> b) {
  constexpr bool real = std::is_floating_point_v<T>;
  // Integers wrap.
  using U = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const auto u = [](T x) { return static_cast<U>(x); };
  switch (op) {
    case ScalarOp::add: loop<T, T>(n, to, [&](T x, T y) { return static_cast<T>(u(x) + u(y)); }, a, b); return true;
    case ScalarOp::sub: loop<T, T>(n, to, [&](T x, T y) { return static_cast<T>(u(x) - u(y)); }, a, b); return true;
    case ScalarOp::mul: loop<T, T>(n, to, [](T x, T y) { return product(x, y); }, a, b); return true;
    case ScalarOp::eq: loop<T, bool>(n, to, [](T x, T y) { return x == y; }, a, b); return true;
    case ScalarOp::ne: loop<T, bool>(n, to, [](T x, T y) { return x != y; }, a, b); return true;
    default: break;
  }
  if constexpr (!is_complex_number<T>) {
    switch (op) {
      case ScalarOp::lt: loop<T, bool>(n, to, [](T x, T y) { return x < y; }, a, b); return true;
      case ScalarOp::le: loop<T, bool>(n, to, [](T x, T y) { return x <= y; }, a, b); return true;
      case ScalarOp::gt: loop<T, bool>(n, to, [](T x, T y) { return x > y; }, a, b); return true;
      case ScalarOp::ge: loop<T, bool>(n, to, [](T x, T y) { return x >= y; }, a, b); return true;
      case ScalarOp::min: loop<T, T>(n, to, [](T x, T y) { return x != x ? x : y != y ? y : x < y ? x : y; }, a, b); return true;
      case ScalarOp::max: loop<T, T>(n, to, [](T x, T y) { return x != x ? x : y != y ? y : x > y ? x : y; }, a, b); return true;
      default: break;
    }
  }
  if constexpr (real) {
    switch (op) {
      case ScalarOp::div: loop<T, T>(n, to, [](T x, T y) { return x / y; }, a, b); return true;
      default: break;
    }
    if (!math::has(op)) return false;
    loop<T, T>(n, to, [op](T x, T y) { return math::evaluate(op, x, y); }, a, b);
    return true;
  }
  return false;
}
/// x ** exponent, where plans have something simpler for it (compiler/plan/pull.cpp), too.
inline bool is_simple_power(double exponent) { return exponent == 1 || exponent == 2 || exponent == 0.5 || exponent == -1; }
template <class T>
void simple_power_loop(double exponent, int64_t n, char* to, Operand<T> a) {
  if (exponent == 1)
    loop<T, T>(n, to, [](T x) { return x; }, a);
  else if (exponent == 2)
    loop<T, T>(n, to, [](T x) { return x * x; }, a);
  else if (exponent == 0.5)
    loop<T, T>(n, to, [](T x) { return std::sqrt(x); }, a);
  else
    loop<T, T>(n, to, [](T x) { return T(1) / x; }, a);
}

template <class T>
bool unary_loop(ScalarOp op, int64_t n, char* to, Operand<T> a) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case ScalarOp::neg: loop<T, T>(n, to, [](T x) { return -x; }, a); return true;
      case ScalarOp::abs: loop<T, T>(n, to, [](T x) { return std::fabs(x); }, a); return true;
      case ScalarOp::sqrt: loop<T, T>(n, to, [](T x) { return std::sqrt(x); }, a); return true;
      default: break;
    }
    if (!math::has(op)) return false;
    loop<T, T>(n, to, [op](T x) { return math::evaluate(op, x); }, a);
    return true;
  }
  return false;
}

/// For those who have no elements yet.
template <class T>
bool has_loop(ScalarOp op) {
  return info(op).arity == 2 ? binary_loop<T>(op, 0, nullptr, {}, {}) : info(op).arity == 1 && unary_loop<T>(op, 0, nullptr, {});
}
inline bool has_loop(ScalarOp op, DType type) {
  switch (type) {
    case DType::f64: return has_loop<double>(op);
    case DType::f32: return has_loop<float>(op);
    case DType::i64: return has_loop<int64_t>(op);
    case DType::c128: return has_loop<std::complex<double>>(op);
    default: return false;
  }
}

/// Visits the rows of what a strided layout holds, in C order: f(number of the first element, its offset, elements, their distance).
template <class F>
void walk_rows(const graph::Shape& shape, const std::vector<int64_t>& strides, int64_t offset, const F& f) {
  const int64_t n = graph::size_of(shape);
  if (n == 0) return;
  if (shape.empty()) return f(0, offset, 1, 1);
  int64_t index[32] = {};
  const size_t rank = shape.size();
  const int64_t inner = shape[rank - 1];
  for (int64_t i = 0; i < n; i += inner) {
    f(i, offset, inner, strides[rank - 1]);
    for (size_t k = rank - 1; k-- > 0;) {
      offset += strides[k];
      if (++index[k] < shape[k]) break;
      offset -= strides[k] * shape[k];
      index[k] = 0;
    }
  }
}
/// The same element by element: f(its number, its offset).
template <class F>
void walk(const graph::Shape& shape, const std::vector<int64_t>& strides, int64_t offset, const F& f) {
  walk_rows(shape, strides, offset, [&](int64_t first, int64_t at, int64_t count, int64_t step) {
    for (int64_t k = 0; k < count; ++k) f(first + k, at + k * step);
  });
}

inline void move_element(char* to, const char* from, int width) {
  switch (width) {
    case 8: std::memcpy(to, from, 8); break;
    case 4: std::memcpy(to, from, 4); break;
    case 1: *to = *from; break;
    default: std::memcpy(to, from, static_cast<size_t>(width));
  }
}

/// A row of elements that lie so many elements apart.
inline void move_row(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count, int width) {
  if (to_step == 1 && from_step == 1) return void(std::memcpy(to, from, static_cast<size_t>(count * width)));
  const auto each = [&](auto bytes) {
    for (int64_t k = 0; k < count; ++k) std::memcpy(to + k * to_step * bytes, from + k * from_step * bytes, bytes);
  };
  switch (width) {
    case 8: return each(std::integral_constant<int64_t, 8>());
    case 4: return each(std::integral_constant<int64_t, 4>());
    case 1: return each(std::integral_constant<int64_t, 1>());
    default: return each(static_cast<int64_t>(width));
  }
}

/// Elements of a strided layout behind each other, and the other way round.
inline void gather(char* to, const char* from, int width, const graph::Shape& shape, const std::vector<int64_t>& strides, int64_t offset) {
  walk_rows(shape, strides, offset, [&](int64_t first, int64_t at, int64_t count, int64_t step) {
    move_row(to + first * width, 1, from + at * width, step, count, width);
  });
}
inline void scatter(char* to, const char* from, int step, int width, const graph::Shape& shape, const std::vector<int64_t>& strides,
                    int64_t offset) {
  walk_rows(shape, strides, offset, [&](int64_t first, int64_t at, int64_t count, int64_t apart) {
    move_row(to + at * width, apart, from + first * step * width, step, count, width);
  });
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
