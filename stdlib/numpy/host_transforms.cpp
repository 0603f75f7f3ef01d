// Fourier, cosine and sine transforms on the host. Arrays have their dtype and their extents already, and axes are in range; what depends
// on other dtypes, lengths and options is in fft/*.gsl.
#include "runtime/gpu/gpu_device.h"
#include "runtime/primitives/operator_report.h"
#include "runtime/transforms/roots.h"
#include "runtime/transforms/transform.h"
#include "stdlib/numpy/host.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;
using transforms::Kind;

transforms::Strided<void> strided(HostArray& array, const Shape& shape) {
  return {array.data<void>(), shape, graph::contiguous_strides(shape)};
}

std::vector<int> axes_of(Interpreter& in, const Value& v) {
  std::vector<int> axes;
  for (const Value& axis : to_vector(in, v)) axes.push_back(static_cast<int>(to_index(in, axis)));
  return axes;
}

/// One call's array and options.
struct Call {
  Call(Interpreter& interpreter, const Value& v, const Value& axis_list, const Value& factor, const Value& workers)
      : in(interpreter),
        array(as_array(in, v)),
        elements(array.elements(in.engine())),
        axes(axes_of(in, axis_list)),
        cores{in.engine(), static_cast<int>(to_index(in, workers))} {
    transform.single = real_of(array.dtype()) == DType::f32;
    transform.factor = to_double(in, factor);
  }
  transforms::Strided<const void> input() const { return {elements.data, array.shape(), graph::contiguous_strides(array.shape())}; }
  void run(const transforms::Strided<const void>& from, const transforms::Strided<void>& to, int axis) {
    transforms::transform(cores, transform, from, to, axis);
    transform.factor = 1;
  }
  /// Along the axes before the last one, of what is in `to` already.
  void run_others(const transforms::Strided<void>& to) {
    for (size_t k = axes.size() - 1; k-- > 0;) run({to.data, to.shape, to.steps}, to, axes[k]);
  }

  Interpreter& in;
  Array array;
  Array::Elements elements;
  std::vector<int> axes;
  transforms::Cores cores;
  transforms::Transform transform{.kind = Kind::complex, .single = false};
};

/// complex(a, axes, forward, factor, workers): of complex numbers.
Value complex(Interpreter& in, Args args) {
  Call call(in, args[0], args[1], args[3], args[4]);
  call.transform.forward = truth(in, args[2]);
  HostArray result(in, call.array.dtype(), call.array.shape());
  const auto to = strided(result, call.array.shape());
  call.run(call.input(), to, call.axes.back());
  call.run_others(to);
  return result.value();
}

/// from_real(a, axes, factor, workers): real numbers along the last of the axes, then complex ones along the others.
Value from_real(Interpreter& in, Args args) {
  Call call(in, args[0], args[1], args[2], args[3]);
  const int last = call.axes.back();
  Shape shape = call.array.shape();
  shape[static_cast<size_t>(last)] = shape[static_cast<size_t>(last)] / 2 + 1;
  const DType dtype = complex_of(call.array.dtype());
  HostArray result(in, dtype, shape);
  const auto to = strided(result, shape);
  call.transform.kind = Kind::real_to_complex;
  call.run(call.input(), to, last);
  call.transform.kind = Kind::complex;
  call.run_others(to);
  return result.value();
}

/// The elements beyond the first n / 2 + 1 along an axis, which are the conjugates of those before.
template <class T>
void fill_whole(const transforms::Cores& cores, std::complex<T>* data, const Shape& shape, int axis) {
  const Lanes lanes(shape, axis);
  const int64_t n = lanes.extent, missing = n - (n / 2 + 1), inner = lanes.inner;
  if (missing == 0 || inner == 0) return;
  const auto fill = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t o = row / missing, k = row % missing + 1;
      const std::complex<T>* const from = data + (o * n + k) * inner;
      std::complex<T>* const to = data + (o * n + n - k) * inner;
      for (int64_t i = 0; i < inner; ++i) to[i] = {from[i].real(), T(0) - from[i].imag()};  // whose zeros have no sign
    }
  };
  transforms::share_ranges(cores, lanes.outer * missing, fill, std::max<int64_t>(1, (int64_t{1} << 16) / inner));
}

/// whole_from_real(a, axes, forward, factor, workers): what complex() makes of real numbers.
Value whole_from_real(Interpreter& in, Args args) {
  Call call(in, args[0], args[1], args[3], args[4]);
  call.transform.forward = truth(in, args[2]);
  const int last = call.axes.back();
  const DType dtype = complex_of(call.array.dtype());
  HostArray result(in, dtype, call.array.shape());
  const auto to = strided(result, call.array.shape());
  transforms::Strided<void> half = to;
  half.shape[static_cast<size_t>(last)] = half.shape[static_cast<size_t>(last)] / 2 + 1;
  call.transform.kind = Kind::real_to_complex;
  call.run(call.input(), half, last);
  if (dtype == DType::c64)
    fill_whole(call.cores, result.data<std::complex<float>>(), to.shape, last);
  else
    fill_whole(call.cores, result.data<std::complex<double>>(), to.shape, last);
  call.transform.kind = Kind::complex;
  call.run_others(to);
  return result.value();
}

/// to_real(a, axes, n, factor, workers): backwards; n elements along the last of the axes.
Value to_real(Interpreter& in, Args args) {
  Call call(in, args[0], args[1], args[3], args[4]);
  const int last = call.axes.back();
  call.transform.forward = false;
  Shape shape = call.array.shape();
  shape[static_cast<size_t>(last)] = to_index(in, args[2]);
  const DType dtype = real_of(call.array.dtype());
  HostArray result(in, dtype, shape);
  const auto to = strided(result, shape);
  transforms::Strided<const void> from = call.input();
  std::optional<HostArray> between;
  for (size_t k = 0; k + 1 < call.axes.size(); ++k) {
    if (!between) between.emplace(in, call.array.dtype(), call.array.shape());
    const auto there = strided(*between, call.array.shape());
    call.run(from, there, call.axes[k]);
    from = {there.data, there.shape, there.steps};
  }
  call.transform.kind = Kind::complex_to_real;
  call.run(from, to, last);
  return result.value();
}

/// by_gpu_library(a, axes, kind, n): the same of an array on a GPU by its library, unscaled: kind "forward", "backward" (of complex
/// numbers), "half" (from_real), "first half" (the same at the beginning of what "forward" gives, whose rest is left as it is), or "back"
/// (to_real), which uses a up. None where the GPUs have none, or it does not take the array.
Value by_gpu_library(Interpreter& in, Args args) {
  GpuDevice* const gpus = in.engine().chosen_gpus();
  if (!gpus || !gpus->library(GpuLibrary::transforms)) return {};
  const Array array = as_array(in, args[0]);
  const std::vector<int> axes = axes_of(in, args[1]);
  const std::string name = str(in, args[2]);
  const auto kind = name == "half" || name == "first half" ? GpuTransform::Kind::real_to_complex
                    : name == "back"                       ? GpuTransform::Kind::complex_to_real
                    : name == "backward"                   ? GpuTransform::Kind::backward
                                                           : GpuTransform::Kind::forward;
  const bool back = name == "back";
  Shape shape = array.shape(), result = shape;
  const auto last = static_cast<size_t>(axes.back());
  if (name == "half") result[last] = shape[last] / 2 + 1;
  if (back) shape[last] = result[last] = to_index(in, args[3]);
  const DType dtype = back ? real_of(array.dtype()) : complex_of(array.dtype());
  OperatorTimer timer("Fourier transform", array.size());
  const Array* const arrays[] = {&array};
  settle(in.engine(), arrays, {back});
  const Array::Place from = array.place();
  const auto memory = std::dynamic_pointer_cast<HostStorage>(in.engine().allocate(graph::bytes_of(result, dtype)));
  const std::vector<int64_t> steps = graph::contiguous_strides(result);
  try {
    if (!gpus->transform(kind, real_of(dtype) == DType::f32, shape, axes, {from.storage.get(), from.offset, from.strides},
                         {memory.get(), 0, steps}))
      return {};
  } catch (const WorkLost&) {
    gpus->abandon();
    return {};
  }
  timer.finish(graph::size_of(result), gpus->library(GpuLibrary::transforms), "GPU");
  return wrap_array(graph::buffer(memory, dtype, result, steps, 0));
}

/// cosine(a, axes, sine, type, factor, orthogonal, workers): of real numbers.
Value cosine(Interpreter& in, Args args) {
  Call call(in, args[0], args[1], args[4], args[6]);
  call.transform.kind = truth(in, args[2]) ? Kind::sine : Kind::cosine;
  call.transform.type = static_cast<int>(to_index(in, args[3]));
  call.transform.orthogonal = truth(in, args[5]);
  HostArray result(in, call.array.dtype(), call.array.shape());
  const auto to = strided(result, call.array.shape());
  call.run(call.input(), to, call.axes.back());
  call.run_others(to);
  return result.value();
}

/// roots(n, count, step): exp(2πi k / n) for k = 0, step, 2 step, …, complex128.
Value roots(Interpreter& in, Args args) {
  const int64_t n = to_index(in, args[0]), count = to_index(in, args[1]), step = to_index(in, args[2]);
  HostArray result(in, DType::c128, {count});
  auto* const to = result.data<std::complex<double>>();
  const transforms::Roots table(n);
  for (int64_t k = 0; k < count; ++k) to[k] = table[k * step % n];
  return result.value();
}

}  // namespace

std::vector<NativeFunction> transform_functions() {
  return {
      {"complex", "a, axes, forward, factor, workers", complex, "Fourier transforms of complex numbers."},
      {"whole_from_real", "a, axes, forward, factor, workers", whole_from_real, "Fourier transforms of real numbers."},
      {"from_real", "a, axes, factor, workers", from_real, "Fourier transforms of real numbers: the half that says all."},
      {"to_real", "a, axes, n, factor, workers", to_real, "Back from that half."},
      {"by_gpu_library", "a, axes, kind, n=0", by_gpu_library, "Fourier transforms by the GPU's library, or None."},
      {"roots", "n, count, step", roots, "Roots of unity."},
      {"cosine", "a, axes, sine, type, factor, orthogonal, workers", cosine, "Cosine and sine transforms of types 1 to 4."},
  };
}

}  // namespace gasell::numpy
