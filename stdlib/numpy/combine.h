// The operations by which scans, writes to places and reductions of slices combine elements.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "runtime/primitives/order_keys.h"

namespace gasell::numpy {

enum class ScanOp : uint8_t { add, multiply, maximum, minimum };

inline ScanOp scan_op(const std::string& name) {
  return name == "add" ? ScanOp::add : name == "multiply" ? ScanOp::multiply : name == "maximum" ? ScanOp::maximum : ScanOp::minimum;
}

/// Wrapping arithmetic of integers, NaN-keeping extremes; products of complex numbers as NumPy's, without a second look at infinities.
template <ScanOp op, class T>
T combine(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, bool>) {
    return op == ScanOp::add || op == ScanOp::maximum ? a || b : a && b;
  } else if constexpr (op == ScanOp::maximum || op == ScanOp::minimum) {
    const bool a_wins = op == ScanOp::maximum ? ordered_before(b, a) : ordered_before(a, b);  // of equals the second counts
    if constexpr (std::is_integral_v<T>) return a_wins ? a : b;
    return a != a || (b == b && a_wins) ? a : b;
  } else if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(op == ScanOp::add ? x + y : x * y);
  } else if constexpr (std::is_class_v<T> && op == ScanOp::multiply) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return op == ScanOp::add ? a + b : a * b;
  }
}

/// work(std::type_identity<T>, combine) for a dtype and an operation: a function of two elements, known when loops over them are compiled.
template <class Work>
void with_scan(DType dtype, ScanOp op, const Work& work) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T> type) {
    switch (op) {
      case ScanOp::add: return work(type, [](const T& a, const T& b) { return combine<ScanOp::add>(a, b); });
      case ScanOp::multiply: return work(type, [](const T& a, const T& b) { return combine<ScanOp::multiply>(a, b); });
      case ScanOp::maximum: return work(type, [](const T& a, const T& b) { return combine<ScanOp::maximum>(a, b); });
      default: return work(type, [](const T& a, const T& b) { return combine<ScanOp::minimum>(a, b); });
    }
  });
}

}  // namespace gasell::numpy
