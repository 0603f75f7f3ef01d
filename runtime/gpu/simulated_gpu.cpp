#include "runtime/gpu/simulated_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <variant>
#include <vector>

#include "compiler/codegen/race_check.h"
#include "lang/diagnostic.h"
#include "runtime/device/parse_bytes.h"
#include "runtime/gpu/simulated_libraries.h"
#include "runtime/gpu/simulated_memory.h"

namespace gasell {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned char kUnfilledByte = 0xFD;
constexpr int64_t kPinnedAlignment = 256;
// Copies from pageable memory wait in staging buffers of so many bytes, as a driver's would.
constexpr int64_t kStaged = 64 << 20;
// done() works for so long, so that its caller can look for interrupts.
constexpr auto kSlice = std::chrono::milliseconds(5);
constexpr int64_t kWorkSpace = 4096;  // bytes that a library asks for
constexpr int64_t kBlocks = 64;       // parts of a launch that change places

struct SimulatedKernel final : LoadedKernel {
  HostKernelFunction function = nullptr;
  GridKernel grid;                     // of a kernel of threads
  std::vector<GpuAddress> alignments;  // of its arrays' elements: a real GPU reads them at no other addresses
};

struct Copy {
  enum class Kind : uint8_t { in, out, within } kind;
  char* to;
  const char* from;
  int64_t bytes;
  std::vector<char> staged;  // the source, where it was pageable
};
struct Fill {
  char* to;
  int64_t bytes;
};
struct Launched {
  HostKernelFunction function;
  std::vector<void*> arrays;  // and the bounds and the races' checker (codegen/jit.h)
  std::vector<int64_t> scalars;
  int64_t next, end;           // units
  int64_t block;               // units a block
  std::vector<int64_t> order;  // of the blocks, the next one last
  std::unique_ptr<RaceChecker> races;
};
struct Grid {
  GridKernel kernel;
  std::vector<void*> arrays;  // and the bounds
  std::vector<int64_t> scalars;
  GridShape shape;
  GridFault* fault;
  std::future<GridFault> running;  // since it came first in its stream: whoever waits can be interrupted
};
struct LibraryCall {
  std::function<void()> compute;
};
struct Wait {
  GpuStream other;
  int64_t count;  // operations of the other stream
};
struct Lose {
  const char* what;
};
struct Mark {
  int64_t number;
};
using Operation = std::variant<Copy, Fill, Launched, Grid, LibraryCall, Wait, Lose, Mark>;

/// Operations in order; those that have run are gone.
struct Stream {
  std::deque<Operation> waiting;
  int64_t given = 0;
  int64_t ran() const { return given - static_cast<int64_t>(waiting.size()); }
};

class SimulatedGpu final : public Gpu {
 public:
  SimulatedGpu(int ordinal, KernelCompiler compile, const SimulationOptions& options)
      : compile_(std::move(compile)),
        check_races_(options.check_races),
        faults_(options.faults),
        pinned_(std::make_shared<Pinned>()),
        memory_(ordinal, options.memory),
        random_(static_cast<uint64_t>(ordinal) + 1) {
    register_simt_functions();
    properties_.name = "simulated GPU";
    properties_.ordinal = ordinal;
    properties_.multiprocessors = 8;
    properties_.memory = options.memory;
  }

  ~SimulatedGpu() override {
    set_stop(true);
    for (Stream& stream : streams_) stream.waiting.clear();
    release_freed(true);
  }

  const GpuProperties& properties() const override { return properties_; }

  int64_t free_memory() override {
    const std::lock_guard lock(mutex_);
    return memory_.free_bytes();
  }
  void synchronize_foreign(uint64_t) override {}  // others have no streams here
  void synchronize_foreign_event(uint64_t) override {}
  bool has(GpuAddress address) override {
    const std::lock_guard lock(mutex_);
    return memory_.has(address);
  }

  GpuAddress allocate(int64_t bytes) override {
    const std::lock_guard lock(mutex_);
    require_alive();
    const bool injected = ++faults_->allocations == faults_->out_of_memory_at;
    if (!injected && !memory_.fits(bytes)) run_all();
    return memory_.allocate(bytes, injected);
  }

  void free(GpuAddress address) noexcept override {
    const std::lock_guard lock(mutex_);
    StreamCounts given{};
    for (size_t k = 0; k < given.size(); ++k) given[k] = streams_[k].given;
    memory_.free(address, given);
    release_freed(lost_);
  }

  void copy_in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream) override {
    const std::lock_guard lock(mutex_);
    Copy copy{Copy::Kind::in, memory_of(to, bytes), static_cast<const char*>(from), bytes, {}};
    if (!is_pinned(from)) {
      copy.staged.assign(copy.from, copy.from + bytes);
      copy.from = nullptr;
      staged_ += bytes;
    }
    give_copy(stream, std::move(copy));
    if (staged_ > kStaged) advance(stream, streams_[static_cast<size_t>(stream)].given, Clock::time_point::max());
  }
  void copy_out(void* to, GpuAddress from, int64_t bytes, GpuStream stream) override {
    const std::lock_guard lock(mutex_);
    std::memset(to, kUnfilledByte, static_cast<size_t>(bytes));
    give_copy(stream, Copy{Copy::Kind::out, static_cast<char*>(to), memory_of(from, bytes), bytes, {}});
  }
  void copy(GpuAddress to, GpuAddress from, int64_t bytes, GpuStream stream) override {
    const std::lock_guard lock(mutex_);
    give_copy(stream, Copy{Copy::Kind::within, memory_of(to, bytes), memory_of(from, bytes), bytes, {}});
  }
  void fill_zero(GpuAddress to, int64_t bytes, GpuStream stream) override {
    const std::lock_guard lock(mutex_);
    give(stream, Fill{memory_of(to, bytes), bytes});
  }

  std::shared_ptr<void> pinned(int64_t bytes) override {
    auto* const memory = static_cast<char*>(
        std::aligned_alloc(kPinnedAlignment, static_cast<size_t>((bytes + kPinnedAlignment - 1) / kPinnedAlignment * kPinnedAlignment)));
    if (!memory) return nullptr;
    const std::lock_guard lock(pinned_->mutex);
    pinned_->ranges.emplace(memory, memory + bytes);
    return std::shared_ptr<void>(memory, [pinned = pinned_](void* p) {
      {
        const std::lock_guard lock(pinned->mutex);
        pinned->ranges.erase(static_cast<char*>(p));
      }
      std::free(p);
    });
  }

  LoadedKernelRef load(const ir::Kernel& kernel) override {
    const HostKernel compiled = compile_(kernel);
    if (!compiled.function) return nullptr;
    auto loaded = std::make_shared<SimulatedKernel>();
    loaded->function = compiled.function;
    loaded->compile_seconds = compiled.compile_seconds;
    if (kernel.simt) loaded->grid = grid_kernel(compiled.function, kernel);
    for (const ir::Parameter& p : kernel.params)
      if (p.kind != ir::Parameter::Kind::scalar) loaded->alignments.push_back(static_cast<GpuAddress>(size_of(p.type)));
    return loaded;
  }

  void launch(const LoadedKernel& kernel, std::span<const GpuArray> arrays, std::span<const int64_t> scalars, int64_t begin,
              int64_t end) override {
    const std::lock_guard lock(mutex_);
    require_alive();
    const auto& simulated = static_cast<const SimulatedKernel&>(kernel);
    for (size_t k = 0; k < arrays.size(); ++k)
      if (arrays[k].base % simulated.alignments[k]) simulation_broken("an array at a misaligned address");
    Launched launch{
        simulated.function, {}, {scalars.begin(), scalars.end()}, 0, end, std::max<int64_t>(1, (end - begin) / kBlocks), {}, nullptr};
    for (const GpuArray& array : arrays) {
      launch.arrays.push_back(SimulatedMemory::pointer(array.base));
      memory_of(array.begin, static_cast<int64_t>(array.end - array.begin));
    }
    for (const GpuArray& array : arrays) launch.arrays.push_back(SimulatedMemory::pointer(array.begin));
    for (const GpuArray& array : arrays) launch.arrays.push_back(SimulatedMemory::pointer(array.end));
    if (check_races_) {
      launch.races = std::make_unique<RaceChecker>();
      launch.arrays.push_back(launch.races.get());
    }
    launch.order.resize(static_cast<size_t>((end - begin + launch.block - 1) / launch.block));
    for (size_t k = 0; k < launch.order.size(); ++k) launch.order[k] = begin + static_cast<int64_t>(k) * launch.block;
    std::shuffle(launch.order.begin(), launch.order.end(), random_);
    if (launch.order.empty()) return;
    launch.next = launch.order.back();
    if (++faults_->launches == faults_->lost_at_launch) return give(GpuStream::compute, Lose{"its simulated loss in a kernel"});
    give(GpuStream::compute, std::move(launch));
  }

  void launch_grid(const LoadedKernel& kernel, std::span<const GpuArray> arrays, std::span<const int64_t> scalars, const GridShape& shape,
                   GpuAddress, GridFault* fault) override {
    const std::lock_guard lock(mutex_);
    require_alive();
    const auto& simulated = static_cast<const SimulatedKernel&>(kernel);
    Grid grid{simulated.grid, {}, {scalars.begin(), scalars.end()}, shape, fault, {}};
    for (size_t k = 0; k < arrays.size(); ++k) {
      if (arrays[k].base % simulated.alignments[k]) simulation_broken("an array at a misaligned address");
      memory_of(arrays[k].begin, static_cast<int64_t>(arrays[k].end - arrays[k].begin));
      grid.arrays.push_back(SimulatedMemory::pointer(arrays[k].base));
    }
    for (const GpuArray& array : arrays) grid.arrays.push_back(SimulatedMemory::pointer(array.begin));
    for (const GpuArray& array : arrays) grid.arrays.push_back(SimulatedMemory::pointer(array.end));
    if (++faults_->launches == faults_->lost_at_launch) return give(GpuStream::compute, Lose{"its simulated loss in a kernel"});
    give(GpuStream::compute, std::move(grid));
  }

  const char* library(GpuLibrary which) override { return simulated_library(which); }
  bool multiply(const GpuProduct& product) override {
    const std::lock_guard lock(mutex_);
    return give_call(simulated_product(product, place()));
  }
  bool transform(const GpuTransform& transform, const GpuWorkSpace& space) override {
    space(kWorkSpace);
    const std::lock_guard lock(mutex_);
    return give_call(simulated_transform(transform, place()));
  }
  bool decompose(const GpuDecomposition& decomposition, const GpuWorkSpace& space) override {
    space(kWorkSpace);
    const std::lock_guard lock(mutex_);
    return give_call(simulated_decomposition(decomposition, place()));
  }

  void wait(GpuStream stream, GpuStream other) override {
    const std::lock_guard lock(mutex_);
    give(stream, Wait{other, streams_[static_cast<size_t>(other)].given});
  }
  void synchronize(GpuStream stream) override {
    const std::lock_guard lock(mutex_);
    require_alive();
    advance(stream, streams_[static_cast<size_t>(stream)].given, Clock::time_point::max());
    require_alive();
  }
  bool done(GpuStream stream) override {
    const std::lock_guard lock(mutex_);
    return advance(stream, streams_[static_cast<size_t>(stream)].given, Clock::now() + kSlice) || lost_;
  }
  int64_t mark(GpuStream stream) override {
    const std::lock_guard lock(mutex_);
    give(stream, Mark{++last_mark_});
    return last_mark_;
  }
  double time_of(int64_t mark) override {
    const std::lock_guard lock(mutex_);
    const double time = marks_.at(mark);
    marks_.erase(mark);
    return time;
  }
  void set_stop(bool stop) noexcept override { stop_.store(stop, std::memory_order_relaxed); }

 private:
  struct Pinned {
    std::mutex mutex;
    std::map<const char*, const char*> ranges;
  };

  char* memory_of(GpuAddress address, int64_t bytes) const { return memory_.at(address, bytes); }

  SimulatedPlace place() const {
    return [this](GpuAddress address, int64_t bytes) { return memory_of(address, bytes); };
  }

  bool is_pinned(const void* from) const {
    const std::lock_guard lock(pinned_->mutex);
    const auto* const at = static_cast<const char*>(from);
    const auto after = pinned_->ranges.upper_bound(at);
    return after != pinned_->ranges.begin() && at < std::prev(after)->second;
  }

  void require_alive() const {
    if (lost_) throw GpuLost(fmt::format("simulated GPU {}: {}", properties_.ordinal, lost_because_));
  }

  void give(GpuStream stream, Operation operation) {
    require_alive();
    Stream& to = streams_[static_cast<size_t>(stream)];
    to.waiting.push_back(std::move(operation));
    ++to.given;
  }
  void give_copy(GpuStream stream, Copy copy) {
    require_alive();
    if (++faults_->copies == faults_->lost_at_copy) return give(stream, Lose{"its simulated loss in a copy"});
    give(stream, std::move(copy));
  }

  /// Of a library; false where it is to refuse it.
  bool give_call(std::function<void()> compute) {
    require_alive();
    if (++faults_->calls == faults_->refused_at_call || faults_->refuses) return false;
    if (++faults_->launches == faults_->lost_at_launch)
      give(GpuStream::compute, Lose{"its simulated loss in a library's call"});
    else
      give(GpuStream::compute, LibraryCall{std::move(compute)});
    return true;
  }

  void run_all() {
    for (int s = 0; s < kGpuStreams; ++s)
      advance(static_cast<GpuStream>(s), streams_[static_cast<size_t>(s)].given, Clock::time_point::max());
  }

  /// Runs what the first `count` operations of a stream need; false when `deadline` came before that.
  bool advance(GpuStream stream, int64_t count, Clock::time_point deadline) {
    Stream& from = streams_[static_cast<size_t>(stream)];
    while (!lost_ && from.ran() < count) {
      Operation& operation = from.waiting.front();
      const auto start = Clock::now();
      bool finished = true;
      if (auto* wait = std::get_if<Wait>(&operation)) {
        if (!advance(wait->other, wait->count, deadline)) return false;
      } else if (auto* launch = std::get_if<Launched>(&operation)) {
        finished = run(*launch, deadline);
        slow_down(start);
      } else if (auto* grid = std::get_if<Grid>(&operation)) {
        if (!grid->running.valid())
          grid->running = std::async(std::launch::async, [this, grid] {
            return run_grid(grid->kernel, grid->arrays.data(), grid->scalars.data(), grid->shape, check_races_, stop_);
          });
        finished = deadline == Clock::time_point::max() || grid->running.wait_until(deadline) == std::future_status::ready;
        if (finished) *grid->fault = grid->running.get();
        slow_down(start);
      } else if (auto* copy = std::get_if<Copy>(&operation)) {
        std::memcpy(copy->to, copy->from ? copy->from : copy->staged.data(), static_cast<size_t>(copy->bytes));
        staged_ -= static_cast<int64_t>(copy->staged.size());
        slow_down(start);
      } else if (auto* call = std::get_if<LibraryCall>(&operation)) {
        call->compute();
        slow_down(start);
      } else if (auto* mark = std::get_if<Mark>(&operation)) {
        marks_.emplace(mark->number, std::chrono::duration<double>(start.time_since_epoch()).count());
      } else if (auto* fill = std::get_if<Fill>(&operation)) {
        std::memset(fill->to, 0, static_cast<size_t>(fill->bytes));
      } else {
        lost_ = true;
        lost_because_ = std::get<Lose>(operation).what;
      }
      if (!finished) return false;
      from.waiting.pop_front();
      release_freed(lost_);
    }
    return !lost_ || from.ran() >= count;
  }

  /// Some units of a launch; true when it is done.
  bool run(Launched& launch, Clock::time_point deadline) {
    while (!launch.order.empty() && !stop_.load(std::memory_order_relaxed)) {
      const int64_t end = std::min(launch.order.back() + launch.block, launch.end);
      for (; launch.next < end; ++launch.next) {
        if (stop_.load(std::memory_order_relaxed)) break;
        if (deadline != Clock::time_point::max() && Clock::now() > deadline) return false;
        launch.function(launch.arrays.data(), launch.scalars.data(), launch.next, launch.next + 1);
      }
      if (launch.next < end) break;
      launch.order.pop_back();
      if (!launch.order.empty()) launch.next = launch.order.back();
    }
    return true;
  }

  void slow_down(Clock::time_point start) const {
    if (faults_->slow_device != properties_.ordinal) return;
    std::this_thread::sleep_for((Clock::now() - start) * (faults_->slow_factor - 1));
  }

  /// Gives back what was freed and is not used any more; everything that was freed when `all`.
  void release_freed(bool all) {
    StreamCounts ran{};
    for (size_t k = 0; k < ran.size(); ++k) ran[k] = streams_[k].ran();
    memory_.release(ran, all);
  }

  GpuProperties properties_;
  const KernelCompiler compile_;
  const bool check_races_;
  const std::shared_ptr<SimulatedFaults> faults_;
  const std::shared_ptr<Pinned> pinned_;
  SimulatedMemory memory_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::array<Stream, kGpuStreams> streams_;
  int64_t staged_ = 0;
  std::map<int64_t, double> marks_;
  int64_t last_mark_ = 0;
  bool lost_ = false;
  std::string lost_because_;
  std::atomic<bool> stop_{false};
};

}  // namespace

SimulationOptions SimulationOptions::from_environment() {
  SimulationOptions options;
  if (const char* memory = std::getenv("GASELL_SIM_MEMORY"); memory && *memory) {
    try {
      options.memory = parse_bytes(memory);
    } catch (const Error& e) {
      throw Error("ValueError", "GASELL_SIM_MEMORY: " + e.diagnostic().message, e.diagnostic().hint);
    }
  }
  const char* faults = std::getenv("GASELL_SIM_FAULT");
  options.faults = parse_faults(faults ? faults : "");
  const char* check = std::getenv("GASELL_CHECK");
  options.check_races = check && std::string_view(check) != "0";
  return options;
}

std::unique_ptr<Gpu> make_simulated_gpu(int ordinal, KernelCompiler compile, const SimulationOptions& options) {
  return std::make_unique<SimulatedGpu>(ordinal, std::move(compile), options);
}

}  // namespace gasell
