// cuda.to_device and its like: arrays of which GPUs have the newest copy. Storages keep track of that (runtime/gpu/gpu_memory.h), so a
// device array is an array like others that a script brings back by copy_to_host.
#include <fmt/format.h>

#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/numba/cuda.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;

DeviceArray& self(Args args) { return *args[0].as<DeviceArray>(); }

Value call_numpy(Interpreter& in, const char* name, std::vector<Value> arguments) {
  Arguments a;
  a.positional = std::move(arguments);
  return call(in, gasell::get_attribute(in, in.import_module("numpy", nullptr), name), std::move(a));
}

Value copy_to_host(Interpreter& in, Args args) {
  const Array& from = self(args).array;
  if (args[1].is_none()) return Value::make<numpy::NdArray>(Array(from.node()));
  auto* to = args[1].as<numpy::NdArray>();
  if (!to) raise("TypeError", "copy_to_host takes a NumPy array");
  if (to->array.shape() != from.shape() || to->array.dtype() != from.dtype())
    raise("ValueError", "copy_to_host takes an array of this one's shape and dtype");
  to->array.assign(in.engine(), from.node());
  return args[1];
}

Value copy_to_device(Interpreter& in, Args args) {
  const auto* from = args[1].as<numpy::NdArray>();
  if (!from) raise("TypeError", "copy_to_device takes an array");
  if (self(args).array.shape() != from->array.shape()) raise("ValueError", "copy_to_device takes an array of this one's shape");
  self(args).array.assign(in.engine(), from->array.node());
  return args[0];
}

/// A method of arrays whose result stays on the device.
template <const char* (*name)()>
Value through(Interpreter& in, Args args) {
  const Value plain = Value::make<numpy::NdArray>(self(args).array);
  Arguments a;
  a.positional = args[1].as<Tuple>()->items;
  return as_device_array(call(in, gasell::get_attribute(in, plain, name()), std::move(a)));
}
const char* reshape_name() { return "reshape"; }
const char* ravel_name() { return "ravel"; }
const char* transpose_name() { return "transpose"; }
const char* view_name() { return "view"; }

Value is_contiguous(Interpreter& in, Args args) {
  const Value flags = gasell::get_attribute(in, Value::make<numpy::NdArray>(self(args).array), "flags");
  return gasell::get_attribute(in, flags, "c_contiguous");
}

Value transposed(Interpreter& in, const Value& v) {
  return as_device_array(gasell::get_attribute(in, Value::make<numpy::NdArray>(v.as<DeviceArray>()->array), "T"));
}

Value to_device(Interpreter& in, Args args) {
  const Array from = numpy::as_array(in, args[0]);
  const Value* to = &args[3];
  if (!to->is_none()) {
    auto* target = to->as<DeviceArray>();
    if (!target) raise("TypeError", "to_device copies to a device array");
    target->array.assign(in.engine(), from.node());
    return *to;
  }
  return Value::make<DeviceArray>(Array(from.node()));
}

Value empty(Interpreter& in, const Value& shape, const Value& dtype) { return call_numpy(in, "empty", {shape, dtype}); }
Value device_array(Interpreter& in, Args args) { return as_device_array(empty(in, args[0], args[1])); }
Value host_array(Interpreter& in, Args args) { return empty(in, args[0], args[1]); }
Value device_array_like(Interpreter& in, Args args) {
  if (!args[0].as<numpy::NdArray>()) raise("TypeError", "an array is needed");
  return as_device_array(call_numpy(in, "empty_like", {args[0]}));
}
Value host_array_like(Interpreter& in, Args args) {
  if (!args[0].as<numpy::NdArray>()) raise("TypeError", "an array is needed");
  return call_numpy(in, "empty_like", {Value::make<numpy::NdArray>(args[0].as<numpy::NdArray>()->array)});
}
Value as_cuda_array(Interpreter&, Args args) {
  if (!args[0].as<numpy::NdArray>()) raise("TypeError", "*obj* doesn't implement the cuda array interface.");
  return as_device_array(args[0]);
}
Value is_cuda_array(Interpreter&, Args args) { return Value::of(args[0].as<DeviceArray>() != nullptr); }

}  // namespace

const gasell::Type& device_array_type() {
  static const gasell::Type t = [] {
    gasell::Type made{"DeviceNDArray", "numba.cuda.cudadrv.devicearray", &numpy::ndarray_type()};
    made.methods = {
        {"copy_to_host", "ary=None, stream=0", copy_to_host, "A NumPy array of its elements; or fills the one given."},
        {"copy_to_device", "ary, stream=0", copy_to_device, "Takes the elements of an array."},
        {"reshape", "*newshape, order='C'", through<reshape_name>, "A device array of another shape."},
        {"ravel", "*order", through<ravel_name>, "A one-dimensional device array."},
        {"transpose", "*axes", through<transpose_name>, "With other axes."},
        {"view", "*dtype", through<view_name>, "Of another dtype."},
        {"is_c_contiguous", "", is_contiguous, "Whether elements lie in C order without gaps."},
    };
    made.properties = {{"T", transposed, nullptr, "transposed"}};
    return made;
  }();
  return t;
}

const gasell::Type& DeviceArray::type() const { return device_array_type(); }
std::string DeviceArray::repr(Interpreter&) {
  return fmt::format("<numba.cuda.cudadrv.devicearray.DeviceNDArray object at {:#x}>", reinterpret_cast<uintptr_t>(this));
}
Value DeviceArray::get_item(Interpreter& in, const Value& index) { return as_device_array(NdArray::get_item(in, index)); }

Value as_device_array(const Value& v) {
  const auto* array = v.as<numpy::NdArray>();
  if (!array || v.as<DeviceArray>()) return v;
  return Value::make<DeviceArray>(array->array);
}

std::vector<NativeFunction> cuda_array_functions() {
  return {
      {"to_device", "obj, stream=0, copy=True, to=None", to_device, "An array for GPUs with the elements of this one."},
      {"device_array", "shape, dtype='float64', strides=None, order='C', stream=0", device_array, "An array for GPUs, not filled."},
      {"device_array_like", "ary, stream=0", device_array_like, "An array for GPUs of the same shape and dtype, not filled."},
      {"pinned_array", "shape, dtype='float64', strides=None, order='C'", host_array, "A NumPy array."},
      {"pinned_array_like", "ary", host_array_like, "A NumPy array of the same shape and dtype."},
      {"mapped_array", "shape, dtype='float64', strides=None, order='C', stream=0, portable=False, wc=False", host_array, "A NumPy array."},
      {"mapped_array_like", "ary, stream=0, portable=False, wc=False", host_array_like, "A NumPy array of the same shape and dtype."},
      {"managed_array", "shape, dtype='float64', strides=None, order='C', stream=0, attach_global=True", host_array, "A NumPy array."},
      {"as_cuda_array", "obj, sync=True", as_cuda_array, "The array as a device array over the same elements."},
      {"is_cuda_array", "obj", is_cuda_array, "Whether this is a device array."},
  };
}

}  // namespace gasell::numba
