#include "tools/libgasell/device_memory.h"

#include "runtime/gpu/gpu_device.h"
#include "runtime/session/objects.h"
#include "tools/array_values.h"
#include "tools/libgasell/marshal.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace gasell::c_abi {
namespace {

constexpr uint64_t kAllocated = 256;  // what GPUs allocate begins at multiples of it; kernels count on that of what they read

GpuDevice& gpus_of(gasell_session& session) {
  GpuDevice* const gpus = session.engine.chosen_gpus();
  require(gpus, "the session's engine computes on no GPU: memory of a GPU is for engines that do");
  return *gpus;
}

bool is_simulated(const GpuProperties& gpu) { return gpu.capability == 0; }

int gpu_numbered(const GpuDevice& gpus, int device) {
  for (int g = 0; g < gpus.count(); ++g)
    if (gpus.alive(g) && gpus.gpu(g).ordinal == device) return g;
  throw InvalidArgument{"the session's engine does not compute on GPU " + std::to_string(device)};
}

/// What GPUs do, where losing one is the caller's to hear of.
template <class Work>
auto on_gpus(Work&& work) {
  try {
    return work();
  } catch (const WorkLost&) {
    throw Error("RuntimeError", "a GPU was lost", "what it held has to be computed again", Blame::environment);
  }
}

}  // namespace

Array array_over_gpu(gasell_session& session, void* data, DType dtype, int rank, const int64_t* shape, const int64_t* strides, int device,
                     uint64_t stream, std::function<void()> release) {
  GpuDevice& gpus = gpus_of(session);
  require_memory(data, dtype, rank, shape, strides);
  const graph::Shape extents(shape, shape + rank);
  const std::vector<int64_t> steps = strides_of(rank, shape, strides);
  if (graph::size_of(extents) == 0) return Array::over(external(data, 0, false, std::move(release)), dtype, extents);
  const int64_t width = size_of(dtype);
  const auto [low, high] = reach_of(extents, steps);
  const GpuAddress first = reinterpret_cast<GpuAddress>(data) + static_cast<GpuAddress>(low * width);
  const GpuAddress begin = first & ~(kAllocated - 1);
  const auto before = static_cast<int64_t>(first - begin), bytes = before + (high - low) * width;
  const int g = gpus.gpu_with(first);
  require(g >= 0 && gpus.gpu_with(begin) == g && gpus.gpu_with(begin + static_cast<GpuAddress>(bytes) - 1) == g,
          "the address is not in the memory of a GPU that the session's engine computes on");
  require(device < 0 || gpus.gpu(g).ordinal == device, "the address is in the memory of another GPU");
  if (before % width != 0)
    throw Error("NotImplementedError", "elements of complex128 in a GPU's memory must begin at multiples of 16 bytes", {},
                Blame::limitation);
  auto storage = on_gpus([&] { return gpus.adopt(g, begin, bytes, stream, std::move(release)); });
  Array array(graph::buffer(std::move(storage), dtype, extents, steps, before / width - low));
  array.set_writable(false);
  return array;
}

void wait_for_event(gasell_session& session, int device, uint64_t event) {
  GpuDevice& gpus = gpus_of(session);
  on_gpus([&] { gpus.wait_for_foreign_event(gpu_numbered(gpus, device), event); });
}

OnGpu on_gpu(gasell_session& session, const Array& array, int device) {
  GpuDevice& gpus = gpus_of(session);
  const int g = gpu_numbered(gpus, device);
  return on_gpus([&] {
    const Array* const one[] = {&array};
    settle(session.engine, one, {false});
    Array::Place place = array.place();
    std::vector<StorageRef> storages{place.storage};
    make_ready(storages);
    auto storage = std::dynamic_pointer_cast<HostStorage>(storages.front());
    if (storage->is_shared() || storage->is_mapped()) {  // a GPU's copy of it does not stay
      place = {std::dynamic_pointer_cast<HostStorage>(gpus.allocate(array.size() * size_of(array.dtype()))), 0,
               graph::contiguous_strides(array.shape())};
      storage = place.storage;
      session.engine.force_into(array.node(), storage, place.strides, 0);
    }
    GpuDevice::Lent lent = gpus.lend(g, storage);
    const GpuAddress address = lent.address + static_cast<GpuAddress>(lent.address ? place.offset * size_of(array.dtype()) : 0);
    return OnGpu{reinterpret_cast<void*>(address), std::move(place.strides), std::move(storage), std::move(lent.hold),
                 is_simulated(gpus.gpu(g))};
  });
}

}  // namespace gasell::c_abi

gasell_status gasell_make_device_view(gasell_session* session, void* data, gasell_dtype dtype, int rank, const int64_t* shape,
                                      const int64_t* strides, int device, uint64_t stream, gasell_release release, void* context,
                                      gasell_value** value, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && value, "gasell_make_device_view wants a session and a place for the value");
    *value = nullptr;
    const auto armed = std::make_shared<bool>(false);
    Array array = array_over_gpu(*session, data, c_abi::dtype_of(dtype), rank, shape, strides, device, stream, [armed, release, context] {
      if (*armed && release) release(context);
    });
    *value = new gasell_value{session, value_of(std::move(array)), {}};
    *armed = true;
  });
}

gasell_status gasell_value_device_view(gasell_value* value, int device, gasell_dtype* dtype, int* rank, gasell_view* view,
                                       gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && dtype && rank && view, "gasell_value_device_view wants a value and places for what it gives");
    value->array = array_of(value->value);
    if (!value->array) throw Error("TypeError", "a value of type '" + type_of(value->value).name + "' is not an array");
    const Array& array = *value->array;
    value->on_gpu = on_gpu(*value->session, array, device);
    *dtype = static_cast<gasell_dtype>(array.dtype());
    *rank = array.rank();
    *view = {value->on_gpu.data, array.shape().data(), value->on_gpu.strides.data()};
  });
}
