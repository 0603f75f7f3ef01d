#include "runtime/gpu/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "compiler/codegen/shared_library.h"

namespace gasell::cuda {
namespace {

/// Entries by name and version. cuGetProcAddress came with CUDA 11.3 and took a fifth parameter with 12.0, under another symbol.
class Resolver {
 public:
  explicit Resolver(void* library)
      : with_status_(reinterpret_cast<WithStatus>(dlsym(library, "cuGetProcAddress_v2"))),
        without_(reinterpret_cast<Without>(dlsym(library, "cuGetProcAddress"))) {}
  bool usable() const { return with_status_ || without_; }

  template <class F>
  void operator()(F*& entry, const char* name, int version) {
    constexpr uint64_t kLegacyStreams = 1;
    void* address = nullptr;
    ProcStatus status{};
    const Result result =
        with_status_ ? with_status_(name, &address, version, kLegacyStreams, &status) : without_(name, &address, version, kLegacyStreams);
    if (result == Result::success && address)
      entry = reinterpret_cast<F*>(address);
    else if (missing_.empty())
      missing_ = name;
  }
  /// The first name that was not found, or "".
  const std::string& missing() const { return missing_; }

 private:
  using WithStatus = Result (*)(const char*, void**, int, uint64_t, ProcStatus*);
  using Without = Result (*)(const char*, void**, int, uint64_t);
  WithStatus with_status_;
  Without without_;
  std::string missing_;
};

/// The number is the CUDA version at which the entry got the parameters that driver.h declares.
void resolve_all(Resolver& resolve, Driver& d) {
  resolve(d.get_error_name, "cuGetErrorName", 6000);
  resolve(d.get_error_string, "cuGetErrorString", 6000);
  resolve(d.driver_get_version, "cuDriverGetVersion", 2020);

  resolve(d.device_get, "cuDeviceGet", 2000);
  resolve(d.device_get_count, "cuDeviceGetCount", 2000);
  resolve(d.device_get_name, "cuDeviceGetName", 2000);
  resolve(d.device_get_attribute, "cuDeviceGetAttribute", 2000);
  resolve(d.device_total_mem, "cuDeviceTotalMem", 3020);
  resolve(d.device_can_access_peer, "cuDeviceCanAccessPeer", 4000);
  resolve(d.device_get_p2p_attribute, "cuDeviceGetP2PAttribute", 8000);

  resolve(d.primary_context_retain, "cuDevicePrimaryCtxRetain", 7000);
  resolve(d.primary_context_release, "cuDevicePrimaryCtxRelease", 11000);
  resolve(d.context_push_current, "cuCtxPushCurrent", 4000);
  resolve(d.context_pop_current, "cuCtxPopCurrent", 4000);
  resolve(d.context_enable_peer_access, "cuCtxEnablePeerAccess", 4000);

  resolve(d.stream_create, "cuStreamCreate", 2000);
  resolve(d.stream_destroy, "cuStreamDestroy", 4000);
  resolve(d.stream_synchronize, "cuStreamSynchronize", 2000);
  resolve(d.stream_query, "cuStreamQuery", 2000);
  resolve(d.stream_wait_event, "cuStreamWaitEvent", 3020);
  resolve(d.event_create, "cuEventCreate", 2000);
  resolve(d.event_destroy, "cuEventDestroy", 4000);
  resolve(d.event_record, "cuEventRecord", 2000);
  resolve(d.event_synchronize, "cuEventSynchronize", 2000);
  resolve(d.event_elapsed_time, "cuEventElapsedTime", 2000);

  resolve(d.mem_get_info, "cuMemGetInfo", 3020);
  resolve(d.mem_alloc, "cuMemAlloc", 3020);
  resolve(d.mem_free, "cuMemFree", 3020);
  resolve(d.mem_alloc_from_pool_async, "cuMemAllocFromPoolAsync", 11020);
  resolve(d.mem_free_async, "cuMemFreeAsync", 11020);
  resolve(d.pool_create, "cuMemPoolCreate", 11020);
  resolve(d.pool_destroy, "cuMemPoolDestroy", 11020);
  resolve(d.pool_set_attribute, "cuMemPoolSetAttribute", 11020);
  resolve(d.pool_get_attribute, "cuMemPoolGetAttribute", 11020);
  resolve(d.pool_set_access, "cuMemPoolSetAccess", 11020);
  resolve(d.pool_trim_to, "cuMemPoolTrimTo", 11020);

  resolve(d.pointer_get_attribute, "cuPointerGetAttribute", 4000);

  resolve(d.host_alloc, "cuMemHostAlloc", 2020);
  resolve(d.host_free, "cuMemFreeHost", 2000);

  resolve(d.memcpy_host_to_device_async, "cuMemcpyHtoDAsync", 3020);
  resolve(d.memcpy_device_to_host_async, "cuMemcpyDtoHAsync", 3020);
  resolve(d.memcpy_device_to_device_async, "cuMemcpyDtoDAsync", 3020);
  resolve(d.memcpy_peer_async, "cuMemcpyPeerAsync", 4000);
  resolve(d.memset_d8_async, "cuMemsetD8Async", 3020);

  resolve(d.link_create, "cuLinkCreate", 6050);
  resolve(d.link_add_data, "cuLinkAddData", 6050);
  resolve(d.link_complete, "cuLinkComplete", 5050);
  resolve(d.link_destroy, "cuLinkDestroy", 5050);
  resolve(d.module_load_data, "cuModuleLoadData", 2000);
  resolve(d.module_unload, "cuModuleUnload", 2000);
  resolve(d.module_get_function, "cuModuleGetFunction", 2000);
  resolve(d.module_get_global, "cuModuleGetGlobal", 3020);
  resolve(d.function_get_attribute, "cuFuncGetAttribute", 2020);
  resolve(d.function_set_attribute, "cuFuncSetAttribute", 9000);
  resolve(d.occupancy_max_active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050);
  resolve(d.launch_kernel, "cuLaunchKernel", 4000);
}

/// Results of cuInit, whose names the driver may not be able to give yet.
DriverStatus failed_start(DriverStatus status, Result result) {
  status.kind = DriverStatus::Kind::failed;
  const auto say = [&](const char* name, std::string problem, std::string remedy) {
    status.problem = fmt::format("{} ({})", problem, name);
    status.remedy = std::move(remedy);
    return status;
  };
  switch (result) {
    case Result::no_device: {
      status.kind = DriverStatus::Kind::no_device;
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      return say("CUDA_ERROR_NO_DEVICE", "the NVIDIA driver finds no GPU",
                 visible ? fmt::format("CUDA_VISIBLE_DEVICES is \"{}\": unset it to see all", visible)
                         : "nvidia-smi lists what is there; a container must be given the GPUs (docker run --gpus all)");
    }
    case Result::stub_library:
      return say("CUDA_ERROR_STUB_LIBRARY", fmt::format("{} is the toolkit's stub, not a driver", status.library),
                 "take the toolkit's stubs folder out of LD_LIBRARY_PATH and install the NVIDIA driver");
    case Result::system_driver_mismatch:
      return say("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "the NVIDIA driver's library and its kernel module are of different versions",
                 "restart the machine after a driver update; in a container, use the host's libcuda.so.1");
    case Result::compat_not_supported_on_device:
      return say("CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "the forward-compatibility libcuda.so.1 does not serve this GPU",
                 "take the cuda-compat folder out of LD_LIBRARY_PATH, or update the driver");
    case Result::system_not_ready:
      return say("CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready for GPU work",
                 "start the service nvidia-fabricmanager (NVSwitch machines need it)");
    case Result::operating_system:
      return say("CUDA_ERROR_OPERATING_SYSTEM", "the operating system refused the NVIDIA driver",
                 "look at the permissions of /dev/nvidia*; nvidia-smi shows the same fault");
    case Result::device_unavailable:
      return say("CUDA_ERROR_DEVICE_UNAVAILABLE", "the GPU is in exclusive use by another process", "nvidia-smi shows which");
    default:
      return say(fmt::format("CUDA error {}", static_cast<int>(result)).c_str(), "the NVIDIA driver does not start",
                 "nvidia-smi and the kernel's log (dmesg) show why");
  }
}

}  // namespace

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

LoadedDriver load_driver(const std::string& library) {
  LoadedDriver loaded;
  DriverStatus& status = loaded.status;
  status.library = library;
  const auto without = [&](DriverStatus::Kind kind, std::string problem, std::string remedy) {
    status.kind = kind;
    status.problem = std::move(problem);
    status.remedy = std::move(remedy);
    return loaded;
  };
  const auto too_old = [&] {
    const std::string found = status.version ? "serves CUDA " + version_text(status.version) : "is older than CUDA 2.2";
    return without(DriverStatus::Kind::too_old,
                   fmt::format("the NVIDIA driver {}; Gasell needs CUDA {} or newer", found, version_text(kOldestDriver)),
                   "update the driver (520 or newer)");
  };

  std::string said;
  void* handle = open_library(library, RTLD_NOW | RTLD_LOCAL, said);
  if (!handle) {
    const bool absent = said.starts_with(library) && said.find("No such file") != std::string_view::npos;  // else a library that it needs
    if (absent)
      return without(DriverStatus::Kind::missing, fmt::format("no NVIDIA driver found ({})", library),
                     "install NVIDIA's driver to use a GPU");
    return without(DriverStatus::Kind::missing, fmt::format("the NVIDIA driver does not open: {}", said), "reinstall NVIDIA's driver");
  }

  // These two are as old as the oldest driver, so that one which is too old can say so.
  const auto get_version = reinterpret_cast<Result (*)(int*)>(dlsym(handle, "cuDriverGetVersion"));
  const auto initialise = reinterpret_cast<Result (*)(unsigned)>(dlsym(handle, "cuInit"));
  if (!get_version || !initialise)
    return without(DriverStatus::Kind::failed, fmt::format("{} is not NVIDIA's driver", library), "reinstall NVIDIA's driver");
  if (get_version(&status.version) != Result::success) status.version = 0;
  if (status.version < kOldestDriver) {
    // The toolkit's stub says so rather than which version it is.
    if (status.version == 0)
      if (const Result result = initialise(0); result != Result::success) return loaded.status = failed_start(status, result), loaded;
    return too_old();
  }
  if (const Result result = initialise(0); result != Result::success) return loaded.status = failed_start(status, result), loaded;

  Resolver resolver(handle);
  if (!resolver.usable()) return too_old();
  resolve_all(resolver, loaded.entries);
  if (!resolver.missing().empty())
    return without(DriverStatus::Kind::failed,
                   fmt::format("the NVIDIA driver (CUDA {}) has no {}", version_text(status.version), resolver.missing()),
                   "reinstall or update the driver");
  if (const Result result = loaded.entries.device_get_count(&status.devices); result != Result::success)
    return loaded.status = failed_start(status, result), loaded;
  if (status.devices == 0) return loaded.status = failed_start(status, Result::no_device), loaded;
  status.kind = DriverStatus::Kind::ready;
  return loaded;
}

const LoadedDriver& process_driver() {
  static const LoadedDriver loaded = [] {
    const char* named = std::getenv("GASELL_LIBCUDA");
    return load_driver(named && *named ? named : "libcuda.so.1");
  }();
  return loaded;
}

std::string error_name(const Driver& driver, Result result) {
  const char* name = nullptr;
  if (driver.get_error_name && driver.get_error_name(result, &name) == Result::success && name) return name;
  return fmt::format("CUDA error {}", static_cast<int>(result));
}

}  // namespace gasell::cuda
