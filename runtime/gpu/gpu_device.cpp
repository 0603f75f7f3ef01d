#include "runtime/gpu/gpu_device.h"

#include <algorithm>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/gpu/gpu_memory.h"
#include "runtime/gpu/launch_on_gpus.h"

namespace gasell {
namespace {

// Results up to this size go home with their plan: reductions are made to be read.
constexpr int64_t kSentHome = 64 << 10;

bool is_memory_error(const Error& error) { return error.diagnostic().kind == "MemoryError"; }

}  // namespace

GpuDevice::GpuDevice(std::vector<std::unique_ptr<Gpu>> gpus, Device& host, const GpuDeviceOptions& options,
                     const std::atomic<bool>& interrupt)
    : host_(host), options_(options), interrupt_(&interrupt), memory_(std::make_shared<GpuMemory>(std::move(gpus), interrupt)) {
  properties_.name = "gpu";
  properties_.threads = count();
  last_.resize(static_cast<size_t>(count()));
  errors_.resize(static_cast<size_t>(count()));
  for (int g = 0; g < count(); ++g) properties_.memory += gpu(g).memory;
}
GpuDevice::~GpuDevice() {
  abandon();
  for (int g = 0; g < count(); ++g)
    if (const GpuAddress address = errors_[static_cast<size_t>(g)].address) memory_->free_buffer(g, address);
  memory_->ignore_interrupts();
}

StorageRef GpuDevice::allocate(int64_t bytes, bool zeroed) {
  if (zeroed) return host_.allocate(bytes, true);
  return memory_->allocate(host_.budget(), bytes);
}

bool GpuDevice::any_alive() const { return memory_->any_alive(); }
bool GpuDevice::alive(int g) const { return memory_->alive(g); }

std::vector<int> GpuDevice::usable() const {
  std::vector<int> alive, chosen;
  for (int g = 0; g < count(); ++g) {
    if (!memory_->alive(g)) continue;
    alive.push_back(g);
    if (std::find(chosen_.begin(), chosen_.end(), g) != chosen_.end()) chosen.push_back(g);
  }
  return chosen.empty() ? alive : chosen;
}

int GpuDevice::count() const { return memory_->count(); }
const GpuProperties& GpuDevice::gpu(int g) const { return memory_->gpu(g).properties(); }

plan::Grain GpuDevice::grain() const {
  constexpr int64_t kUnitsPerMultiprocessor = 32, kElements = 1024;
  plan::Grain grain;
  grain.units = std::max<int64_t>(1, kUnitsPerMultiprocessor * gpu(0).multiprocessors);
  grain.elements = kElements;
  grain.rolled = true;
  return grain;
}

std::vector<GpuDevice::Portion> GpuDevice::portions(const std::vector<Rows>& arrays, int64_t count, int64_t grain) const {
  const std::vector<int> gpus = usable();
  const Portion all{gpus.empty() ? -1 : selected(), 0, count};
  const auto there = [&](const Portion& p) {
    int64_t bytes = 0;
    for (const Rows& rows : arrays) {
      const ByteRange range{rows.begin + p.begin * rows.step, rows.begin + p.end * rows.step};
      if (rows.step > 0) bytes += memory_->valid_bytes(p.gpu, static_cast<const HostStorage&>(*rows.storage), range);
    }
    return bytes;
  };
  if (gpus.size() < 2) return {all};
  int64_t bytes = 0;
  for (const Rows& rows : arrays) bytes += std::max<int64_t>(0, rows.step) * count;
  Portion best = all;
  int64_t most = there(all);
  for (const int g : gpus) {
    const Portion here{g, 0, count};
    if (const int64_t found = there(here); found > most) {
      most = found;
      best = here;
    }
  }
  const int64_t nearly_all = bytes / 10 * 9;
  const bool always = options_.split_from == 0;
  if (!always && most >= nearly_all) return {best};
  const auto parts = static_cast<int64_t>(gpus.size());
  const int64_t coarse = count >= 4 * parts * kSplitElements && kSplitElements % grain == 0 ? kSplitElements : grain;
  std::vector<Portion> shares;
  int64_t begin = 0;
  for (int64_t k = 0; k < parts; ++k) {
    const int g = gpus[static_cast<size_t>(k)];
    const int64_t even = std::min(count, (count / parts * (k + 1) + coarse / 2) / coarse * coarse);
    int64_t end = k + 1 == parts ? count : even;
    if (k + 1 < parts) {
      // Where the rows of all arrays that this GPU has end, about there, so that none has to come from behind.
      int64_t reach = count;
      for (const Rows& rows : arrays) {
        const ByteRange behind{rows.begin + begin * rows.step, rows.begin + count * rows.step};
        if (rows.step > 0)
          reach = std::min(reach, begin + memory_->valid_bytes(g, static_cast<const HostStorage&>(*rows.storage), behind) / rows.step);
      }
      if (!always && std::abs(reach - even) < count / parts / 8) end = reach / grain * grain;
    }
    if (end > begin) shares.push_back({g, begin, end});
    begin = std::max(begin, end);
  }
  int64_t in_place = 0;
  for (const Portion& share : shares) in_place += there(share);
  return always || bytes >= options_.split_from || in_place >= nearly_all ? shares : std::vector{best};
}

const GpuCounts& GpuDevice::counts() const { return memory_->counts(); }

LoadedKernelRef GpuDevice::load(const ir::Kernel& kernel) {
  auto loaded = std::make_shared<GpuLoadedKernel>();
  loaded->on.resize(static_cast<size_t>(count()));
  const std::vector<int> gpus = usable();
  if (gpus.empty()) return loaded;
  LoadedKernelRef& first = loaded->on[static_cast<size_t>(gpus[0])];  // the others when they run it
  try {
    first = memory_->gpu(gpus[0]).load(kernel);
  } catch (const GpuLost&) {
    lost();
  }
  loaded->for_gpus = first != nullptr;
  if (first) loaded->compile_seconds = first->compile_seconds;
  return loaded;
}

void GpuDevice::watch(const std::atomic<bool>& interrupt) {
  interrupt_ = &interrupt;
  memory_->watch(interrupt);
}

void GpuDevice::check_interrupt() const {
  if (interrupt_->load(std::memory_order_relaxed)) throw Interrupted();
}

void GpuDevice::wait(int g, GpuStream stream, double expected) const { memory_->wait(g, stream, expected); }

void GpuDevice::run(const Launch& launch, Progress& progress) {
  if (launch.units <= 0) return;
  check_interrupt();
  const LoadedKernelRef loaded = launch.loaded ? launch.loaded : load(*launch.kernel);
  const auto& kernel = static_cast<const GpuLoadedKernel&>(*loaded);
  if (!kernel.for_gpus) return run_on_host(launch, kernel, progress);
  try {
    memory_->begin_use();
    LaunchOnGpus(*this, launch, kernel, progress).run();
    return;
  } catch (const GpuLost&) {
    lost();
  } catch (const Error& error) {
    if (!is_memory_error(error)) throw;
  }
  run_on_host(launch, kernel, progress);  // the GPUs have no room for it, not even in parts; the host may
}

void GpuDevice::run_on_host(const Launch& launch, const GpuLoadedKernel& kernel, Progress& progress) {
  finish();
  ++memory_->counts().on_host;
  Launch on_host = launch;
  if (!kernel.on_host) kernel.on_host = host_.load(*launch.kernel);
  on_host.loaded = kernel.on_host;
  host_.run(on_host, progress);
}

void GpuDevice::send_home(const StorageRef& result) {
  auto& storage = static_cast<HostStorage&>(*result);
  if (storage.bytes() > kSentHome) return;
  try {
    for (const int g : memory_->send_home(storage)) last_[static_cast<size_t>(g)] = GpuStream::compute;
  } catch (const GpuLost&) {
    lost();
  }
}

void GpuDevice::finish() {
  try {
    for (int g = 0; g < count(); ++g) {
      if (!memory_->alive(g)) continue;
      // Kernels come after what was copied in for them, and what is copied out after the kernels.
      if (const auto last = std::exchange(last_[static_cast<size_t>(g)], std::nullopt)) wait(g, *last);
    }
    memory_->commit();
  } catch (const GpuLost&) {
    lost();
  } catch (const Interrupted&) {
    abandon();
    throw;
  }
}

void GpuDevice::abandon() noexcept {
  try {
    memory_->stop();
    std::fill(last_.begin(), last_.end(), std::nullopt);
    memory_->commit();
  } catch (...) {  // it has said so where it matters
  }
}

void GpuDevice::lost() {
  memory_->bury_lost();
  if (std::exchange(lost_, memory_->lost_count()) == memory_->lost_count())
    throw Error("RuntimeError", "a GPU failed and recovered", {}, Blame::internal);
  throw WorkLost();
}

double host_seconds(double bytes, double operations, int threads) {
  constexpr double kBytesPerSecond = 10e9, kOperationsPerSecondAndThread = 2e9;
  return std::max(bytes / kBytesPerSecond, operations / (kOperationsPerSecondAndThread * threads));
}

bool GpuDevice::pays(double bytes, double operations, int steps, const std::vector<StorageRef>& memories) const {
  // Weighs what the host would need against what the GPUs would: the plan's work on either, and the bytes that would have to cross the link
  // first. Later uses of the arrays are not known, so what is uploaded is paid by this plan alone; results are left where they are
  // computed.
  constexpr double kGpuBytesPerSecond = 2e12, kGpuOperationsPerSecond = 4e12;
  constexpr double kLinkBytesPerSecond = 20e9;
  constexpr double kSecondsPerLaunch = 15e-6, kSecondsPerPlan = 30e-6;
  double to_gpu = 0, to_host = 0;
  for (const StorageRef& memory : memories) {
    const auto& storage = static_cast<const HostStorage&>(*memory);
    const ByteRange all{0, storage.bytes()};
    const auto away = static_cast<double>(memory_->away_from_host(storage, all));
    int64_t there = 0;
    for (int g = 0; g < count(); ++g) there = std::max(there, memory_->valid_bytes(g, storage, all));
    to_host += away;
    to_gpu += std::max(0.0, static_cast<double>(all.size()) - std::max(away, static_cast<double>(there)));
  }
  to_gpu = std::min(to_gpu, bytes);  // a view of a large array moves only what it shows
  to_host = std::min(to_host, std::max(bytes, 1.0) * 16);
  const double on_host = host_seconds(bytes, operations, host_.properties().threads) + to_host / kLinkBytesPerSecond;
  const double on_gpu = std::max(bytes / kGpuBytesPerSecond, operations / kGpuOperationsPerSecond) + to_gpu / kLinkBytesPerSecond +
                        kSecondsPerPlan + steps * kSecondsPerLaunch;
  return on_gpu < on_host;
}

}  // namespace gasell
