// Running totals, counts and convolution.
#include <algorithm>
#include <limits>

#include "stdlib/library.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/host.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

enum class ScanOp : uint8_t { add, multiply, maximum, minimum };

ScanOp scan_op(const std::string& name) {
  return name == "add" ? ScanOp::add : name == "multiply" ? ScanOp::multiply : name == "maximum" ? ScanOp::maximum : ScanOp::minimum;
}

/// Wrapping arithmetic of integers, NaN-keeping extremes.
template <class T>
T combine(ScanOp op, const T& a, const T& b) {
  if constexpr (std::is_same_v<T, bool>) {
    return op == ScanOp::add || op == ScanOp::maximum ? a || b : a && b;
  } else if constexpr (std::is_integral_v<T>) {
    using U = uint64_t;
    switch (op) {
      case ScanOp::add: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
      case ScanOp::multiply: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
      case ScanOp::maximum: return std::max(a, b);
      default: return std::min(a, b);
    }
  } else {
    switch (op) {
      case ScanOp::add: return a + b;
      case ScanOp::multiply: return a * b;
      case ScanOp::maximum: return a != a || (b == b && ordered_before(b, a)) ? a : b;
      default: return a != a || (b == b && ordered_before(a, b)) ? a : b;
    }
  }
}

/// As NumPy's: without a second look at infinities.
template <class T>
std::complex<T> combine(ScanOp op, const std::complex<T>& a, const std::complex<T>& b) {
  if (op == ScanOp::multiply) return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  return combine<std::complex<T>>(op, a, b);
}

/// accumulate(a, op, axis): out[i] = out[i - 1] op a[i], one after the other as NumPy does it, or, where that is the same, by a scan on
/// GPUs that are in use.
Value accumulate(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  if (a.rank() == 1 && a.size() > 0 && in.engine().gpus()) {
    Arguments of_scan;
    of_scan.positional = {wrap_array(a.node()), args[1]};
    Value result = call(in, *library_member(in, "_pandas", "gpu_accumulated"), std::move(of_scan));
    if (!result.is_none()) return with_chunks(std::move(result), a.requested_chunks());
  }
  const ScanOp op = scan_op(str(in, args[1]));
  const Lanes lanes(a.shape(), to_axis(in, args[2], a.rank()));
  const Array::Elements from = a.elements(in.engine());
  HostArray result(in, a.dtype(), a.shape());
  with_element_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* source = reinterpret_cast<const T*>(from.data);
    T* target = result.data<T>();
    for (int64_t o = 0; o < lanes.outer && lanes.extent > 0; ++o) {
      std::copy_n(source, lanes.inner, target);
      source += lanes.inner;
      target += lanes.inner;
      for (int64_t i = 1; i < lanes.extent; ++i) {
        if (i % 65536 == 0) check_interrupt(in);
        for (int64_t k = 0; k < lanes.inner; ++k) target[k] = combine(op, target[k - lanes.inner], source[k]);
        source += lanes.inner;
        target += lanes.inner;
      }
    }
  });
  return with_chunks(result.value(), a.requested_chunks());
}

/// scatter(a, positions, values, op): a copy of a where element positions[i] (in C order) took values[i], one after the other.
Value scatter(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const ScanOp op = scan_op(str(in, args[3]));
  const Array::Elements from = a.elements(in.engine()), at = as_array(in, args[1]).elements(in.engine()),
                        values = as_array(in, args[2]).elements(in.engine());
  HostArray result(in, a.dtype(), a.shape());
  with_element_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    std::copy_n(reinterpret_cast<const T*>(from.data), from.count, result.data<T>());
    for (int64_t i = 0; i < at.count; ++i) {
      T& place = result.data<T>()[reinterpret_cast<const int64_t*>(at.data)[i]];
      place = combine(op, place, reinterpret_cast<const T*>(values.data)[i]);
    }
  });
  return result.value();
}

/// bincount(x, weights, minlength): x i64 and not negative; weights f64 or None.
Value bincount(Interpreter& in, Args args) {
  const Array::Elements x = as_array(in, args[0]).elements(in.engine());
  const int64_t* value = reinterpret_cast<const int64_t*>(x.data);
  int64_t count = to_index(in, args[2]);
  for (int64_t i = 0; i < x.count; ++i) {
    if (value[i] < 0) raise("ValueError", "'list' argument must have no negative elements");
    count = std::max(count, value[i] < std::numeric_limits<int64_t>::max() ? value[i] + 1 : value[i]);  // either is more than memory holds
  }
  if (args[1].is_none()) {
    HostArray result(in, DType::i64, {count});
    std::fill_n(result.data<int64_t>(), count, 0);
    for (int64_t i = 0; i < x.count; ++i) ++result.data<int64_t>()[value[i]];
    return result.value();
  }
  const Array::Elements w = as_array(in, args[1]).elements(in.engine());
  HostArray result(in, DType::f64, {count});
  std::fill_n(result.data<double>(), count, 0.0);
  for (int64_t i = 0; i < x.count; ++i) result.data<double>()[value[i]] += reinterpret_cast<const double*>(w.data)[i];
  return result.value();
}

/// convolve(a, v): the whole discrete convolution of two vectors of one dtype.
Value convolve(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]), v = as_array(in, args[1]);
  const Array::Elements left = a.elements(in.engine()), right = v.elements(in.engine());
  const int64_t count = left.count + right.count - 1;
  HostArray result(in, a.dtype(), {count});
  with_element_type(a.dtype(), [&]<class T>(std::type_identity<T>) {
    const T *x = reinterpret_cast<const T*>(left.data), *y = reinterpret_cast<const T*>(right.data);
    T* target = result.data<T>();
    std::fill_n(target, count, T{});
    for (int64_t j = 0; j < right.count; ++j) {
      check_interrupt(in);
      for (int64_t i = 0; i < left.count; ++i) target[i + j] = combine(ScanOp::add, target[i + j], combine(ScanOp::multiply, x[i], y[j]));
    }
  });
  return result.value();
}

}  // namespace

std::vector<NativeFunction> scan_functions() {
  return {
      {"accumulate", "a, op, axis", accumulate, "Running sum, product, maximum or minimum."},
      {"scatter", "a, positions, values, op", scatter, "A copy with values combined into its elements, one after the other."},
      {"bincount", "x, weights, minlength", bincount, "How often each number is there, or the sums of their weights."},
      {"convolve", "a, v", convolve, "The whole convolution of two vectors of one dtype."},
  };
}

}  // namespace gasell::numpy
