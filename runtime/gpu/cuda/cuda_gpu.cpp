#include "runtime/gpu/cuda/cuda_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/gpu/cuda/context.h"
#include "runtime/gpu/cuda/copies.h"
#include "runtime/gpu/cuda/cublas.h"
#include "runtime/gpu/cuda/cufft.h"
#include "runtime/gpu/cuda/cusolver.h"
#include "runtime/gpu/cuda/describe.h"
#include "runtime/gpu/cuda/kernels.h"
#include "runtime/gpu/cuda/marks.h"
#include "runtime/gpu/cuda/memory.h"
#include "runtime/gpu/cuda/pinned.h"
#include "runtime/gpu/cuda/streams.h"

namespace gasell {
namespace cuda {
namespace {

const LoadedDriver& usable(const CudaOptions& options) {
  const LoadedDriver& loaded = options.driver ? *options.driver : process_driver();
  if (!loaded.status.ready()) throw Error("RuntimeError", loaded.status.problem, loaded.status.remedy, Blame::environment);
  return loaded;
}

GpuProperties with_limit(GpuProperties properties, int64_t memory) {
  if (memory > 0) properties.memory = std::min(properties.memory, memory);
  return properties;
}

bool pools_wanted(const CudaOptions& options) {
  const char* set = std::getenv("GASELL_GPU_POOLS");
  return options.pools && !(set && std::string_view(set) == "0");
}

/// A word of the GPU's memory that kernels read while they run: over the link a read takes a microsecond, and one read at a time. It is set
/// by the copy engine, which needs no room among the blocks.
class StopFlag {
 public:
  /// The context must be current.
  explicit StopFlag(ContextRef context) : context_(std::move(context)) {
    const Driver& driver = context_->driver();
    const auto check = [&](Result result) {
      if (result == Result::success) return;
      release();
      context_->fail(result, "making its stop flag");
    };
    void* words = nullptr;
    check(driver.host_alloc(&words, 2 * sizeof(uint32_t), kHostPortable));
    words_ = static_cast<uint32_t*>(words);
    words_[0] = 0;
    words_[1] = 1;
    check(driver.mem_alloc(&address_, sizeof(uint32_t)));
    check(driver.stream_create(&stream_, kStreamNonBlocking));
    check(give(false));
  }
  ~StopFlag() {
    if (const Current current(*context_, std::nothrow); current.entered()) release();
  }
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;
  void set(bool stop) noexcept {
    if (const Current current(*context_, std::nothrow); current.entered()) give(stop);
  }
  DevicePointer address() const { return address_; }

 private:
  Result give(bool stop) noexcept {
    const Driver& driver = context_->driver();
    const Result given = driver.memcpy_host_to_device_async(address_, words_ + stop, sizeof(uint32_t), stream_);
    return given == Result::success ? driver.stream_synchronize(stream_) : given;
  }
  void release() noexcept {
    const Driver& driver = context_->driver();
    if (stream_) driver.stream_destroy(stream_);
    if (address_) driver.mem_free(address_);
    if (words_) driver.host_free(words_);
  }

  ContextRef context_;
  uint32_t* words_ = nullptr;  // 0 and 1, pinned
  DevicePointer address_ = 0;
  Stream stream_ = nullptr;
};

struct CodeModule final : LoadedModule {
  OwnedModule module;
};
/// A kernel of a module that a script brought along.
struct CodeKernel final : LoadedKernel {
  std::shared_ptr<const CodeModule> module;
  Function function = nullptr;
};

[[noreturn]] void refuse_block(const GridShape& shape) {
  throw Error("ValueError",
              fmt::format("blocks of {} threads need more registers or shared memory than a multiprocessor has", shape.threads_a_block()),
              "take fewer threads a block");
}

class CudaGpu final : public Gpu {
 public:
  CudaGpu(int ordinal, const CudaOptions& options, const LoadedDriver& loaded)
      : context_(std::make_shared<GpuContext>(loaded.entries, ordinal)),
        current_(std::make_unique<Current>(*context_)),
        driver_(loaded.entries),
        properties_(with_limit(properties_of(loaded.entries, ordinal), options.memory)),
        streams_(context_),
        marks_(context_, streams_),
        memory_(context_, streams_, pools_wanted(options), properties_.memory),
        pinned_(std::make_shared<PinnedMemory>(context_, options.pinned_keep)),
        copies_(context_, streams_, *pinned_, options.staging),
        kernels_(context_, options.compile ? options.compile : compile_ptx, options.compile ? options.compiler : gpu_compiler_name(),
                 options.codes, options.cache, loaded.status.version),
        products_(context_, streams_),
        transforms_(context_, streams_),
        decompositions_(context_, streams_),
        stop_(context_),
        waves_(std::max(1, options.waves)) {
    current_.reset();
  }

  ~CudaGpu() override {
    if (const Current current(*context_, std::nothrow); current.entered())
      for (const GpuStream stream : kAllStreams) driver_.stream_synchronize(streams_[stream]);
    pinned_->close();
  }

  const GpuProperties& properties() const override { return properties_; }
  int64_t free_memory() override {
    const Current current(*context_);
    return memory_.free_bytes();
  }

  GpuAddress allocate(int64_t bytes) override {
    const Current current(*context_);
    return memory_.allocate(bytes);
  }
  void free(GpuAddress address) noexcept override { memory_.free(address); }

  void copy_in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream) override {
    const Current current(*context_);
    copies_.in(to, from, bytes, stream);
  }
  void copy_out(void* to, GpuAddress from, int64_t bytes, GpuStream stream) override {
    const Current current(*context_);
    copies_.out(to, from, bytes, stream);
  }
  void copy(GpuAddress to, GpuAddress from, int64_t bytes, GpuStream stream) override {
    if (bytes <= 0) return;
    const Current current(*context_);
    context_->check(driver_.memcpy_device_to_device_async(to, from, static_cast<size_t>(bytes), streams_[stream]),
                    "copying within its memory");
    streams_.gave(stream);
  }
  void fill_zero(GpuAddress to, int64_t bytes, GpuStream stream) override {
    if (bytes <= 0) return;
    const Current current(*context_);
    context_->check(driver_.memset_d8_async(to, 0, static_cast<size_t>(bytes), streams_[stream]), "filling memory");
    streams_.gave(stream);
  }
  std::shared_ptr<void> pinned(int64_t bytes) override { return pinned_->take(bytes); }

  // Between two kernels that are split over GPUs stand the copies of what they share, and copies that wait for each other would come one by
  // one: each waits for its peer's work alone, not for what that waits for, and only kernels of the peer wait for it that come behind its
  // next wait of the compute stream. Who overwrites or frees the peer's memory comes behind them.
  void copy_from_peer(GpuAddress to, Gpu& peer, GpuAddress from, int64_t bytes, GpuStream stream, bool settled) override {
    auto* other = dynamic_cast<CudaGpu*>(&peer);
    if (!other) return Gpu::copy_from_peer(to, peer, from, bytes, stream, settled);
    if (bytes <= 0) return;
    other->context_->require_alive();
    open_link(*other);  // the driver goes through the host where there is none
    const Current current(*context_);
    const auto check = [&](Result result) { context_->check(result, "copying from another GPU"); };
    check(other->streams_.order_behind_work(streams_[stream], GpuStream::compute));
    if (!settled) check(other->streams_.order(streams_[stream], GpuStream::copy_in));
    check(driver_.memcpy_peer_async(to, context_->handle(), from, other->context_->handle(), static_cast<size_t>(bytes), streams_[stream]));
    streams_.gave(stream);
    other->streams_.read_by(streams_, stream);
  }

  LoadedKernelRef load(const ir::Kernel& kernel) override {
    const Current current(*context_);
    return kernels_.load(kernel);
  }

  void launch(const LoadedKernel& loaded, std::span<const GpuArray> arrays, std::span<const int64_t> scalars, int64_t begin,
              int64_t end) override {
    if (end <= begin) return;
    const auto& kernel = static_cast<const CudaKernel&>(loaded);
    if (arrays.size() != kernel.arrays)
      throw Error("SystemError", fmt::format("a kernel of {} arrays was launched with {}", kernel.arrays, arrays.size()), {},
                  Blame::internal);
    std::vector<uint64_t> slots;
    for (const GpuArray& array : arrays) slots.push_back(array.base);
    slots.insert(slots.end(), scalars.begin(), scalars.end());
    for (const uint64_t slot : {static_cast<uint64_t>(begin), static_cast<uint64_t>(end), static_cast<uint64_t>(stop_.address())})
      slots.push_back(slot);
    std::vector<void*> parameters;
    for (uint64_t& slot : slots) parameters.push_back(&slot);

    const Current current(*context_);
    // Units that move much take a block each: a block that goes from unit to unit waits for its last thread each time.
    constexpr GpuAddress kMuch = 16 << 10;
    GpuAddress moved = 0;
    for (const GpuArray& array : arrays) moved += array.end - array.begin;
    const bool much = moved / kMuch >= static_cast<GpuAddress>(end - begin);
    const auto most = much ? std::numeric_limits<int32_t>::max() : int64_t{kernel.blocks_at_once} * waves_;
    const auto grid = static_cast<unsigned>(std::min<int64_t>(end - begin, most));
    context_->check(driver_.launch_kernel(kernel.function, grid, 1, 1, static_cast<unsigned>(kernel.threads), 1, 1, kernel.shared_bytes,
                                          streams_[GpuStream::compute], parameters.data(), nullptr),
                    "starting a kernel");
    streams_.gave(GpuStream::compute);
  }

  void launch_grid(const LoadedKernel& loaded, std::span<const GpuArray> arrays, std::span<const int64_t> scalars, const GridShape& shape,
                   GpuAddress words, GridFault*) override {
    const auto& kernel = static_cast<const CudaKernel&>(loaded);
    std::vector<uint64_t> slots;
    for (const GpuArray& array : arrays) slots.push_back(array.base);
    slots.insert(slots.end(), scalars.begin(), scalars.end());
    slots.push_back(words);
    // The axes x and y of grid and blocks change places.
    constexpr int64_t kMostAlongY = 65535;
    const bool turned = shape.along_y && shape.blocks[0] <= kMostAlongY;
    const size_t x = turned ? 1 : 0, y = turned ? 0 : 1;
    slots.push_back(turned);
    slots.push_back(stop_.address());
    std::vector<void*> parameters;
    for (uint64_t& slot : slots) parameters.push_back(&slot);
    const Current current(*context_);
    const int64_t shared = int64_t{kernel.shared_bytes} + shape.shared_bytes;
    kernels_.allow_shared(kernel, shared);
    if (words) {  // its blocks wait for each other, so all must be there at once
      int blocks = 0;
      context_->check(driver_.occupancy_max_active_blocks(&blocks, kernel.function, static_cast<int>(shape.threads_a_block()),
                                                          static_cast<size_t>(shared)),
                      "asking how many blocks fit");
      if (const int64_t most = int64_t{blocks} * properties_.multiprocessors; shape.block_count() > most)
        throw Error("ValueError",
                    fmt::format("a kernel whose grid waits for itself can have {} blocks of this size, not {}", most, shape.block_count()),
                    "let each thread do more");
    }
    const auto n = [](int64_t v) { return static_cast<unsigned>(v); };
    const Result result = driver_.launch_kernel(kernel.function, n(shape.blocks[x]), n(shape.blocks[y]), n(shape.blocks[2]),
                                                n(shape.threads[x]), n(shape.threads[y]), n(shape.threads[2]), n(shared),
                                                streams_[GpuStream::compute], parameters.data(), nullptr);
    if (result == Result::launch_out_of_resources) refuse_block(shape);
    context_->check(result, "starting a kernel");
    streams_.gave(GpuStream::compute);
  }

  LoadedModuleRef load_module(const std::string& image) override {
    const Current current(*context_);
    Module module = nullptr;
    const Result result = driver_.module_load_data(&module, image.c_str());
    if (result == Result::no_binary_for_gpu || result == Result::invalid_image || result == Result::invalid_ptx ||
        result == Result::unsupported_ptx_version)
      throw Error("ValueError", fmt::format("{} does not take this module ({})", context_->label(), error_name(driver_, result)),
                  "a cubin for this GPU, PTX, or a fat binary that has one of them");
    context_->check(result, "loading a module");
    auto loaded = std::make_shared<CodeModule>();
    loaded->module = OwnedModule(context_, module);
    return loaded;
  }
  LoadedKernelRef module_kernel(const LoadedModuleRef& module, const std::string& symbol) override {
    const Current current(*context_);
    auto kernel = std::make_shared<CodeKernel>();
    kernel->module = std::static_pointer_cast<const CodeModule>(module);
    const Result result = driver_.module_get_function(&kernel->function, kernel->module->module.get(), symbol.c_str());
    if (result == Result::not_found) return nullptr;
    context_->check(result, "looking for a kernel");
    return kernel;
  }
  std::optional<ModuleGlobal> module_global(const LoadedModuleRef& module, const std::string& symbol) override {
    const Current current(*context_);
    DevicePointer address = 0;
    size_t bytes = 0;
    const Result result = driver_.module_get_global(&address, &bytes, static_cast<const CodeModule&>(*module).module.get(), symbol.c_str());
    if (result == Result::not_found) return {};
    context_->check(result, "looking for a variable of a module");
    return ModuleGlobal{address, static_cast<int64_t>(bytes)};
  }
  int kernel_attribute(const LoadedKernel& loaded, KernelAttribute attribute) override {
    const Current current(*context_);
    return function_attribute(static_cast<const CodeKernel&>(loaded).function, static_cast<FunctionAttribute>(attribute));
  }
  bool set_kernel_attribute(const LoadedKernel& loaded, KernelAttribute attribute, int value) override {
    const Current current(*context_);
    const Result result =
        driver_.function_set_attribute(static_cast<const CodeKernel&>(loaded).function, static_cast<FunctionAttribute>(attribute), value);
    if (result == Result::invalid_value) return false;
    context_->check(result, "setting an attribute of a kernel");
    return true;
  }
  void launch_code(const LoadedKernel& loaded, std::span<void* const> arguments, const GridShape& shape) override {
    const auto& kernel = static_cast<const CodeKernel&>(loaded);
    const Current current(*context_);
    constexpr int64_t kSharedWithoutAsking = 48 << 10;
    if (shape.shared_bytes > kSharedWithoutAsking &&
        shape.shared_bytes > function_attribute(kernel.function, FunctionAttribute::max_dynamic_shared_bytes))
      context_->check(driver_.function_set_attribute(kernel.function, FunctionAttribute::max_dynamic_shared_bytes,
                                                     static_cast<int>(shape.shared_bytes)),
                      "giving a kernel shared memory");
    std::vector<void*> parameters(arguments.begin(), arguments.end());
    const auto n = [](int64_t v) { return static_cast<unsigned>(v); };
    const Result result = driver_.launch_kernel(kernel.function, n(shape.blocks[0]), n(shape.blocks[1]), n(shape.blocks[2]),
                                                n(shape.threads[0]), n(shape.threads[1]), n(shape.threads[2]), n(shape.shared_bytes),
                                                streams_[GpuStream::compute], parameters.data(), nullptr);
    if (result == Result::launch_out_of_resources) refuse_block(shape);
    context_->check(result, "starting a kernel");
    streams_.gave(GpuStream::compute);
  }

  const char* library(GpuLibrary which) override {
    switch (which) {
      case GpuLibrary::products: return process_cublas().ready() && !products_.refused() ? kCublas.name : nullptr;
      case GpuLibrary::transforms: return process_cufft().ready() && !transforms_.refused() ? kCufft.name : nullptr;
      default: return process_cusolver().ready() && !decompositions_.refused() ? kCusolver.name : nullptr;
    }
  }
  bool multiply(const GpuProduct& product) override {
    const Current current(*context_);
    return products_.multiply(product);
  }
  bool transform(const GpuTransform& transform, const GpuWorkSpace& space) override {
    const Current current(*context_);
    return transforms_.transform(transform, space);
  }
  bool decompose(const GpuDecomposition& decomposition, const GpuWorkSpace& space) override {
    const Current current(*context_);
    return decompositions_.decompose(decomposition, space);
  }

  void wait(GpuStream stream, GpuStream other) override {
    if (stream == other) return;
    const Current current(*context_);
    if (stream == GpuStream::compute) context_->check(streams_.settle(), "ordering its streams");
    context_->check(streams_.order(stream, other), "ordering its streams");
  }
  void synchronize(GpuStream stream) override {
    if (streams_.is_done(stream)) return context_->require_alive();
    const Current current(*context_);
    const uint64_t given = streams_.given(stream);
    context_->check(driver_.stream_synchronize(streams_[stream]), "working");
    streams_.found_done(stream, given);
  }
  void synchronize_foreign(uint64_t stream) override {
    const Current current(*context_);
    context_->check(driver_.stream_synchronize(reinterpret_cast<Stream>(stream)), "waiting for another library's work");
  }
  void synchronize_foreign_event(uint64_t event) override {
    const Current current(*context_);
    context_->check(driver_.event_synchronize(reinterpret_cast<Event>(event)), "waiting for another library's event");
  }
  bool has(GpuAddress address) override {
    const Current current(*context_);
    int ordinal = -1;
    return driver_.pointer_get_attribute(&ordinal, PointerAttribute::device_ordinal, address) == Result::success &&
           ordinal == properties_.ordinal;
  }
  bool done(GpuStream stream) override {
    const Current current(*context_);
    const uint64_t given = streams_.given(stream);
    const Result result = driver_.stream_query(streams_[stream]);
    if (result == Result::not_ready) return false;
    context_->check(result, "working");
    streams_.found_done(stream, given);
    return true;
  }
  int64_t mark(GpuStream stream) override {
    const Current current(*context_);
    const int64_t mark = marks_.set(stream);
    streams_.ordered(stream);  // the stream is done when it came there
    return mark;
  }
  double time_of(int64_t mark) override {
    const Current current(*context_);
    return marks_.time_of(mark);
  }
  void set_stop(bool stop) noexcept override { stop_.set(stop); }

 private:
  /// The context must be current.
  int function_attribute(Function function, FunctionAttribute attribute) {
    int value = 0;
    context_->check(driver_.function_get_attribute(&value, attribute, function), "reading an attribute of a kernel");
    return value;
  }
  /// Lets this GPU reach the other's memory over the link between them, if there is one.
  void open_link(CudaGpu& other) {
    const std::lock_guard lock(links_mutex_);
    if (!links_tried_.insert(other.context_->ordinal()).second || other.context_->ordinal() == context_->ordinal()) return;
    int can = 0;
    if (driver_.device_can_access_peer(&can, context_->device(), other.context_->device()) != Result::success || !can) return;
    {
      const Current current(*context_);
      const Result result = driver_.context_enable_peer_access(other.context_->handle(), 0);
      if (result != Result::peer_access_already_enabled) context_->check(result, "opening the link to another GPU");
    }
    const Current current(*other.context_);
    other.memory_.open_to(context_->ordinal());
  }

  // What comes first goes last: the context outlives all that came from it.
  ContextRef context_;
  std::unique_ptr<Current> current_;  // while the parts below are made
  const Driver& driver_;
  const GpuProperties properties_;
  Streams streams_;
  Marks marks_;
  GpuMemory memory_;
  std::shared_ptr<PinnedMemory> pinned_;
  HostCopies copies_;
  Kernels kernels_;
  Products products_;
  Transforms transforms_;
  Decompositions decompositions_;
  StopFlag stop_;
  const int waves_;
  std::mutex links_mutex_;
  std::set<int> links_tried_;  // ordinals of other GPUs
};

}  // namespace
}  // namespace cuda

int cuda_gpu_count() { return cuda::process_driver().status.devices; }

std::unique_ptr<Gpu> make_cuda_gpu(int ordinal, CudaOptions options) {
  const cuda::LoadedDriver& driver = cuda::usable(options);
  try {
    return std::make_unique<cuda::CudaGpu>(ordinal, options, driver);
  } catch (const GpuLost& lost) {  // before it was there
    throw Error("RuntimeError", fmt::format("gpu:{} does not start: {}", ordinal, lost.what()),
                "nvidia-smi and the kernel's log (dmesg, lines with Xid) show why", Blame::environment);
  }
}

}  // namespace gasell
