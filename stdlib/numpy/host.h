// The functions of the hidden module _numpy: what np needs and no graph says (sorting, scans, searches). They compute at once (long
// sorted vectors: when somebody reads them), on the host's cores or on GPUs; the library's .gsl files give them NumPy's arguments, dtype
// rules and messages.
#pragma once

#include <complex>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/primitives/lanes.h"
#include "runtime/primitives/order_keys.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

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

/// The int64 elements of an array in C order.
class Int64Elements {
 public:
  Int64Elements(Interpreter& in, const Value& v);
  int64_t size() const { return elements_.count; }
  int64_t operator[](int64_t k) const;
  const Shape& shape() const { return array_.shape(); }

 private:
  Array array_;
  Array::Elements elements_;
};

/// What a function of the library _gpu makes of vectors on GPUs that are in use; nothing where the host shall do it.
std::optional<Value> on_gpus(Interpreter& in, std::string_view function, std::vector<Value> arguments);

/// Throws Interrupted where the user asked for it: for loops that take long.
void check_interrupt(Interpreter& in);

/// The indices of what is not zero, one i64 array an axis.
Value nonzero(Interpreter& in, const Array& array);
/// a.flat: elements in C order, to read and to write.
Value flat_iterator(Array array);

std::vector<NativeFunction> sorting_functions();
std::vector<NativeFunction> scan_functions();
std::vector<NativeFunction> scatter_functions();
std::vector<NativeFunction> variance_functions();
std::vector<NativeFunction> view_functions();
std::vector<NativeFunction> object_functions();
/// Of the hidden module _linalg.
std::vector<NativeFunction> linalg_functions();
std::vector<NativeFunction> tall_linalg_functions();
std::vector<NativeFunction> linalg_form_functions();
/// Of the hidden module _fft.
std::vector<NativeFunction> transform_functions();

}  // namespace gasell::numpy

namespace gasell {
Value make_numpy_host(Interpreter& in);
Value make_linalg_host(Interpreter& in);
Value make_transforms_host(Interpreter& in);
}  // namespace gasell
