// Calls of a GPU's libraries.
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/gpu/gpu_memory.h"

namespace gasell {

const char* GpuDevice::library(GpuLibrary which) const {
  for (int g = 0; g < count(); ++g)
    if (alive(g)) return memory_->gpu(g).library(which);
  return nullptr;
}

bool GpuDevice::call_library(std::vector<GridLaunch::Piece> arrays, const LibraryCall& call) {
  // Freed behind the call: the GPU does so when the work that it was given is done.
  struct Spaces {
    GpuMemory& memory;
    int gpu;
    std::vector<GpuAddress> addresses;
    ~Spaces() {
      for (const GpuAddress address : addresses) memory.free_buffer(gpu, address);
    }
  } spaces{*memory_, selected(), {}};
  const GpuWorkSpace space = [&](int64_t bytes) {
    spaces.addresses.push_back(memory_->allocate_buffer(spaces.gpu, bytes));
    return spaces.addresses.back();
  };
  GridLaunch launch;
  launch.notes = false;
  launch.arrays = std::move(arrays);
  bool given = false;
  launch.start = [&](Gpu& gpu, std::span<const GpuArray> bound) { given = call(gpu, bound, space); };
  try {
    run_grid(launch);
  } catch (const Error& error) {
    if (error.diagnostic().kind != "MemoryError") throw;
    return false;
  }
  return given;
}

}  // namespace gasell
