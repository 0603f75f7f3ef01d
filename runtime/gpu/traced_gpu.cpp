#include "runtime/gpu/traced_gpu.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gasell {
namespace {

struct TracedKernel final : LoadedKernel {
  std::string name;
  LoadedKernelRef kernel;
};

/// Marks the times before and after each operation, and reads them when the stream is known to be done.
class TracedGpu final : public Gpu {
 public:
  TracedGpu(std::unique_ptr<Gpu> gpu, std::shared_ptr<Trace> trace)
      : gpu_(std::move(gpu)), trace_(std::move(trace)), device_(fmt::format("gpu:{}", gpu_->properties().ordinal)) {
    trace_->set_bandwidth(device_, gpu_->properties().bandwidth);
  }

  const GpuProperties& properties() const override { return gpu_->properties(); }
  int64_t free_memory() override { return gpu_->free_memory(); }
  GpuAddress allocate(int64_t bytes) override {
    const GpuAddress address = gpu_->allocate(bytes);
    const std::lock_guard lock(mutex_);
    sizes_[address] = bytes;
    used_ += bytes;
    trace_->set_memory(device_, used_, gpu_->properties().memory);
    return address;
  }
  void free(GpuAddress address) noexcept override {
    gpu_->free(address);
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(address);
    if (found == sizes_.end()) return;
    used_ -= found->second;
    sizes_.erase(found);
    trace_->set_memory(device_, used_, gpu_->properties().memory);
  }
  std::shared_ptr<void> pinned(int64_t bytes) override { return gpu_->pinned(bytes); }
  void fill_zero(GpuAddress to, int64_t bytes, GpuStream stream) override { gpu_->fill_zero(to, bytes, stream); }
  void wait(GpuStream stream, GpuStream other) override { gpu_->wait(stream, other); }
  void set_stop(bool stop) noexcept override { gpu_->set_stop(stop); }
  int64_t mark(GpuStream stream) override { return gpu_->mark(stream); }
  double time_of(int64_t mark) override { return gpu_->time_of(mark); }

  void copy_in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream) override {
    record(TraceEvent::Kind::copy_in, "", bytes, stream, [&] { gpu_->copy_in(to, from, bytes, stream); });
  }
  void copy_out(void* to, GpuAddress from, int64_t bytes, GpuStream stream) override {
    record(TraceEvent::Kind::copy_out, "", bytes, stream, [&] { gpu_->copy_out(to, from, bytes, stream); });
  }
  void copy(GpuAddress to, GpuAddress from, int64_t bytes, GpuStream stream) override {
    record(TraceEvent::Kind::copy, "", bytes, stream, [&] { gpu_->copy(to, from, bytes, stream); });
  }
  void copy_from_peer(GpuAddress to, Gpu& peer, GpuAddress from, int64_t bytes, GpuStream stream, bool settled) override {
    record(TraceEvent::Kind::copy, "from " + static_cast<TracedGpu&>(peer).device_, bytes, stream,
           [&] { gpu_->copy_from_peer(to, *static_cast<TracedGpu&>(peer).gpu_, from, bytes, stream, settled); });
  }

  LoadedKernelRef load(const ir::Kernel& kernel) override {
    LoadedKernelRef loaded = gpu_->load(kernel);
    if (!loaded) return nullptr;
    auto traced = std::make_shared<TracedKernel>();
    traced->name = kernel.name;
    traced->compile_seconds = loaded->compile_seconds;
    traced->kernel = std::move(loaded);
    return traced;
  }
  void launch(const LoadedKernel& kernel, std::span<const GpuArray> arrays, std::span<const int64_t> scalars, int64_t begin,
              int64_t end) override {
    const auto& traced = static_cast<const TracedKernel&>(kernel);
    int64_t bytes = 0;
    for (const GpuArray& array : arrays) bytes += static_cast<int64_t>(array.end - array.begin);
    record(TraceEvent::Kind::kernel, traced.name, bytes, GpuStream::compute,
           [&] { gpu_->launch(*traced.kernel, arrays, scalars, begin, end); });
  }
  void launch_grid(const LoadedKernel& kernel, std::span<const GpuArray> arrays, std::span<const int64_t> scalars, const GridShape& shape,
                   GpuAddress words, GridFault* fault) override {
    const auto& traced = static_cast<const TracedKernel&>(kernel);
    int64_t bytes = 0;
    for (const GpuArray& array : arrays) bytes += static_cast<int64_t>(array.end - array.begin);
    record(TraceEvent::Kind::kernel, traced.name, bytes, GpuStream::compute,
           [&] { gpu_->launch_grid(*traced.kernel, arrays, scalars, shape, words, fault); });
  }

  LoadedModuleRef load_module(const std::string& image) override { return gpu_->load_module(image); }
  LoadedKernelRef module_kernel(const LoadedModuleRef& module, const std::string& symbol) override {
    LoadedKernelRef loaded = gpu_->module_kernel(module, symbol);
    if (!loaded) return nullptr;
    auto traced = std::make_shared<TracedKernel>();
    traced->name = symbol;
    traced->kernel = std::move(loaded);
    return traced;
  }
  std::optional<ModuleGlobal> module_global(const LoadedModuleRef& module, const std::string& symbol) override {
    return gpu_->module_global(module, symbol);
  }
  int kernel_attribute(const LoadedKernel& kernel, KernelAttribute attribute) override {
    return gpu_->kernel_attribute(*static_cast<const TracedKernel&>(kernel).kernel, attribute);
  }
  bool set_kernel_attribute(const LoadedKernel& kernel, KernelAttribute attribute, int value) override {
    return gpu_->set_kernel_attribute(*static_cast<const TracedKernel&>(kernel).kernel, attribute, value);
  }
  void launch_code(const LoadedKernel& kernel, std::span<void* const> arguments, const GridShape& shape) override {
    const auto& traced = static_cast<const TracedKernel&>(kernel);
    record(TraceEvent::Kind::kernel, traced.name, 0, GpuStream::compute, [&] { gpu_->launch_code(*traced.kernel, arguments, shape); });
  }

  const char* library(GpuLibrary which) override { return gpu_->library(which); }
  bool multiply(const GpuProduct& product) override {
    const int64_t elements = product.rows * product.summed + product.summed * product.columns + product.rows * product.columns;
    return record_call("product of matrices", elements * product.count * size_of(product.dtype), [&] { return gpu_->multiply(product); });
  }
  bool transform(const GpuTransform& transform, const GpuWorkSpace& space) override {
    int64_t elements = transform.count;
    for (int k = 0; k < transform.rank; ++k) elements *= transform.extents[static_cast<size_t>(k)];
    return record_call("Fourier transform", 2 * elements * (transform.single ? 8 : 16), [&] { return gpu_->transform(transform, space); });
  }
  bool decompose(const GpuDecomposition& decomposition, const GpuWorkSpace& space) override {
    return record_call("decomposition of matrices",
                       decomposition.count * decomposition.rows * decomposition.columns * size_of(decomposition.dtype),
                       [&] { return gpu_->decompose(decomposition, space); });
  }

  void synchronize(GpuStream stream) override {
    if (!trace_->is_on()) return gpu_->synchronize(stream);
    for (int s = 0; s < kGpuStreams; ++s) {
      const auto each = static_cast<GpuStream>(s);
      // Taken first: another thread may give the stream more meanwhile.
      std::vector<Pending> pending = take_pending(each);
      if (each == stream || gpu_->done(each)) {
        gpu_->synchronize(each);
        settle(pending);
      } else {
        put_back(each, std::move(pending));
      }
    }
  }
  bool done(GpuStream stream) override { return gpu_->done(stream); }
  void synchronize_foreign(uint64_t stream) override { gpu_->synchronize_foreign(stream); }
  void synchronize_foreign_event(uint64_t event) override { gpu_->synchronize_foreign_event(event); }
  bool has(GpuAddress address) override { return gpu_->has(address); }

 private:
  struct Pending {
    TraceEvent event;
    int64_t begin, end;  // marks
  };

  template <class Work>
  void record(TraceEvent::Kind kind, std::string name, int64_t bytes, GpuStream stream, Work&& work) {
    if (!trace_->is_on()) return work();
    const int64_t begin = gpu_->mark(stream);
    work();
    const int64_t end = gpu_->mark(stream);
    const std::lock_guard lock(mutex_);
    pending_[static_cast<size_t>(stream)].push_back({{kind, std::move(name), device_, 0, 0, static_cast<double>(bytes)}, begin, end});
  }

  /// A call of a library; whether it was given.
  template <class Call>
  bool record_call(const char* name, int64_t bytes, Call&& call) {
    bool given = false;
    record(TraceEvent::Kind::kernel, name, bytes, GpuStream::compute, [&] { given = call(); });
    return given;
  }

  std::vector<Pending> take_pending(GpuStream stream) {
    const std::lock_guard lock(mutex_);
    return std::exchange(pending_[static_cast<size_t>(stream)], {});
  }
  void put_back(GpuStream stream, std::vector<Pending> pending) {
    const std::lock_guard lock(mutex_);
    std::vector<Pending>& all = pending_[static_cast<size_t>(stream)];
    all.insert(all.begin(), std::make_move_iterator(pending.begin()), std::make_move_iterator(pending.end()));
  }

  /// Operations that their stream has done get their times.
  void settle(std::vector<Pending>& done) {
    for (Pending& each : done) {
      each.event.begin = gpu_->time_of(each.begin);
      each.event.end = gpu_->time_of(each.end);
      trace_->add(std::move(each.event));
    }
  }

  const std::unique_ptr<Gpu> gpu_;
  const std::shared_ptr<Trace> trace_;
  const std::string device_;
  std::mutex mutex_;
  std::unordered_map<GpuAddress, int64_t> sizes_;  // of what is allocated
  int64_t used_ = 0;
  std::array<std::vector<Pending>, kGpuStreams> pending_;
};

}  // namespace

std::unique_ptr<Gpu> traced(std::unique_ptr<Gpu> gpu, std::shared_ptr<Trace> trace) {
  return std::make_unique<TracedGpu>(std::move(gpu), std::move(trace));
}

}  // namespace gasell
