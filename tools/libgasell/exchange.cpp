// Tables and arrays that change hands with other libraries: Arrow's C interfaces, DLPack.
#include <algorithm>

#include "lang/large_stack.h"
#include "runtime/io/arrow/plugin.h"
#include "runtime/session/objects.h"
#include "stdlib/pandas/arrow_stream.h"
#include "tools/array_values.h"
#include "tools/libgasell/device_memory.h"
#include "tools/libgasell/dlpack_abi.h"
#include "tools/libgasell/exchange.h"
#include "tools/libgasell/marshal.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

/// A function of the library's text _pandas, called with a value.
Value call_pandas(Interpreter& in, const char* name, Value argument) {
  Value function;
  run_on_large_stack([&] {
    try {
      function = get_attribute(in, in.import_module("_pandas", nullptr), name);
    } catch (const Raised& raised) {
      throw error_from_exception(in, raised.value);
    }
  });
  return in.call(function, {std::move(argument)});
}

/// Takes over a stream that is the caller's.
arrow::Stream moved(ArrowArrayStream* stream) {
  require(stream && stream->release, "a stream that was not released is wanted");
  arrow::Stream own;
  *own.get() = *stream;
  stream->release = nullptr;
  return own;
}

/// A stream of one array of records.
struct OnePiece {
  ArrowSchema schema;
  arrow::ArrayData array;
  bool schema_given = false;
};

constexpr uint64_t kReadOnly = 1;
// Types of devices (dlpack.h).
constexpr int32_t kHostMemory = 1, kCuda = 2, kCudaPinned = 3, kExtension = 12, kCudaManaged = 13;
constexpr uint64_t kDefaultStream = 1;

DType dtype_of(const DLDataType& type) {
  require(type.lanes == 1, "a tensor of vectors is no array");
  for (int k = 0; k < kDTypeCount; ++k) {
    const auto dtype = static_cast<DType>(k);
    const char kinds[] = {'i', 'u', 'f', 0, 0, 'c', 'b'};
    if (type.code < sizeof kinds && kind(dtype) == kinds[type.code] && type.bits == size_of(dtype) * 8) return dtype;
  }
  throw Error(
      "NotImplementedError",
      "arrays of the tensor's type (code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits) are not in Gasell", {},
      Blame::limitation);
}

DLDataType dl_type(DType dtype) {
  const char k = kind(dtype);
  const uint8_t code = k == 'i' ? 0 : k == 'u' ? 1 : k == 'f' ? 2 : k == 'c' ? 5 : 6;
  return {code, static_cast<uint8_t>(size_of(dtype) * 8), 1};
}

/// An array over a tensor's memory, whose deleter is called only once `armed`: until it has its place, the tensor is the caller's.
Array array_of_tensor(gasell_session& session, DLManagedTensorVersioned* tensor, const std::shared_ptr<bool>& armed) {
  require(tensor, "the tensor is NULL");
  require(tensor->version.major == 1, "the tensor is of another major version of DLPack than 1");
  const DLTensor& t = tensor->dl_tensor;
  const DType dtype = dtype_of(t.dtype);
  void* const data = static_cast<char*>(t.data) + t.byte_offset;
  const auto release = [armed, tensor] {
    if (*armed && tensor->deleter) tensor->deleter(tensor);
  };
  switch (t.device.device_type) {
    case kHostMemory:
    case kCudaPinned:
      require_memory(data, dtype, t.ndim, t.shape, t.strides);
      return array_over(session.engine, data, dtype, t.ndim, t.shape, t.strides, !(tensor->flags & kReadOnly), release);
    case kCuda:
    case kCudaManaged:
    case kExtension:  // a simulated GPU
      return array_over_gpu(session, data, dtype, t.ndim, t.shape, t.strides, t.device.device_id, kDefaultStream, release);
    default: throw InvalidArgument{"the tensor is neither in the host's memory nor in that of an NVIDIA GPU"};
  }
}

/// A tensor over an array's memory, which lives as long.
struct Lent {
  DLManagedTensorVersioned tensor{};
  std::vector<int64_t> shape;
  Array::Memory memory;  // of the host
  OnGpu on_gpu;          // or of a GPU
};

}  // namespace

namespace gasell::c_abi {

Value frame_of(gasell_session& session, arrow::Stream stream, arrow::Lender lender) {
  return call_pandas(session.interpreter, "frame_of_stream", Value::make<pandas::ArrowStream>(std::move(stream), std::move(lender)));
}

arrow::Stream stream_of(ArrowSchema& schema, ArrowArray& array) {
  auto piece = std::make_unique<OnePiece>();
  piece->schema = schema;
  *piece->array.get() = array;
  schema.release = nullptr;
  array.release = nullptr;
  arrow::Stream stream;
  stream->get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    auto& p = *static_cast<OnePiece*>(s->private_data);
    if (std::exchange(p.schema_given, true)) return 22;  // EINVAL
    *out = p.schema;
    return 0;
  };
  stream->get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    auto& p = *static_cast<OnePiece*>(s->private_data);
    *out = *p.array;
    p.array->release = nullptr;
    return 0;
  };
  stream->get_last_error = [](ArrowArrayStream*) -> const char* { return "its schema was asked for twice"; };
  stream->release = [](ArrowArrayStream* s) {
    auto* p = static_cast<OnePiece*>(s->private_data);
    if (!p->schema_given && p->schema.release) p->schema.release(&p->schema);
    delete p;
    s->release = nullptr;
  };
  stream->private_data = piece.release();
  return stream;
}

arrow::Stream stream_of_frame(gasell_value& value) {
  const Value result = call_pandas(value.session->interpreter, "stream_of_frame", value.value);
  return std::move(result.as<pandas::ArrowStream>()->stream);
}

}  // namespace gasell::c_abi

gasell_status gasell_bind_arrow(gasell_session* session, const char* name, ArrowSchema* schema, ArrowArray* array,
                                gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    require(schema && array && schema->release && array->release, "gasell_bind_arrow wants a schema and an array that were not released");
    require(schema->format && std::string_view(schema->format) == "+s", "a table is an array of records: its format is \"+s\"");
    session->interpreter.set_global(name, frame_of(*session, stream_of(*schema, *array)));
  });
}

gasell_status gasell_bind_arrow_stream(gasell_session* session, const char* name, ArrowArrayStream* stream, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    session->interpreter.set_global(name, frame_of(*session, moved(stream)));
  });
}

gasell_status gasell_make_frame(gasell_session* session, ArrowArrayStream* stream, gasell_value** value, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && value, "gasell_make_frame wants a session and a place for the value");
    *value = nullptr;
    *value = new gasell_value{session, frame_of(*session, moved(stream)), {}};
  });
}

gasell_status gasell_make_tensor(gasell_session* session, DLManagedTensorVersioned* tensor, gasell_value** value,
                                 gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && value, "gasell_make_tensor wants a session and a place for the value");
    *value = nullptr;
    const std::shared_ptr<bool> armed = std::make_shared<bool>(false);
    *value = new gasell_value{session, value_of(array_of_tensor(*session, tensor, armed)), {}};
    *armed = true;
  });
}

gasell_status gasell_value_arrow_stream(gasell_value* value, ArrowArrayStream* stream, gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && stream, "gasell_value_arrow_stream wants a value and a place for the stream");
    stream->release = nullptr;
    arrow::Stream made = stream_of_frame(*value);
    *stream = *made;
    made->release = nullptr;
  });
}

gasell_status gasell_bind_dlpack(gasell_session* session, const char* name, DLManagedTensorVersioned* tensor,
                                 gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    const std::shared_ptr<bool> armed = std::make_shared<bool>(false);
    session->interpreter.set_global(name, value_of(array_of_tensor(*session, tensor, armed)));
    *armed = true;
  });
}

gasell_status gasell_value_dlpack(gasell_value* value, DLManagedTensorVersioned** tensor, gasell_error** error) noexcept {
  return gasell_value_dlpack_on(value, kHostMemory, 0, tensor, error);
}

gasell_status gasell_value_dlpack_on(gasell_value* value, int device_type, int device, DLManagedTensorVersioned** tensor,
                                     gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && tensor, "gasell_value_dlpack wants a value and a place for the tensor");
    *tensor = nullptr;
    const std::optional<Array> array = array_of(value->value);
    if (!array) throw Error("TypeError", "a value of type '" + type_of(value->value).name + "' is not an array");
    auto lent = std::make_unique<Lent>();
    lent->shape = array->shape();
    void* data = nullptr;
    int64_t* strides = nullptr;
    if (device_type == kHostMemory) {
      const Array* const one[] = {&*array};
      settle(value->session->engine, one, {false});
      lent->memory = array->memory(false);
      data = lent->memory.data;
      strides = lent->memory.strides.data();
    } else {
      require(device_type == kCuda || device_type == kExtension, "arrays are given in the host's memory, or in that of an NVIDIA GPU");
      lent->on_gpu = on_gpu(*value->session, *array, device);
      require(lent->on_gpu.simulated == (device_type == kExtension),
              "the device of simulated GPUs is kDLExtDev (12), of others kDLCUDA (2)");
      data = lent->on_gpu.data;
      strides = lent->on_gpu.strides.data();
    }
    DLManagedTensorVersioned& t = lent->tensor;
    t.version = {1, 0};
    t.flags = kReadOnly;
    t.manager_ctx = lent.get();
    t.deleter = [](DLManagedTensorVersioned* self) { delete static_cast<Lent*>(self->manager_ctx); };
    t.dl_tensor = {
        data, {device_type, device_type == kHostMemory ? 0 : device}, array->rank(), dl_type(array->dtype()), lent->shape.data(), strides,
        0};
    *tensor = &lent.release()->tensor;
  });
}
