// What runtime/gpu/cuda/driver.h declares is what NVIDIA declares: values, sizes, and the parameters of every entry at the version we ask
// for.
#include <cudaTypedefs.h>

#include <cstddef>
#include <type_traits>

#include "runtime/gpu/cuda/driver.h"

namespace ours = gasell::cuda;

namespace {

/// The same to the caller's machine code: the same type, pointers of any kind, or whole numbers and enumerations of one size.
template <class A, class B>
constexpr bool passes_alike() {
  if constexpr (std::is_same_v<A, B>)
    return true;
  else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>)
    return true;
  else if constexpr ((std::is_enum_v<A> || std::is_integral_v<A>) && (std::is_enum_v<B> || std::is_integral_v<B>))
    return sizeof(A) == sizeof(B);
  else
    return false;
}
template <class A, class B>
struct Alike : std::false_type {};
template <class R, class S, class... A, class... B>
struct Alike<R (*)(A...), S (*)(B...)> : std::bool_constant<sizeof...(A) == sizeof...(B)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return passes_alike<R, S>() && (passes_alike<A, B>() && ...);
  }();
};
template <class Ours, class Theirs>
constexpr bool same_entry = Alike<Ours, Theirs>::value;
using D = ours::Driver;

static_assert(same_entry<decltype(D::get_error_name), PFN_cuGetErrorName_v6000>);
static_assert(same_entry<decltype(D::get_error_string), PFN_cuGetErrorString_v6000>);
static_assert(same_entry<decltype(D::driver_get_version), PFN_cuDriverGetVersion_v2020>);
static_assert(same_entry<decltype(D::device_get), PFN_cuDeviceGet_v2000>);
static_assert(same_entry<decltype(D::device_get_count), PFN_cuDeviceGetCount_v2000>);
static_assert(same_entry<decltype(D::device_get_name), PFN_cuDeviceGetName_v2000>);
static_assert(same_entry<decltype(D::device_get_attribute), PFN_cuDeviceGetAttribute_v2000>);
static_assert(same_entry<decltype(D::device_total_mem), PFN_cuDeviceTotalMem_v3020>);
static_assert(same_entry<decltype(D::device_can_access_peer), PFN_cuDeviceCanAccessPeer_v4000>);
static_assert(same_entry<decltype(D::device_get_p2p_attribute), PFN_cuDeviceGetP2PAttribute_v8000>);
static_assert(same_entry<decltype(D::primary_context_retain), PFN_cuDevicePrimaryCtxRetain_v7000>);
static_assert(same_entry<decltype(D::primary_context_release), PFN_cuDevicePrimaryCtxRelease_v11000>);
static_assert(same_entry<decltype(D::context_push_current), PFN_cuCtxPushCurrent_v4000>);
static_assert(same_entry<decltype(D::context_pop_current), PFN_cuCtxPopCurrent_v4000>);
static_assert(same_entry<decltype(D::context_enable_peer_access), PFN_cuCtxEnablePeerAccess_v4000>);
static_assert(same_entry<decltype(D::stream_create), PFN_cuStreamCreate_v2000>);
static_assert(same_entry<decltype(D::stream_destroy), PFN_cuStreamDestroy_v4000>);
static_assert(same_entry<decltype(D::stream_synchronize), PFN_cuStreamSynchronize_v2000>);
static_assert(same_entry<decltype(D::stream_query), PFN_cuStreamQuery_v2000>);
static_assert(same_entry<decltype(D::stream_wait_event), PFN_cuStreamWaitEvent_v3020>);
static_assert(same_entry<decltype(D::event_create), PFN_cuEventCreate_v2000>);
static_assert(same_entry<decltype(D::event_destroy), PFN_cuEventDestroy_v4000>);
static_assert(same_entry<decltype(D::event_record), PFN_cuEventRecord_v2000>);
static_assert(same_entry<decltype(D::event_synchronize), PFN_cuEventSynchronize_v2000>);
static_assert(same_entry<decltype(D::event_elapsed_time), PFN_cuEventElapsedTime_v2000>);
static_assert(same_entry<decltype(D::mem_get_info), PFN_cuMemGetInfo_v3020>);
static_assert(same_entry<decltype(D::mem_alloc), PFN_cuMemAlloc_v3020>);
static_assert(same_entry<decltype(D::mem_free), PFN_cuMemFree_v3020>);
static_assert(same_entry<decltype(D::mem_alloc_from_pool_async), PFN_cuMemAllocFromPoolAsync_v11020>);
static_assert(same_entry<decltype(D::mem_free_async), PFN_cuMemFreeAsync_v11020>);
static_assert(same_entry<decltype(D::pool_create), PFN_cuMemPoolCreate_v11020>);
static_assert(same_entry<decltype(D::pool_destroy), PFN_cuMemPoolDestroy_v11020>);
static_assert(same_entry<decltype(D::pool_set_attribute), PFN_cuMemPoolSetAttribute_v11020>);
static_assert(same_entry<decltype(D::pool_get_attribute), PFN_cuMemPoolGetAttribute_v11020>);
static_assert(same_entry<decltype(D::pool_set_access), PFN_cuMemPoolSetAccess_v11020>);
static_assert(same_entry<decltype(D::pool_trim_to), PFN_cuMemPoolTrimTo_v11020>);
static_assert(same_entry<decltype(D::pointer_get_attribute), PFN_cuPointerGetAttribute_v4000>);
static_assert(same_entry<decltype(D::host_alloc), PFN_cuMemHostAlloc_v2020>);
static_assert(same_entry<decltype(D::host_free), PFN_cuMemFreeHost_v2000>);
static_assert(same_entry<decltype(D::memcpy_host_to_device_async), PFN_cuMemcpyHtoDAsync_v3020>);
static_assert(same_entry<decltype(D::memcpy_device_to_host_async), PFN_cuMemcpyDtoHAsync_v3020>);
static_assert(same_entry<decltype(D::memcpy_device_to_device_async), PFN_cuMemcpyDtoDAsync_v3020>);
static_assert(same_entry<decltype(D::memcpy_peer_async), PFN_cuMemcpyPeerAsync_v4000>);
static_assert(same_entry<decltype(D::memset_d8_async), PFN_cuMemsetD8Async_v3020>);
static_assert(same_entry<decltype(D::link_create), PFN_cuLinkCreate_v6050>);
static_assert(same_entry<decltype(D::link_add_data), PFN_cuLinkAddData_v6050>);
static_assert(same_entry<decltype(D::link_complete), PFN_cuLinkComplete_v5050>);
static_assert(same_entry<decltype(D::link_destroy), PFN_cuLinkDestroy_v5050>);
static_assert(same_entry<decltype(D::module_load_data), PFN_cuModuleLoadData_v2000>);
static_assert(same_entry<decltype(D::module_unload), PFN_cuModuleUnload_v2000>);
static_assert(same_entry<decltype(D::module_get_function), PFN_cuModuleGetFunction_v2000>);
static_assert(same_entry<decltype(D::module_get_global), PFN_cuModuleGetGlobal_v3020>);
static_assert(same_entry<decltype(D::function_get_attribute), PFN_cuFuncGetAttribute_v2020>);
static_assert(same_entry<decltype(D::function_set_attribute), PFN_cuFuncSetAttribute_v9000>);
static_assert(same_entry<decltype(D::occupancy_max_active_blocks), PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050>);
static_assert(same_entry<decltype(D::launch_kernel), PFN_cuLaunchKernel_v4000>);

static_assert(sizeof(ours::DevicePointer) == sizeof(CUdeviceptr) && sizeof(ours::DeviceOrdinal) == sizeof(CUdevice));
static_assert(sizeof(ours::Location) == sizeof(CUmemLocation) && offsetof(ours::Location, id) == offsetof(CUmemLocation, id));
static_assert(sizeof(ours::AccessDescription) == sizeof(CUmemAccessDesc) &&
              offsetof(ours::AccessDescription, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(ours::PoolProperties) == sizeof(CUmemPoolProps));
static_assert(offsetof(ours::PoolProperties, handles) == offsetof(CUmemPoolProps, handleTypes));
static_assert(offsetof(ours::PoolProperties, location) == offsetof(CUmemPoolProps, location));
static_assert(offsetof(ours::PoolProperties, windows_security) == offsetof(CUmemPoolProps, win32SecurityAttributes));
static_assert(offsetof(ours::PoolProperties, max_size) == offsetof(CUmemPoolProps, maxSize));
static_assert(offsetof(ours::PoolProperties, usage) == offsetof(CUmemPoolProps, usage));

template <class A, class B>
constexpr bool same(A ours, B theirs) {
  return sizeof(A) == sizeof(B) && static_cast<long long>(ours) == static_cast<long long>(theirs);
}
using R = ours::Result;
static_assert(same(R::success, CUDA_SUCCESS));
static_assert(same(R::invalid_value, CUDA_ERROR_INVALID_VALUE));
static_assert(same(R::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(same(R::deinitialized, CUDA_ERROR_DEINITIALIZED));
static_assert(same(R::stub_library, CUDA_ERROR_STUB_LIBRARY));
static_assert(same(R::device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE));
static_assert(same(R::no_device, CUDA_ERROR_NO_DEVICE));
static_assert(same(R::invalid_device, CUDA_ERROR_INVALID_DEVICE));
static_assert(same(R::invalid_context, CUDA_ERROR_INVALID_CONTEXT));
static_assert(same(R::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(same(R::ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(same(R::invalid_ptx, CUDA_ERROR_INVALID_PTX));
static_assert(same(R::nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE));
static_assert(same(R::jit_compiler_not_found, CUDA_ERROR_JIT_COMPILER_NOT_FOUND));
static_assert(same(R::unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
static_assert(same(R::jit_compilation_disabled, CUDA_ERROR_JIT_COMPILATION_DISABLED));
static_assert(same(R::operating_system, CUDA_ERROR_OPERATING_SYSTEM));
static_assert(same(R::not_found, CUDA_ERROR_NOT_FOUND));
static_assert(same(R::not_ready, CUDA_ERROR_NOT_READY));
static_assert(same(R::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(same(R::launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
static_assert(same(R::launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT));
static_assert(same(R::peer_access_already_enabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
static_assert(same(R::context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED));
static_assert(same(R::device_assert, CUDA_ERROR_ASSERT));
static_assert(same(R::hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR));
static_assert(same(R::illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION));
static_assert(same(R::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS));
static_assert(same(R::invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE));
static_assert(same(R::invalid_program_counter, CUDA_ERROR_INVALID_PC));
static_assert(same(R::launch_failed, CUDA_ERROR_LAUNCH_FAILED));
static_assert(same(R::system_not_ready, CUDA_ERROR_SYSTEM_NOT_READY));
static_assert(same(R::system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH));
static_assert(same(R::compat_not_supported_on_device, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE));
static_assert(same(R::unknown, CUDA_ERROR_UNKNOWN));
#if CUDA_VERSION >= 12000
static_assert(same(R::mps_client_terminated, CUDA_ERROR_MPS_CLIENT_TERMINATED));
#endif
#if CUDA_VERSION >= 13000
static_assert(same(R::contained, CUDA_ERROR_CONTAINED));
static_assert(same(R::tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK));
#endif

using A = ours::DeviceAttribute;
static_assert(same(A::max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(same(A::multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(same(A::compute_mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
static_assert(same(A::memory_clock_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
static_assert(same(A::memory_bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
static_assert(same(A::capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(same(A::capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(same(A::max_shared_per_block_opt_in, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
static_assert(same(A::pools_supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED));
static_assert(same(ours::ComputeMode::shared, CU_COMPUTEMODE_DEFAULT));
static_assert(same(ours::ComputeMode::prohibited, CU_COMPUTEMODE_PROHIBITED));
static_assert(same(ours::ComputeMode::exclusive_process, CU_COMPUTEMODE_EXCLUSIVE_PROCESS));
static_assert(same(ours::PeerAttribute::performance_rank, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK));
static_assert(same(ours::PeerAttribute::access_supported, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED));
static_assert(same(ours::PeerAttribute::native_atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED));
using F = ours::FunctionAttribute;
static_assert(same(F::max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(same(F::shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
static_assert(same(F::constant_bytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
static_assert(same(F::local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
static_assert(same(F::registers, CU_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(same(F::ptx_version, CU_FUNC_ATTRIBUTE_PTX_VERSION));
static_assert(same(F::binary_version, CU_FUNC_ATTRIBUTE_BINARY_VERSION));
static_assert(same(F::cache_mode_ca, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA));
static_assert(same(F::max_dynamic_shared_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
static_assert(same(F::preferred_shared_carveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT));
static_assert(same(ours::PoolAttribute::release_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
static_assert(same(ours::PoolAttribute::reserved_bytes, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
static_assert(same(ours::JitOption::error_log, CU_JIT_ERROR_LOG_BUFFER));
static_assert(same(ours::JitOption::error_log_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
static_assert(same(ours::JitInput::ptx, CU_JIT_INPUT_PTX));
static_assert(same(ours::ProcStatus::success, CU_GET_PROC_ADDRESS_SUCCESS));
static_assert(same(ours::AllocationType::pinned, CU_MEM_ALLOCATION_TYPE_PINNED));
static_assert(same(ours::HandleType::none, CU_MEM_HANDLE_TYPE_NONE));
static_assert(same(ours::LocationType::device, CU_MEM_LOCATION_TYPE_DEVICE));
static_assert(same(ours::AccessFlags::read_write, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
static_assert(ours::kStreamNonBlocking == CU_STREAM_NON_BLOCKING && ours::kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(ours::kHostPortable == CU_MEMHOSTALLOC_PORTABLE);

}  // namespace
