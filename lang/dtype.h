// Element types: what an array holds, what a kernel computes in. NumPy 2's names and promotion.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gasell {

/// float16 holds and moves elements; operations on it are float32's, rounded afterwards (arithmetic_type()).
enum class DType : uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128, f16 };
inline constexpr int kDTypeCount = 14;

/// 'b', 'i', 'u', 'f' or 'c', as NumPy's dtype.kind.
char kind(DType type);
/// Bytes of one element.
int size_of(DType type);
/// NumPy's name: "bool", "int8", …, "complex128".
std::string_view name_of(DType type);
/// Accepts NumPy's names, its character codes ("f8", "<i4", "?") and Python's "int", "float", "complex", "bool".
std::optional<DType> dtype_from_name(std::string_view name);

inline bool is_integer(DType t) { return kind(t) == 'i' || kind(t) == 'u'; }
inline bool is_float(DType t) { return kind(t) == 'f'; }
inline bool is_complex(DType t) { return kind(t) == 'c'; }
inline bool is_signed(DType t) { return kind(t) == 'i'; }

/// np.result_type(a, b) for two array dtypes.
DType promote(DType a, DType b);
/// NEP 50: the dtype of an array (or NumPy scalar) `a` with a Python scalar of kind `weak` ('b', 'i', 'f', 'c').
DType promote_weak(DType a, char weak);
/// The real type of a complex one (c128 → f64); any other type itself.
DType real_of(DType type);
/// The complex type over a real one (f16, f32 → c64, all else → c128).
DType complex_of(DType type);
/// The type that computes for another: float32 for float16, else the type itself.
inline DType arithmetic_type(DType type) { return type == DType::f16 ? DType::f32 : type; }

/// One element of any dtype. Integers of every width are kept in `i` (u64 as its bit pattern); booleans as 0 or 1.
struct Scalar {
  DType type = DType::f64;
  int64_t i = 0;
  std::complex<double> c = 0;  // floats: the real part

  static Scalar of_bool(bool v) { return {DType::boolean, v ? 1 : 0, 0}; }
  static Scalar of_int(int64_t v, DType t = DType::i64) { return {t, v, 0}; }
  static Scalar of_float(double v, DType t = DType::f64) { return {t, 0, v}; }
  static Scalar of_complex(std::complex<double> v, DType t = DType::c128) { return {t, 0, v}; }

  bool is_integral() const { return kind(type) == 'b' || is_integer(type); }
  double as_double() const;
  /// C's conversion rules: integers wrap, floats truncate, complex drops its imaginary part, anything to bool is `!= 0`.
  Scalar cast(DType to) const;
  /// Reads or writes one element in native byte order.
  static Scalar load(const void* address, DType type);
  void store(void* address) const;
  /// Same type and same bits (NaN equals NaN, 0.0 differs from -0.0).
  bool same_bits(const Scalar& other) const;
};

}  // namespace gasell
