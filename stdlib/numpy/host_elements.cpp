// Ufuncs whose elements no kernel computes: greatest common divisors, and the parts of floats. They compute at once, on the host.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "stdlib/numpy/host.h"
#include "stdlib/numpy/ufunc_compositions.h"

namespace gasell::numpy::compositions {
namespace {

/// Without a sign, so that the least integer does not overflow.
template <class T>
auto magnitude(T x) {
  using U = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<U>(U{0} - static_cast<U>(x)) : static_cast<U>(x);
}

template <class T>
T greatest_common_divisor(T a, T b) {
  return static_cast<T>(std::gcd(magnitude(a), magnitude(b)));
}

/// Beyond what the type holds it wraps around, as the product of magnitudes does.
template <class T>
T least_common_multiple(T a, T b) {
  const uint64_t divisor = std::gcd(magnitude(a), magnitude(b));
  return divisor == 0 ? T{0} : static_cast<T>(magnitude(a) / divisor * magnitude(b));
}

/// The elements of operands in one shape, in C order.
struct Broadcast {
  Shape shape;
  std::vector<Array::Elements> elements;

  Broadcast(Interpreter& in, std::span<const NodeRef> operands) : shape(operands[0]->shape) {
    for (const NodeRef& x : operands) shape = graph::broadcast_shapes({shape, x->shape});
    for (const NodeRef& x : operands) elements.push_back(Array(graph::broadcast_to(x, shape)).elements(in.engine()));
  }
  template <class T>
  const T* data(size_t operand) const {
    return reinterpret_cast<const T*>(elements[operand].data);
  }
};

NodeRef node_of(const HostArray& array) { return array.value().as<NdArray>()->node(); }

template <class Work>
NodeRef integers(Interpreter& in, std::span<const NodeRef> operands, Work&& work) {
  const Broadcast x(in, operands);
  const DType dtype = operands[0]->dtype;
  HostArray result(in, dtype, x.shape);
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T *const first = x.data<T>(0), *const second = x.data<T>(1);
      T* const to = result.data<T>();
      over_rows(in.engine(), x.elements[0].count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = work(first[i], second[i]);
      });
    }
  });
  return node_of(result);
}

/// work(std::type_identity<T>) for float32 or float64.
template <class Work>
void with_float(DType dtype, Work&& work) {
  if (dtype == DType::f32)
    work(std::type_identity<float>{});
  else
    work(std::type_identity<double>{});
}

}  // namespace

void gcd(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results) {
  results[0] = integers(*in, operands, [](auto a, auto b) { return greatest_common_divisor(a, b); });
}
void lcm(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results) {
  results[0] = integers(*in, operands, [](auto a, auto b) { return least_common_multiple(a, b); });
}

/// Mantissas in [0.5, 1) and exponents, int32.
void frexp(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results) {
  const Broadcast x(*in, operands);
  HostArray mantissa(*in, operands[0]->dtype, x.shape), exponent(*in, DType::i32, x.shape);
  with_float(operands[0]->dtype, [&]<class T>(std::type_identity<T>) {
    const T* const from = x.data<T>(0);
    T* const mantissas = mantissa.data<T>();
    auto* const exponents = exponent.data<int32_t>();
    over_rows(in->engine(), x.elements[0].count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int e = 0;
        mantissas[i] = std::frexp(from[i], &e);
        exponents[i] = e;
      }
    });
  });
  results[0] = node_of(mantissa);
  results[1] = node_of(exponent);
}

/// x * 2**n, rounded once.
void ldexp(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results) {
  const NodeRef wide[] = {operands[0], graph::cast(operands[1], DType::i64)};
  const Broadcast x(*in, wide);
  HostArray result(*in, operands[0]->dtype, x.shape);
  with_float(operands[0]->dtype, [&]<class T>(std::type_identity<T>) {
    const T* const from = x.data<T>(0);
    const auto* const powers = x.data<int64_t>(1);
    T* const to = result.data<T>();
    over_rows(in->engine(), x.elements[0].count, [&](int64_t begin, int64_t end) {
      constexpr int64_t kBeyond = 100000;  // everything is 0 or infinite there
      for (int64_t i = begin; i < end; ++i) to[i] = std::ldexp(from[i], static_cast<int>(std::clamp(powers[i], -kBeyond, kBeyond)));
    });
  });
  results[0] = node_of(result);
}

}  // namespace gasell::numpy::compositions
