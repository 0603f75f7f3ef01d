// Elements in NumPy's order as unsigned numbers: NaN behind all other values and equal to each other, -0.0 equal to 0.0, complex numbers by
// their real, then by their imaginary parts.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "lang/dtype.h"

namespace gasell {

/// Whether elements are real numbers: float16, float32 or float64.
template <class T>
inline constexpr bool is_real_element = std::is_floating_point_v<T> || std::is_same_v<T, _Float16>;

/// work(std::type_identity<T>) with the C++ type of a dtype's elements.
template <class Work>
decltype(auto) with_element_type(DType dtype, Work&& work) {
  switch (dtype) {
    case DType::boolean: return work(std::type_identity<bool>{});
    case DType::i8: return work(std::type_identity<int8_t>{});
    case DType::i16: return work(std::type_identity<int16_t>{});
    case DType::i32: return work(std::type_identity<int32_t>{});
    case DType::i64: return work(std::type_identity<int64_t>{});
    case DType::u8: return work(std::type_identity<uint8_t>{});
    case DType::u16: return work(std::type_identity<uint16_t>{});
    case DType::u32: return work(std::type_identity<uint32_t>{});
    case DType::u64: return work(std::type_identity<uint64_t>{});
    case DType::f32: return work(std::type_identity<float>{});
    case DType::f64: return work(std::type_identity<double>{});
    case DType::f16: return work(std::type_identity<_Float16>{});
    case DType::c64: return work(std::type_identity<std::complex<float>>{});
    default: return work(std::type_identity<std::complex<double>>{});
  }
}

/// NumPy's order: NaN behind all numbers; complex numbers by their real, then their imaginary parts.
template <class T>
bool ordered_before(const T& a, const T& b) {
  if constexpr (is_real_element<T>) {
    return a < b || (b != b && a == a);
  } else if constexpr (std::is_class_v<T>) {
    const auto ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
    if (ar < br) return ai == ai || bi != bi;
    if (ar > br) return bi != bi && ai == ai;
    if (ar == br || (ar != ar && br != br)) return ai < bi || (bi != bi && ai == ai);
    return br != br;
  } else {
    return a < b;
  }
}

/// A number for each element of a type that is not complex, in whose order the elements are.
template <class T>
uint64_t order_key(T value) {
  if constexpr (is_real_element<T>) {
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
    if (value != value) return static_cast<Bits>(~Bits{0});
    const auto bits = std::bit_cast<Bits>(static_cast<T>(value + T{0}));  // -0.0 + 0.0 is 0.0
    return static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
  } else {
    return static_cast<uint64_t>(value);
  }
}

}  // namespace gasell
