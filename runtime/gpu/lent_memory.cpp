// Memory of GPUs that changes hands with other libraries of the process.
#include <mutex>
#include <utility>

#include "runtime/gpu/gpu_device.h"
#include "runtime/gpu/gpu_memory.h"

namespace gasell {
namespace {

/// The host has no copy until somebody reads it there.
class AdoptedStorage final : public HostStorage {
 public:
  AdoptedStorage(std::shared_ptr<GpuMemory> memory, int g, MemoryBudget host, int64_t bytes, std::function<void()> release)
      : memory_(std::move(memory)), g_(g), host_(std::move(host)), release_(std::move(release)) {
    bytes_ = bytes;
    writable_ = false;
  }
  ~AdoptedStorage() override {
    try {  // kernels that read it
      for (int s = 0; s < kGpuStreams; ++s) memory_->gpu(g_).synchronize(static_cast<GpuStream>(s));
    } catch (const GpuLost&) {  // NOLINT(bugprone-empty-catch): they do not any more
    }
    if (release_) release_();
  }

 private:
  void provide() const override {
    const std::lock_guard lock(providing_);
    if (has_host_memory()) return;
    copy_ = allocate(host_, bytes_);
    data_.store(copy_->host_memory(), std::memory_order_release);
  }

  const std::shared_ptr<GpuMemory> memory_;
  const int g_;
  mutable MemoryBudget host_;
  const std::function<void()> release_;
  mutable std::mutex providing_;
  mutable HostStorageRef copy_;
};

}  // namespace

GpuDevice::Lent GpuDevice::lend(int g, const HostStorageRef& storage) {
  if (storage->bytes() == 0) return {};
  GridLaunch launch;
  launch.notes = false;
  launch.arrays.push_back({storage.get(), 0, 0, storage->bytes(), false});
  GpuAddress address = 0;
  launch.start = [&](Gpu&, std::span<const GpuArray> arrays) { address = arrays.front().base; };
  const std::vector<int> chosen = std::exchange(chosen_, {g});
  const int selected = std::exchange(selected_, g);
  const auto restore = [&] {
    chosen_ = chosen;
    selected_ = selected;
  };
  try {
    run_grid(launch);
    finish();
  } catch (...) {
    restore();
    throw;
  }
  restore();
  return {address, memory_->holder(g, *storage, address)};
}

HostStorageRef GpuDevice::adopt(int g, GpuAddress address, int64_t bytes, uint64_t stream, std::function<void()> release) {
  if (stream != 0) memory_->gpu(g).synchronize_foreign(stream);
  auto storage = std::make_shared<AdoptedStorage>(memory_, g, budget(), bytes, std::move(release));
  if (bytes > 0) memory_->adopt(g, *storage, address);
  return storage;
}

void GpuDevice::wait_for_foreign_event(int g, uint64_t event) { memory_->gpu(g).synchronize_foreign_event(event); }

int GpuDevice::gpu_with(GpuAddress address) const {
  for (int g = 0; g < count(); ++g)
    if (alive(g) && memory_->gpu(g).has(address)) return g;
  return -1;
}

}  // namespace gasell
