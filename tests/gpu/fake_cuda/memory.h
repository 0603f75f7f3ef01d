// GPUs' memory, which is the host's, and pinned memory.
#pragma once

#include "gpu/fake_cuda/state.h"

namespace fake_cuda {

char* host(DevicePointer address);
/// Whether [address, address + bytes) is memory of some GPU that is still there; the GPU fails for good otherwise.
bool valid(DevicePointer address, size_t bytes);
/// New memory of a device, of a pool or (null) of none; and its end.
DevicePointer take(size_t bytes, int device, Pool pool);
void release(DevicePointer address);
bool is_pinned(const void* memory, size_t bytes);

}  // namespace fake_cuda
