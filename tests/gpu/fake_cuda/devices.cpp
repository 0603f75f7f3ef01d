// Devices, contexts, names of errors.
#include <cstring>

#include "gpu/fake_cuda/state.h"

namespace fake_cuda {

Result driver_get_version(int* version) {
  *version = static_cast<int>(number("FAKE_CUDA_VERSION", 12040));  // before cuInit too
  return Result::success;
}

namespace {

Result get_error_name(Result result, const char** name) {
  static const std::map<Result, const char*> names = {{Result::invalid_value, "CUDA_ERROR_INVALID_VALUE"},
                                                      {Result::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                      {Result::device_unavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                                                      {Result::invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
                                                      {Result::no_binary_for_gpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                      {Result::ecc_uncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                                                      {Result::invalid_ptx, "CUDA_ERROR_INVALID_PTX"},
                                                      {Result::jit_compiler_not_found, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
                                                      {Result::unsupported_ptx_version, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                      {Result::not_found, "CUDA_ERROR_NOT_FOUND"},
                                                      {Result::illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                      {Result::launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                                                      {Result::launch_failed, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? Result::invalid_value : Result::success;
}
Result get_error_string(Result result, const char** text) {
  *text = "as the fake driver says";
  const char* name = nullptr;
  return get_error_name(result, &name);
}
Result device_get(DeviceOrdinal* device, int ordinal) {
  const Entry entry("cuDeviceGet", false);
  if (!entry) return entry.result();
  if (ordinal < 0 || ordinal >= fake.devices) return Result::invalid_device;
  *device = ordinal;
  return Result::success;
}
Result device_get_count(int* count) {
  const Entry entry("cuDeviceGetCount", false);
  *count = fake.devices;
  return entry.result();
}
Result device_get_name(char* name, int size, DeviceOrdinal) {
  const Entry entry("cuDeviceGetName", false);
  std::strncpy(name, "Fake H200", static_cast<size_t>(size));
  return entry.result();
}
Result device_get_attribute(int* value, DeviceAttribute attribute, DeviceOrdinal) {
  const Entry entry("cuDeviceGetAttribute", false);
  switch (attribute) {
    case DeviceAttribute::max_threads_per_block: *value = 1024; break;
    case DeviceAttribute::multiprocessors: *value = 4; break;
    case DeviceAttribute::compute_mode: *value = fake.compute_mode; break;
    case DeviceAttribute::memory_clock_khz: *value = 3'201'000; break;
    case DeviceAttribute::memory_bus_bits: *value = 6144; break;
    case DeviceAttribute::capability_major: *value = 9; break;
    case DeviceAttribute::capability_minor: *value = 0; break;
    case DeviceAttribute::max_shared_per_block_opt_in: *value = 227 << 10; break;
    case DeviceAttribute::pools_supported: *value = fake.pools; break;
    default: return Result::invalid_value;
  }
  return entry.result();
}
Result device_total_mem(size_t* bytes, DeviceOrdinal) {
  const Entry entry("cuDeviceTotalMem", false);
  *bytes = static_cast<size_t>(fake.memory);
  return entry.result();
}
Result device_can_access_peer(int* can, DeviceOrdinal device, DeviceOrdinal peer) {
  const Entry entry("cuDeviceCanAccessPeer", false);
  *can = fake.peer && device != peer;
  return entry.result();
}
Result device_get_p2p_attribute(int* value, PeerAttribute, DeviceOrdinal, DeviceOrdinal) {
  const Entry entry("cuDeviceGetP2PAttribute", false);
  *value = fake.peer;
  return entry.result();
}
Result primary_context_retain(Context* context, DeviceOrdinal device) {
  const Entry entry("cuDevicePrimaryCtxRetain", false);
  if (!entry) return entry.result();
  if (fake.retain != Result::success) return fake.retain;
  while (static_cast<int>(fake.contexts.size()) <= device)
    fake.contexts.push_back(std::make_unique<ContextObject>(ContextObject{static_cast<int>(fake.contexts.size())}));
  ++fake.retained[device];
  *context = fake.contexts[static_cast<size_t>(device)].get();
  return Result::success;
}
Result primary_context_release(DeviceOrdinal device) {
  const Entry entry("cuDevicePrimaryCtxRelease", false);
  if (!fake.retained.contains(device)) return Result::invalid_context;
  if (--fake.retained[device] == 0) fake.retained.erase(device);
  if (fake.retained.empty() && fake.sticky != Result::success) drop_all();
  return entry.result();
}
Result context_push_current(Context context) {
  const Entry entry("cuCtxPushCurrent", false);
  if (!entry) return entry.result();
  if (!context || !fake.retained.contains(context->device)) return Result::invalid_context;
  current.push_back(context);
  return Result::success;
}
Result context_pop_current(Context* context) {
  const Entry entry("cuCtxPopCurrent", false);
  if (current.empty()) return Result::invalid_context;
  *context = current.back();
  current.pop_back();
  return entry.result();
}
Result context_enable_peer_access(Context peer, unsigned) {
  const Entry entry("cuCtxEnablePeerAccess");
  if (!entry) return entry.result();
  return fake.peer && peer != current.back() ? Result::success : Result::invalid_device;
}

}  // namespace

std::vector<Symbol> devices_entries() {
  return {
      symbol("cuDriverGetVersion", 2020, driver_get_version),
      symbol("cuGetErrorName", 6000, get_error_name),
      symbol("cuGetErrorString", 6000, get_error_string),
      symbol("cuDeviceGet", 2000, device_get),
      symbol("cuDeviceGetCount", 2000, device_get_count),
      symbol("cuDeviceGetName", 2000, device_get_name),
      symbol("cuDeviceGetAttribute", 2000, device_get_attribute),
      symbol("cuDeviceTotalMem", 3020, device_total_mem),
      symbol("cuDeviceCanAccessPeer", 4000, device_can_access_peer),
      symbol("cuDeviceGetP2PAttribute", 8000, device_get_p2p_attribute),
      symbol("cuDevicePrimaryCtxRetain", 7000, primary_context_retain),
      symbol("cuDevicePrimaryCtxRelease", 11000, primary_context_release),
      symbol("cuCtxPushCurrent", 4000, context_push_current),
      symbol("cuCtxPopCurrent", 4000, context_pop_current),
      symbol("cuCtxEnablePeerAccess", 4000, context_enable_peer_access),
  };
}

}  // namespace fake_cuda
