// NVIDIA's driver (libcuda.so.1), opened at run time: nothing of CUDA is needed to build Gasell or to run it on the host alone.
//
// The declarations are our own, of the entries we use and no others. Each entry stands for one version of its ABI, the CUDA version at
// which that version came; tests/gpu/cuda_abi_test.cpp holds them against NVIDIA's cuda.h where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gasell::cuda {

using DeviceOrdinal = int;
using DevicePointer = unsigned long long;
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using Pool = struct PoolObject*;
using Link = struct LinkObject*;

/// The results we tell apart; others are shown by the driver's own name.
enum class Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  deinitialized = 4,
  stub_library = 34,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  ecc_uncorrectable = 214,
  invalid_ptx = 218,
  nvlink_uncorrectable = 220,
  jit_compiler_not_found = 221,
  unsupported_ptx_version = 222,
  jit_compilation_disabled = 223,
  contained = 226,
  operating_system = 304,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  context_is_destroyed = 709,
  device_assert = 710,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_program_counter = 718,
  launch_failed = 719,
  tensor_memory_leak = 721,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  compat_not_supported_on_device = 804,
  mps_client_terminated = 810,
  unknown = 999,
};

enum class PointerAttribute : int { device_ordinal = 9 };

enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  multiprocessors = 16,
  compute_mode = 20,
  memory_clock_khz = 36,
  memory_bus_bits = 37,
  capability_major = 75,
  capability_minor = 76,
  max_shared_per_block_opt_in = 97,
  pools_supported = 115,
};
enum class ComputeMode : int { shared = 0, prohibited = 2, exclusive_process = 3 };
enum class PeerAttribute : int { performance_rank = 1, access_supported = 2, native_atomics = 3 };
enum class FunctionAttribute : int {
  max_threads_per_block = 0,
  shared_bytes = 1,
  constant_bytes = 2,
  local_bytes = 3,
  registers = 4,
  ptx_version = 5,
  binary_version = 6,
  cache_mode_ca = 7,
  max_dynamic_shared_bytes = 8,
  preferred_shared_carveout = 9,
};
enum class PoolAttribute : int { release_threshold = 4, reserved_bytes = 5 };
enum class JitOption : int { error_log = 5, error_log_bytes = 6 };
enum class JitInput : int { ptx = 1 };
enum class ProcStatus : int { success = 0 };

enum class AllocationType : int { pinned = 1 };
enum class HandleType : int { none = 0 };
enum class LocationType : int { device = 1 };
enum class AccessFlags : int { read_write = 3 };
struct Location {
  LocationType type;
  int id;
};
struct PoolProperties {
  AllocationType type;
  HandleType handles;
  Location location;
  void* windows_security;
  size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};
struct AccessDescription {
  Location location;
  AccessFlags flags;
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventTimed = 0, kEventDisableTiming = 2;
inline constexpr unsigned kHostPortable = 1;

/// The driver's entries. All of them are there in a driver of kOldestDriver or newer.
struct Driver {
  Result (*get_error_name)(Result, const char** name);
  Result (*get_error_string)(Result, const char** text);
  Result (*driver_get_version)(int* version);

  Result (*device_get)(DeviceOrdinal* device, int ordinal);
  Result (*device_get_count)(int* count);
  Result (*device_get_name)(char* name, int size, DeviceOrdinal device);
  Result (*device_get_attribute)(int* value, DeviceAttribute attribute, DeviceOrdinal device);
  Result (*device_total_mem)(size_t* bytes, DeviceOrdinal device);
  Result (*device_can_access_peer)(int* can, DeviceOrdinal device, DeviceOrdinal peer);
  Result (*device_get_p2p_attribute)(int* value, PeerAttribute attribute, DeviceOrdinal from, DeviceOrdinal to);

  Result (*primary_context_retain)(Context* context, DeviceOrdinal device);
  Result (*primary_context_release)(DeviceOrdinal device);
  Result (*context_push_current)(Context context);
  Result (*context_pop_current)(Context* context);
  Result (*context_enable_peer_access)(Context peer, unsigned flags);

  Result (*stream_create)(Stream* stream, unsigned flags);
  Result (*stream_destroy)(Stream stream);
  Result (*stream_synchronize)(Stream stream);
  Result (*stream_query)(Stream stream);
  Result (*stream_wait_event)(Stream stream, Event event, unsigned flags);
  Result (*event_create)(Event* event, unsigned flags);
  Result (*event_destroy)(Event event);
  Result (*event_record)(Event event, Stream stream);
  Result (*event_synchronize)(Event event);
  Result (*event_elapsed_time)(float* milliseconds, Event from, Event to);

  Result (*mem_get_info)(size_t* free, size_t* total);
  Result (*mem_alloc)(DevicePointer* address, size_t bytes);
  Result (*mem_free)(DevicePointer address);
  Result (*mem_alloc_from_pool_async)(DevicePointer* address, size_t bytes, Pool pool, Stream stream);
  Result (*mem_free_async)(DevicePointer address, Stream stream);
  Result (*pool_create)(Pool* pool, const PoolProperties* properties);
  Result (*pool_destroy)(Pool pool);
  Result (*pool_set_attribute)(Pool pool, PoolAttribute attribute, void* value);
  Result (*pool_get_attribute)(Pool pool, PoolAttribute attribute, void* value);
  Result (*pool_set_access)(Pool pool, const AccessDescription* descriptions, size_t count);
  Result (*pool_trim_to)(Pool pool, size_t keep_bytes);

  Result (*pointer_get_attribute)(void* value, PointerAttribute attribute, DevicePointer address);

  Result (*host_alloc)(void** address, size_t bytes, unsigned flags);
  Result (*host_free)(void* address);

  Result (*memcpy_host_to_device_async)(DevicePointer to, const void* from, size_t bytes, Stream stream);
  Result (*memcpy_device_to_host_async)(void* to, DevicePointer from, size_t bytes, Stream stream);
  Result (*memcpy_device_to_device_async)(DevicePointer to, DevicePointer from, size_t bytes, Stream stream);
  Result (*memcpy_peer_async)(DevicePointer to, Context to_context, DevicePointer from, Context from_context, size_t bytes, Stream stream);
  Result (*memset_d8_async)(DevicePointer to, unsigned char value, size_t bytes, Stream stream);

  Result (*link_create)(unsigned count, JitOption* options, void** values, Link* link);
  Result (*link_add_data)(Link link, JitInput type, void* data, size_t bytes, const char* name, unsigned count, JitOption* options,
                          void** values);
  Result (*link_complete)(Link link, void** cubin, size_t* bytes);
  Result (*link_destroy)(Link link);
  Result (*module_load_data)(Module* module, const void* image);
  Result (*module_unload)(Module module);
  Result (*module_get_function)(Function* function, Module module, const char* name);
  Result (*module_get_global)(DevicePointer* address, size_t* bytes, Module module, const char* name);
  Result (*function_get_attribute)(int* value, FunctionAttribute attribute, Function function);
  Result (*function_set_attribute)(Function function, FunctionAttribute attribute, int value);
  Result (*occupancy_max_active_blocks)(int* blocks, Function function, int threads, size_t dynamic_shared_bytes);
  Result (*launch_kernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra);
};

/// CUDA 11.8: the first whose PTX knows sm_90.
inline constexpr int kOldestDriver = 11080;

/// "12.4" for 12040.
std::string version_text(int version);

/// What was found, in words for a person. One clear line: `problem` ("no NVIDIA driver found (libcuda.so.1)") and what to do about it in
/// `remedy`.
struct DriverStatus {
  enum class Kind : uint8_t { ready, missing, too_old, no_device, failed };
  Kind kind = Kind::missing;
  std::string library;  // the name it was opened by
  int version = 0;      // 12040 for 12.4: the newest CUDA version that the driver serves; 0 without a driver
  int devices = 0;
  std::string problem, remedy;  // both empty when ready
  bool ready() const { return kind == Kind::ready; }
};

struct LoadedDriver {
  DriverStatus status;
  Driver entries{};  // filled when status.ready()
};

/// Opens and initialises a driver. The library stays open for the life of the process: the driver has threads and exit handlers of its own.
LoadedDriver load_driver(const std::string& library);

/// The process's driver: libcuda.so.1, or what GASELL_LIBCUDA names; opened by the first call.
const LoadedDriver& process_driver();

/// "CUDA_ERROR_OUT_OF_MEMORY", or "CUDA error 1234" for one that this driver has no name for.
std::string error_name(const Driver& driver, Result result);

}  // namespace gasell::cuda
