// The functions of the hidden module _numpy: what np needs and no graph says (sorting, scans, searches). They compute at once, on the host,
// in plain loops; the library's .gsl files give them NumPy's arguments, dtype rules and messages.
#pragma once

#include <complex>
#include <type_traits>
#include <vector>

#include "runtime/device/device.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// work(std::type_identity<T>) with the C++ type of a dtype.
template <class Work>
auto with_type(DType dtype, Work&& work) {
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
    case DType::c64: return work(std::type_identity<std::complex<float>>{});
    default: return work(std::type_identity<std::complex<double>>{});
  }
}

/// NumPy's order: NaN behind all numbers; complex numbers by their real, then their imaginary parts.
template <class T>
bool ordered_before(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
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

/// New memory in C order: fill data(), then take the value.
class HostArray {
 public:
  HostArray(Interpreter& in, DType dtype, Shape shape);
  template <class T>
  T* data() {
    return static_cast<T*>(storage_->write());
  }
  Value value() const;

 private:
  DType dtype_;
  Shape shape_;
  HostStorageRef storage_;
};

/// An array's shape around one axis: element (outer, i, inner) is at (outer * extent + i) * inner_count + inner.
struct Lanes {
  int64_t outer = 1, extent = 1, inner = 1;
  Lanes(const Shape& shape, int axis);
};

/// Throws Interrupted where the user asked for it: for loops that take long.
void check_interrupt(Interpreter& in);

/// The indices of what is not zero, one i64 array an axis.
Value nonzero(Interpreter& in, const Array& array);
/// a.flat: elements in C order, to read and to write.
Value flat_iterator(Array array);

std::vector<NativeFunction> sorting_functions();
std::vector<NativeFunction> scan_functions();
std::vector<NativeFunction> view_functions();
std::vector<NativeFunction> object_functions();
/// Of the hidden module _linalg.
std::vector<NativeFunction> linalg_functions();

}  // namespace gasell::numpy

namespace gasell {
Value make_numpy_host(Interpreter& in);
Value make_linalg_host(Interpreter& in);
}  // namespace gasell
