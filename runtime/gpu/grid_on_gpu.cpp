// Kernels of threads on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "compiler/ir/simt.h"
#include "lang/diagnostic.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/gpu/gpu_memory.h"
#include "runtime/gpu/launch_on_gpus.h"

namespace gasell {
namespace {

// Arrays are bound from and to whole multiples of this.
constexpr int64_t kWhole = 64;
constexpr int64_t kErrorBytes = sizeof(GpuDevice::GridResult::error);

/// GPU memory that goes with its holder.
class Buffer {
 public:
  Buffer(GpuMemory& memory, int gpu, int64_t bytes) : memory_(memory), gpu_(gpu), address_(memory.allocate_buffer(gpu, bytes)) {
    memory.gpu(gpu).fill_zero(address_, bytes, GpuStream::compute);
  }
  ~Buffer() { memory_.free_buffer(gpu_, address_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  GpuAddress address() const { return address_; }

 private:
  GpuMemory& memory_;
  int gpu_;
  GpuAddress address_;
};

}  // namespace

void GpuDevice::select(int gpu) {
  if (gpu < 0 || gpu >= count())
    throw Error("ValueError", fmt::format("there is no GPU {}: there {} {}", gpu, count() == 1 ? "is" : "are", count()));
  selected_ = gpu;
}

int64_t GpuDevice::free_memory(int g) const { return memory_->gpu(g).free_memory(); }

LoadedModuleRef GpuDevice::load_module(const std::string& image) { return memory_->gpu(selected()).load_module(image); }
LoadedKernelRef GpuDevice::module_kernel(const LoadedModuleRef& module, const std::string& symbol) {
  return memory_->gpu(selected()).module_kernel(module, symbol);
}
std::optional<ModuleGlobal> GpuDevice::module_global(const LoadedModuleRef& module, const std::string& symbol) {
  return memory_->gpu(selected()).module_global(module, symbol);
}
int GpuDevice::kernel_attribute(const LoadedKernel& kernel, KernelAttribute attribute) {
  return memory_->gpu(selected()).kernel_attribute(kernel, attribute);
}
bool GpuDevice::set_kernel_attribute(const LoadedKernel& kernel, KernelAttribute attribute, int value) {
  return memory_->gpu(selected()).set_kernel_attribute(kernel, attribute, value);
}

void GpuDevice::read_memory(void* to, GpuAddress from, int64_t bytes) {
  const int g = selected();
  if (!memory_->alive(g)) lost();
  try {
    wait(g, GpuStream::compute);
    memory_->gpu(g).copy_out(to, from, bytes, GpuStream::compute);
    memory_->gpu(g).synchronize(GpuStream::compute);
  } catch (const GpuLost&) {
    lost();
  }
}

int GpuDevice::selected() const {
  const std::vector<int> gpus = usable();
  return std::find(gpus.begin(), gpus.end(), selected_) != gpus.end() || gpus.empty() ? selected_ : gpus[0];
}

GpuAddress GpuDevice::error_of(int g) {
  Errors& errors = errors_[static_cast<size_t>(g)];
  if (!errors.address) {
    errors.address = memory_->allocate_buffer(g, kErrorBytes);
    errors.pinned = memory_->gpu(g).pinned(kErrorBytes);
  }
  if (std::exchange(errors.stops, memory_->stops()) != memory_->stops()) errors.clear = false;
  if (!std::exchange(errors.clear, true)) memory_->gpu(g).fill_zero(errors.address, kErrorBytes, GpuStream::compute);
  return errors.address;
}

GpuDevice::GridResult GpuDevice::run_grid(const GridLaunch& launch) {
  check_interrupt();
  const int g = selected();
  if (!memory_->alive(g)) lost();
  Gpu& gpu = memory_->gpu(g);
  GridResult result;
  std::vector<Transfer> transfers;
  const auto give = [&] {
    for (const Transfer& t : transfers) {
      if (t.from_host) {
        memory_->counts().bytes_in += t.bytes;
        gpu.copy_in(t.to, t.from_host, t.bytes, GpuStream::copy_in);
      } else {
        gpu.copy(t.to, t.from, t.bytes, GpuStream::copy_in);
      }
    }
    if (!transfers.empty()) memory_->given(g);
    transfers.clear();
  };
  try {
    LoadedKernelRef kernel;
    if (!launch.start) {
      LoadedKernelRef& loaded = static_cast<const GpuLoadedKernel&>(*launch.loaded).on[static_cast<size_t>(g)];
      if (!loaded) loaded = gpu.load(*launch.kernel);
      if (!loaded)
        throw Error("NotImplementedError", fmt::format("the kernel '{}' does what a GPU cannot", launch.kernel->name), {},
                    Blame::limitation);
      kernel = loaded;
    }
    memory_->begin_use();
    const GpuAddress error = error_of(g);
    std::unique_ptr<Buffer> words;
    if (!launch.start && ir::waits_for_grid(*launch.kernel)) words = std::make_unique<Buffer>(*memory_, g, 8);
    // Views of one memory are bound as one piece.
    struct Whole {
      ByteRange range;
      bool written;
      GpuArray bound;
    };
    std::map<HostStorage*, Whole> wholes;
    for (const GridLaunch::Piece& piece : launch.arrays) {
      if (piece.end <= piece.begin) continue;
      const ByteRange range = ByteRange{piece.begin & -kWhole, (piece.end + kWhole - 1) & -kWhole}.common({0, piece.storage->bytes()});
      const auto [at, fresh] = wholes.try_emplace(piece.storage, Whole{range, piece.written, {}});
      if (fresh) continue;
      at->second.range = {std::min(at->second.range.begin, range.begin), std::max(at->second.range.end, range.end)};
      at->second.written = at->second.written || piece.written;
    }
    try {
      for (auto& [storage, whole] : wholes) whole.bound = memory_->bind(g, *storage, whole.range, true, transfers);
    } catch (const Error&) {
      give();  // what is bound already counts as valid, so it must become so
      throw;
    }
    give();
    std::vector<GpuArray> arrays;
    for (const GridLaunch::Piece& piece : launch.arrays) {
      if (piece.end <= piece.begin) {
        arrays.push_back({error, error, error});
        continue;
      }
      GpuArray array = wholes.at(piece.storage).bound;
      array.base += static_cast<GpuAddress>(piece.byte_offset);
      arrays.push_back(array);
    }
    arrays.push_back({error, error, error + kErrorBytes});
    gpu.wait(GpuStream::compute, GpuStream::copy_in);
    ++memory_->counts().launches;
    if (launch.start)
      launch.start(gpu, std::span(arrays).first(launch.arrays.size()));
    else
      gpu.launch_grid(*kernel, arrays, launch.scalars, launch.shape, words ? words->address() : 0, &result.fault);
    last_[static_cast<size_t>(g)] = GpuStream::compute;
    for (auto& [storage, whole] : wholes)
      if (whole.written) memory_->written(g, *storage, whole.range);
    if (launch.notes) {
      Errors& errors = errors_[static_cast<size_t>(g)];
      if (errors.pinned) gpu.copy_out(errors.pinned.get(), error, kErrorBytes, GpuStream::compute);
      wait(g, GpuStream::compute);
      if (!errors.pinned) gpu.copy_out(result.error.data(), error, kErrorBytes, GpuStream::compute);
      if (errors.pinned) std::memcpy(result.error.data(), errors.pinned.get(), kErrorBytes);
      errors.clear = result.error[0] == 0;
      last_[static_cast<size_t>(g)] = std::nullopt;
    }
    // Nobody runs it again: what it wrote goes with the GPU.
    for (auto& [storage, whole] : wholes)
      if (whole.written) memory_->written_for_good(*storage, whole.range);
    memory_->end_use(g);
    if (result.error[0] < 0) check_interrupt();
    for (auto& [storage, whole] : wholes)
      if (whole.written && storage->is_shared()) {
        finish();
        storage->write();
      }
    return result;
  } catch (const GpuLost&) {
    memory_->drop_awaited();
    lost();
  } catch (const Interrupted&) {
    memory_->drop_awaited();
    memory_->end_use(g);
    abandon();
    throw;
  } catch (...) {
    memory_->drop_awaited();
    memory_->end_use(g);
    throw;
  }
}

}  // namespace gasell
