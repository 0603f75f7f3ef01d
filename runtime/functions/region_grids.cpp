#include "runtime/functions/region_grids.h"

#include <algorithm>
#include <bit>

#include "compiler/functions/grids.h"
#include "runtime/gpu/gpu_device.h"

namespace gasell::functions {
namespace {

/// Blocks that reduce: enough for every GPU, few enough for the host to combine what they give. Each thread has a few iterations at least.
constexpr int64_t kMostReducingBlocks = 1056, kIterations = 4;
constexpr int64_t kBlock = 256, kMostBlocksX = INT32_MAX, kMostBlocksY = 65535;

/// Threads for so many iterations; what is beyond CUDA's limits, threads do in turns.
GridShape shape_for(std::array<int64_t, 3> extents) {
  const auto blocks = [](int64_t n, int64_t threads, int64_t most) { return std::clamp<int64_t>((n + threads - 1) / threads, 1, most); };
  const bool flat = extents[1] == 0;
  const auto wide = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(extents[0], 32, kBlock / 2))));
  GridShape shape;
  shape.threads = {flat ? kBlock : wide, flat ? 1 : kBlock / wide, 1};
  shape.blocks = {blocks(extents[0], shape.threads[0], kMostBlocksX), blocks(extents[1], shape.threads[1], kMostBlocksY),
                  blocks(extents[2], 1, kMostBlocksY)};
  return shape;
}

}  // namespace

HostStorageRef RegionGrids::allocate(int64_t bytes) { return std::static_pointer_cast<HostStorage>(gpus_.allocate(bytes)); }

void RegionGrids::add(HostStorage& storage) {
  const std::lock_guard lock(mutex_);
  storages_[static_cast<const char*>(storage.host_memory())] = &storage;
}
void RegionGrids::remove(const HostStorage& storage) {
  const std::lock_guard lock(mutex_);
  storages_.erase(static_cast<const char*>(storage.host_memory()));
}

HostStorage* RegionGrids::find(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto* at = static_cast<const char*>(address);
  auto next = storages_.upper_bound(at);
  if (next == storages_.begin()) return nullptr;
  --next;
  // An array without elements may begin where its memory ends.
  return at <= next->first + next->second->bytes() ? next->second : nullptr;
}

int64_t RegionGrids::pieces(int64_t iterations) {
  return std::clamp<int64_t>(iterations / (kIterations * kReducingThreads), 1, kMostReducingBlocks);
}

std::optional<Error> RegionGrids::bring_home(const void* address, bool writes) noexcept {
  try {
    if (HostStorage* const storage = find(address)) {
      if (writes)
        storage->write();
      else
        storage->read();
    }
    return std::nullopt;
  } catch (const Interrupted&) {
    return std::nullopt;  // the function will see it, too
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error("RuntimeError", error.what(), {}, Blame::environment);
  }
}

RegionGrids::Outcome RegionGrids::run(size_t region, int64_t units, void* const* arrays, const int64_t* scalars,
                                      std::array<int64_t, 3> extents) noexcept {
  Outcome outcome;
  try {
    if (!function_.grids[region].name.empty()) {
      outcome.ran = true;
      launch(region, units, arrays, scalars, extents, outcome);
      return outcome;
    }
    size_t k = 0;
    for (const ir::Parameter& p : function_.regions[region].params) {
      if (p.kind == ir::Parameter::Kind::scalar) continue;
      if (HostStorage* const storage = find(arrays[k++])) {
        if (p.kind == ir::Parameter::Kind::in)
          storage->read();
        else
          storage->write();
      }
    }
  } catch (const Interrupted&) {
    outcome.interrupted = true;
  } catch (const Error& error) {
    outcome.failure = error;
  } catch (const WorkLost&) {
    gpus_.abandon();
    outcome.failure =
        Error("RuntimeError", "the GPU was lost while the loops of '" + function_.kernel.name + "' ran", {}, Blame::environment);
  } catch (const std::exception& error) {
    outcome.failure = Error("RuntimeError", error.what(), {}, Blame::environment);
  }
  return outcome;
}

void RegionGrids::launch(size_t region, int64_t units, void* const* arrays, const int64_t* scalars, std::array<int64_t, 3> extents,
                         Outcome& outcome) {
  const ir::Kernel& kernel = function_.grids[region];
  const bool reduces = extents[0] == 0 && extents[1] == 0 && extents[2] == 0;
  if (reduces ? units <= 0 : extents[0] <= 0 || extents[1] < 0 || extents[2] < 0) return;
  if (!loaded_[region]) loaded_[region] = gpus_.load(kernel);
  // What a simulated GPU sees is told where the loop stands, so somebody waits for it.
  const bool notes = !function_.sites.empty() || gpus_.gpu(0).capability == 0;
  GpuDevice::GridLaunch launch{
      &kernel, loaded_[region], {}, {}, reduces ? GridShape{{units, 1, 1}, {kReducingThreads, 1, 1}} : shape_for(extents), notes};
  size_t slots = 0;
  for (const ir::Parameter& p : kernel.params) {
    if (p.kind == ir::Parameter::Kind::scalar) {
      slots += is_complex(p.type) ? 2 : 1;
    } else if (p.name != "error") {
      const void* const at = arrays[launch.arrays.size()];
      HostStorage* const storage = find(at);
      if (!storage) throw Error("SystemError", "a parallel loop uses memory that is no array's", {}, Blame::internal);
      launch.arrays.push_back({storage, static_cast<const char*>(at) - static_cast<const char*>(storage->host_memory()), 0,
                               storage->bytes(), p.kind != ir::Parameter::Kind::in});
    }
  }
  launch.scalars.assign(scalars, scalars + slots);
  const GpuDevice::GridResult result = gpus_.run_grid(launch);
  std::copy_n(result.error.begin(), outcome.error.size(), outcome.error.begin());
  // Where an error ended threads, others may wait at barriers that those left out.
  if (outcome.error[0] == 0 && result.fault.kind != GridFault::Kind::none)
    throw Error("SystemError", "threads of a parallel loop wait for each other or race", {}, Blame::internal);
}

}  // namespace gasell::functions
