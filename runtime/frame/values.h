// A column's values by their C++ type, for loops over rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "lang/diagnostic.h"
#include "runtime/frame/column.h"

namespace gasell::frame {

/// Reads rows of a column of numbers, or of times (`kTime`).
template <class T, bool kTime = false>
struct Values {
  using Type = T;
  static constexpr bool kIsTime = kTime;
  static constexpr bool kIsFloat = std::is_floating_point_v<T>;
  const T* values;
  const bool* valid;

  /// False where the value is missing.
  bool get(int64_t row, T& value) const {
    value = values[row];
    if constexpr (kIsFloat) {
      if (value != value) return false;
    } else if constexpr (kTime) {
      if (value == kNotATime) return false;
    }
    return !valid || valid[row];
  }
};

/// f(Values<T>) for what the column holds: numbers by their type, codes as int32 (missing below zero: see CodeValues), times as int64.
template <class F>
decltype(auto) visit_values(const ColumnType& type, const ColumnData& data, const F& f) {
  if (type.is_time()) return f(Values<int64_t, true>{data.as<int64_t>(), data.valid});
  const auto as = [&]<class T>(T) { return Values<T>{data.as<T>(), data.valid}; };
  switch (type.dtype) {
    case DType::boolean: return f(as(bool{}));
    case DType::i8: return f(as(int8_t{}));
    case DType::i16: return f(as(int16_t{}));
    case DType::i32: return f(as(int32_t{}));
    case DType::i64: return f(as(int64_t{}));
    case DType::u8: return f(as(uint8_t{}));
    case DType::u16: return f(as(uint16_t{}));
    case DType::u32: return f(as(uint32_t{}));
    case DType::u64: return f(as(uint64_t{}));
    case DType::f32: return f(as(float{}));
    case DType::f64: return f(as(double{}));
    default: throw Error("NotImplementedError", "complex columns are not in Gasell's frames", "use their real and imaginary parts");
  }
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::i16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::u16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::u32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::u64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else
    return DType::f64;
}

}  // namespace gasell::frame
