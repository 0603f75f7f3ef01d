// Arrays in the memory of GPUs, for other libraries of the process.
#pragma once

#include "tools/libgasell/handles.h"

namespace gasell::c_abi {

/// An array over memory of a GPU that is another library's, to read. `device`: the GPU's number; -1: the one whose memory it is. `stream`
/// as GpuDevice::adopt takes it. Throws InvalidArgument where the session's engine does not compute on that GPU.
Array array_over_gpu(gasell_session& session, void* data, DType dtype, int rank, const int64_t* shape, const int64_t* strides, int device,
                     uint64_t stream, std::function<void()> release);
/// Returns when an event of another library's on the GPU of this number, a handle of the driver's, has happened.
void wait_for_event(gasell_session& session, int device, uint64_t event);
/// The array, computed, in the memory of the GPU of this number.
OnGpu on_gpu(gasell_session& session, const Array& array, int device);

}  // namespace gasell::c_abi
