#include "stdlib/numpy/exchange.h"

#include <cstring>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/session/bytes.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/memory_order.h"
#include "stdlib/numpy/methods.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

/// An array that waits in a capsule for whoever takes it.
class Capsule final : public Object {
 public:
  Capsule(Array a, std::string n) : array(std::move(a)), name(std::move(n)) {}
  const Type& type() const override {
    static const Type type{"PyCapsule", "builtins", &object_type()};
    return type;
  }
  std::string repr(Interpreter&) override {
    return fmt::format("<capsule object \"{}\" at {:#x}>", name, reinterpret_cast<uintptr_t>(this));
  }
  const Array array;
  std::string name;
};

/// "<f8": byte order, kind and bytes of an element.
std::string typestr(DType type) {
  const int64_t bytes = gasell::size_of(type);
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind(type), bytes);
}

/// Ready for memory() and place(); an array that can be written stays where it is from now on.
void settle_for_good(Interpreter& in, const Array& array) {
  const Array* const arrays[] = {&array};
  settle(in.engine(), arrays, {false});
  if (array.writable()) array.keep_place(in.engine());
}

Value strides_or_none(const Array& array, const std::vector<int64_t>& strides) {
  if (is_contiguous(array, false)) return {};
  Shape bytes = strides;
  for (int64_t& s : bytes) s *= gasell::size_of(array.dtype());
  return from_shape(bytes);
}

Value descr(DType type) { return make_list({make_tuple({make_str(""), make_str(typestr(type))})}); }

/// The dictionary of these entries, in their order.
Value make_interface(Interpreter& in, const std::vector<std::pair<const char*, Value>>& entries) {
  Value dict = make_dict();
  for (const auto& [name, value] : entries) dict.as<Dict>()->insert(in, make_str(name), value);
  return dict;
}

/// A view of all of an array: shares its memory, and is no owner.
Array all_of(const Array& array) {
  Array::Axes axes;
  for (int k = 0; k < array.rank(); ++k) axes.push_back({k, 0, 1});
  return array.view(array.shape(), std::move(axes), !array.writable());
}

Array copied(Interpreter& in, const Array& array) {
  const Array copy = ordered(array.node(), kept_order(array));
  copy.force(in.engine());
  return copy;
}

bool is_pair_of_ints(const Value& v) {
  const auto* pair = v.as<Tuple>();
  return pair && pair->items.size() == 2 && pair->items[0].is_int() && pair->items[1].is_int();
}

/// None, True and False.
bool wants_copy(Interpreter& in, const Value& v) { return !v.is_none() && gasell::truth(in, v); }

Value to_capsule(Interpreter& in, Args args) {
  const Array& array = args[0].as<NdArray>()->array;
  if (!args[1].is_none()) raise("RuntimeError", "NumPy only supports stream=None.");
  if (!args[2].is_none() && !is_pair_of_ints(args[2])) raise("TypeError", "max_version must be None or a tuple with two elements.");
  if (!args[3].is_none()) {
    if (!args[3].as<Tuple>()) raise("TypeError", "dl_device must be a tuple");
    if (!is_pair_of_ints(args[3]) || args[3].as<Tuple>()->items[0].as_int() != 1 || args[3].as<Tuple>()->items[1].as_int() != 0)
      raise("BufferError", "unsupported device requested");
  }
  const bool versioned = !args[2].is_none() && args[2].as<Tuple>()->items[0].as_int() >= 1;
  const bool copy = wants_copy(in, args[4]);
  if (!versioned && !copy && !array.writable())
    raise("BufferError",
          "Cannot export readonly array since signalling readonly is unsupported by DLPack (supported by newer DLPack version).");
  if (!copy) settle_for_good(in, array);
  return Value::make<Capsule>(copy ? copied(in, array) : array, versioned ? "dltensor_versioned" : "dltensor");
}

Value dlpack_device(Interpreter&, Args) { return make_tuple({Value::of(1), Value::of(0)}); }

Value from_dlpack(Interpreter& in, Args args) {
  if (!args[1].is_none() && !(args[1].as<Str>() && args[1].as<Str>()->value == "cpu"))
    raise("ValueError", "Device not understood. Only \"cpu\" is allowed, but received: " + str(in, args[1]));
  const auto* array = args[0].as<NdArray>();
  if (!array && type_of(args[0]).module == "pandas.arrays")
    raise("BufferError", "DLPack only supports signed/unsigned integers, float and complex dtypes.");
  if (!array) {
    const Type& type = type_of(args[0]);
    const bool plain = type.module.empty() || type.module == "builtins";
    raise("AttributeError", "'" + (plain ? "" : type.module + ".") + type.name + "' object has no attribute '__dlpack__'");
  }
  if (wants_copy(in, args[2])) return Value::make<NdArray>(all_of(copied(in, array->array)));
  settle_for_good(in, array->array);
  return Value::make<NdArray>(all_of(array->array));
}

/// np.frombuffer. bytes never change, so an array of its own that is read-only is as good as one over their memory.
Value from_buffer(Interpreter& in, Args args) {
  const DType dtype = to_dtype(in, args[1]).value_or(DType::f64);
  if (const auto* array = args[0].as<NdArray>(); array || args[0].as<ByteArray>())
    raise("NotImplementedError", fmt::format("np.frombuffer over the memory of {} is not in Gasell", array ? "an array" : "a bytearray"),
          array ? "x.view(dtype)" : "np.frombuffer(bytes(x), dtype) reads a copy");
  const std::string_view bytes = need_bytes(args[0]);
  const auto length = static_cast<int64_t>(bytes.size());
  const int64_t width = gasell::size_of(dtype);
  int64_t count = gasell::to_index(in, args[2]);
  const int64_t offset = gasell::to_index(in, args[3]);
  if (offset < 0 || offset > length)
    raise("ValueError", fmt::format("offset must be non-negative and no greater than buffer length ({})", length));
  if (count < 0) {
    if ((length - offset) % width != 0) raise("ValueError", "buffer size must be a multiple of element size");
    count = (length - offset) / width;
  } else if (count > (length - offset) / width) {
    raise("ValueError", "buffer is smaller than requested size");
  }
  HostArray copy(in, dtype, {count});
  std::memcpy(copy.data<char>(), bytes.data() + offset, static_cast<size_t>(count * width));
  Value result = copy.value();
  result.as<NdArray>()->array.set_writable(false);
  return result;
}

}  // namespace

Value to_bytes(Interpreter& in, Args args) {
  const bool scalar = !args[0].as<NdArray>();
  const Array& given = scalar ? as_array(in, args[0]) : args[0].as<NdArray>()->array;
  const AxisOrder axes = to_axis_order(in, args[1], given.rank(), &given);
  const Array::Elements elements = (axes.empty() ? given : transposed(given, axes)).elements(in.engine());
  return make_bytes(std::string(elements.data, static_cast<size_t>(elements.count * gasell::size_of(elements.dtype))));
}

Value array_interface(Interpreter& in, const Value& self) {
  const bool scalar = !self.as<NdArray>();
  const Value whole = scalar ? wrap_array(self.as<ArrayLike>()->node()) : self;
  const Array& array = whole.as<NdArray>()->array;
  settle_for_good(in, array);
  const Array::Memory memory = array.memory(false);
  std::vector<std::pair<const char*, Value>> entries{
      {"data", make_tuple({Value::of(static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory.data))), Value::of(!array.writable())})},
      {"strides", strides_or_none(array, memory.strides)},
      {"descr", descr(array.dtype())},
      {"typestr", make_str(typestr(array.dtype()))},
      {"shape", from_shape(array.shape())},
      {"version", Value::of(3)}};
  if (scalar) entries.emplace_back("__ref", whole);
  return make_interface(in, entries);
}

Value cuda_array_interface(Interpreter& in, const Value& self) {
  GpuDevice* const gpus = in.engine().chosen_gpus();
  if (!gpus || !self.as<NdArray>()) {
    const Type& type = type_of(self);
    raise("AttributeError", "'" + type.module + "." + type.name + "' object has no attribute '__cuda_array_interface__'");
  }
  const Array& array = self.as<NdArray>()->array;
  settle_for_good(in, array);
  const Array::Place place = array.place();
  int64_t address = 0;
  if (array.size() > 0) {
    GpuDevice::GridLaunch launch;
    launch.arrays = {{place.storage.get(), place.offset * gasell::size_of(array.dtype()), 0, place.storage->bytes(), false}};
    launch.notes = false;
    launch.start = [&](Gpu&, std::span<const GpuArray> bound) { address = static_cast<int64_t>(bound[0].base); };
    gpus->run_grid(launch);
    gpus->finish();
  }
  constexpr int64_t kDefaultStream = 1;  // nothing is under way there
  return make_interface(in, {{"shape", from_shape(array.shape())},
                             {"typestr", make_str(typestr(array.dtype()))},
                             {"descr", descr(array.dtype())},
                             {"stream", Value::of(kDefaultStream)},
                             {"version", Value::of(3)},
                             {"strides", strides_or_none(array, place.strides)},
                             {"data", make_tuple({Value::of(address), Value::of(!array.writable())})}});
}

Value from_capsule(Interpreter&, Args args) {
  auto* capsule = args[0].as<Capsule>();
  if (!capsule || !capsule->name.starts_with("dltensor")) raise("ValueError", "A DLPack tensor object cannot be consumed multiple times");
  capsule->name = "used_" + capsule->name;
  return Value::make<NdArray>(all_of(capsule->array));
}

std::vector<NativeFunction> exchange_methods() {
  return {
      {"__dlpack__", "*, stream=None, max_version=None, dl_device=None, copy=None", to_capsule,
       "A capsule that holds the array for another library."},
      {"__dlpack_device__", "", dlpack_device, "(1, 0): the host's memory."},
      {"tobytes", "order='C'", to_bytes, "The elements' memory as bytes, in C order or in Fortran's."},
  };
}

std::vector<NativeFunction> exchange_functions() {
  return {{"from_dlpack", "x, /, *, device=None, copy=None", from_dlpack, "An array over the memory of x, or of a copy."},
          {"frombuffer", "buffer, dtype=None, count=-1, offset=0, *, like: Refused=None", from_buffer,
           "A read-only vector of the numbers in bytes: `count` from the byte `offset` on, or all that are left."}};
}

}  // namespace gasell::numpy
