#include "runtime/gpu/simulated_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <variant>
#include <vector>

#include "compiler/codegen/race_check.h"
#include "lang/diagnostic.h"
#include "runtime/engine.h"

namespace gasell {
namespace {

using Clock = std::chrono::steady_clock;

// No host address has this bit, so that following a GPU's address on the host faults.
constexpr GpuAddress kHandle = GpuAddress{1} << 62;
constexpr int64_t kAlignment = 256;
constexpr int64_t kGuard = 256;
constexpr unsigned char kGuardByte = 0xB7, kFreshByte = 0xFF, kUnfilledByte = 0xFD;
// Copies from pageable memory wait in staging buffers of so many bytes, as a driver's would.
constexpr int64_t kStaged = 64 << 20;
// done() works for so long, so that its caller can look for interrupts.
constexpr auto kSlice = std::chrono::milliseconds(5);
constexpr int64_t kBlocks = 64;  // parts of a launch that change places

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
  const int64_t* error;
  GridFault* fault;
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
using Operation = std::variant<Copy, Fill, Launched, Grid, Wait, Lose, Mark>;

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
        random_(static_cast<uint64_t>(ordinal) + 1) {
    register_simt_functions();
    properties_.name = "simulated GPU";
    properties_.ordinal = ordinal;
    properties_.multiprocessors = 8;
    properties_.memory = options.memory;
  }

  ~SimulatedGpu() override {
    for (Stream& stream : streams_) stream.waiting.clear();
    release_freed(true);
    int64_t bytes = 0;
    for (const auto& [address, block] : blocks_) bytes += block.bytes;
    if (blocks_.empty()) return;
    fmt::print(stderr, "gasell: internal error: {} allocations of {} bytes on simulated GPU {} were never freed\n", blocks_.size(), bytes,
               properties_.ordinal);
    std::abort();
  }

  const GpuProperties& properties() const override { return properties_; }

  int64_t free_memory() override {
    const std::lock_guard lock(mutex_);
    return properties_.memory - used_;
  }

  GpuAddress allocate(int64_t bytes) override {
    const std::lock_guard lock(mutex_);
    require_alive();
    const bool injected = ++faults_->allocations == faults_->out_of_memory_at;
    const int64_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (!injected && size > properties_.memory - used_) run_all();
    if (injected || size > properties_.memory - used_)
      throw Error("MemoryError", fmt::format("Unable to allocate {}", memory_text(bytes)),
                  fmt::format("{} of the {} of simulated GPU {} are in use; GASELL_SIM_MEMORY sets how much it has", memory_text(used_),
                              memory_text(properties_.memory), properties_.ordinal),
                  Blame::environment);
    auto* const memory = static_cast<char*>(std::aligned_alloc(kAlignment, static_cast<size_t>(size + 2 * kGuard)));
    if (!memory)
      throw Error("MemoryError", fmt::format("Unable to allocate {}", memory_text(bytes)),
                  "the system has no memory left for the simulated GPU", Blame::environment);
    std::memset(memory, kGuardByte, kGuard);
    std::memset(memory + kGuard, kFreshByte, static_cast<size_t>(bytes));
    std::memset(memory + kGuard + bytes, kGuardByte, static_cast<size_t>(size - bytes + kGuard));
    used_ += size;
    const GpuAddress address = handle(memory + kGuard);
    blocks_.emplace(address, Block{bytes, size});
    return address;
  }

  void free(GpuAddress address) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(address);
    if (block == blocks_.end() || block->second.freed) return broken("a simulated GPU's memory was freed twice, or was none");
    block->second.freed = true;
    for (int s = 0; s < kGpuStreams; ++s) block->second.until[static_cast<size_t>(s)] = streams_[static_cast<size_t>(s)].given;
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
    auto* const memory =
        static_cast<char*>(std::aligned_alloc(kAlignment, static_cast<size_t>((bytes + kAlignment - 1) / kAlignment * kAlignment)));
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
      if (p.kind != ir::Parameter::Kind::scalar) loaded->alignments.push_back(static_cast<GpuAddress>(size_of(real_of(p.type))));
    return loaded;
  }

  void launch(const LoadedKernel& kernel, std::span<const GpuArray> arrays, std::span<const int64_t> scalars, int64_t begin,
              int64_t end) override {
    const std::lock_guard lock(mutex_);
    require_alive();
    const auto& simulated = static_cast<const SimulatedKernel&>(kernel);
    for (size_t k = 0; k < arrays.size(); ++k)
      if (arrays[k].base % simulated.alignments[k]) broken("an array at a misaligned address");
    Launched launch{
        simulated.function, {}, {scalars.begin(), scalars.end()}, 0, end, std::max<int64_t>(1, (end - begin) / kBlocks), {}, nullptr};
    for (const GpuArray& array : arrays) {
      launch.arrays.push_back(pointer(array.base));
      memory_of(array.begin, static_cast<int64_t>(array.end - array.begin));
    }
    for (const GpuArray& array : arrays) launch.arrays.push_back(pointer(array.begin));
    for (const GpuArray& array : arrays) launch.arrays.push_back(pointer(array.end));
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
    Grid grid{simulated.grid, {}, {scalars.begin(), scalars.end()}, shape, nullptr, fault};
    for (size_t k = 0; k < arrays.size(); ++k) {
      if (arrays[k].base % simulated.alignments[k]) broken("an array at a misaligned address");
      memory_of(arrays[k].begin, static_cast<int64_t>(arrays[k].end - arrays[k].begin));
      grid.arrays.push_back(pointer(arrays[k].base));
    }
    for (const GpuArray& array : arrays) grid.arrays.push_back(pointer(array.begin));
    for (const GpuArray& array : arrays) grid.arrays.push_back(pointer(array.end));
    grid.error = static_cast<const int64_t*>(grid.arrays[arrays.size() - 1]);
    if (++faults_->launches == faults_->lost_at_launch) return give(GpuStream::compute, Lose{"its simulated loss in a kernel"});
    give(GpuStream::compute, std::move(grid));
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
  struct Block {
    int64_t bytes, size;
    bool freed = false;
    std::array<int64_t, kGpuStreams> until{};  // it is used until the streams have run so many operations
  };
  struct Pinned {
    std::mutex mutex;
    std::map<const char*, const char*> ranges;
  };

  static GpuAddress handle(const char* memory) { return reinterpret_cast<GpuAddress>(memory) + kHandle; }
  static char* pointer(GpuAddress address) { return reinterpret_cast<char*>(address - kHandle); }

  [[noreturn]] static void broken(const char* what) {
    fmt::print(stderr, "gasell: internal error: {}\n", what);
    std::abort();
  }

  /// The host's address of bytes within one living allocation.
  char* memory_of(GpuAddress address, int64_t bytes) {
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) broken("an address that is none of the simulated GPU's");
    --block;
    if (block->second.freed || address + static_cast<GpuAddress>(bytes) > block->first + static_cast<GpuAddress>(block->second.bytes))
      broken("bytes outside of the simulated GPU's allocations");
    return pointer(address);
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
        *grid->fault = run_grid(grid->kernel, grid->arrays.data(), grid->scalars.data(), grid->shape, grid->error, check_races_, stop_);
        slow_down(start);
      } else if (auto* copy = std::get_if<Copy>(&operation)) {
        std::memcpy(copy->to, copy->from ? copy->from : copy->staged.data(), static_cast<size_t>(copy->bytes));
        staged_ -= static_cast<int64_t>(copy->staged.size());
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
    for (auto block = blocks_.begin(); block != blocks_.end();) {
      const Block& b = block->second;
      bool used = false;
      for (size_t s = 0; s < streams_.size(); ++s) used = used || streams_[s].ran() < b.until[s];
      if (!b.freed || (used && !all)) {
        ++block;
        continue;
      }
      check_guards(block->first, b);
      std::free(pointer(block->first) - kGuard);
      used_ -= b.size;
      block = blocks_.erase(block);
    }
  }
  static void check_guards(GpuAddress address, const Block& block) {
    const auto* const memory = reinterpret_cast<const unsigned char*>(pointer(address));
    const auto intact = [](const unsigned char* from, const unsigned char* to) {
      return std::all_of(from, to, [](unsigned char c) { return c == kGuardByte; });
    };
    if (!intact(memory - kGuard, memory) || !intact(memory + block.bytes, memory + block.size + kGuard))
      broken("something wrote beside an allocation of a simulated GPU");
  }

  GpuProperties properties_;
  const KernelCompiler compile_;
  const bool check_races_;
  const std::shared_ptr<SimulatedFaults> faults_;
  const std::shared_ptr<Pinned> pinned_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::array<Stream, kGpuStreams> streams_;
  std::map<GpuAddress, Block> blocks_;
  int64_t used_ = 0, staged_ = 0;
  std::map<int64_t, double> marks_;
  int64_t last_mark_ = 0;
  bool lost_ = false;
  std::string lost_because_;
  std::atomic<bool> stop_{false};
};

}  // namespace

SimulatedFaults::~SimulatedFaults() {
  if (count)
    fmt::print(stderr, "simulated GPUs: {} allocations, {} launches, {} copies\n", allocations.load(), launches.load(), copies.load());
}

std::shared_ptr<SimulatedFaults> parse_faults(const std::string& text) {
  auto faults = std::make_shared<SimulatedFaults>();
  const auto bad = [&] {
    return Error("ValueError", fmt::format("GASELL_SIM_FAULT is '{}'", text),
                 "it takes oom@K, lost@launch:K, lost@copy:K, slow:DEVICE:FACTOR and count, separated by commas");
  };
  const auto number = [&](const std::string& digits) {
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || *end || !(value >= 0) || value > 1e15) throw bad();
    return value;
  };
  for (size_t at = 0; at < text.size();) {
    const std::string fault = text.substr(at, text.find(',', at) - at);
    at += fault.size() + 1;
    const auto after = [&](const char* prefix) { return fault.substr(std::strlen(prefix)); };
    if (fault == "count") {
      faults->count = true;
    } else if (fault.starts_with("oom@")) {
      faults->out_of_memory_at = static_cast<int64_t>(number(after("oom@")));
    } else if (fault.starts_with("lost@launch:")) {
      faults->lost_at_launch = static_cast<int64_t>(number(after("lost@launch:")));
    } else if (fault.starts_with("lost@copy:")) {
      faults->lost_at_copy = static_cast<int64_t>(number(after("lost@copy:")));
    } else if (fault.starts_with("slow:") && fault.find(':', 5) != std::string::npos) {
      const size_t colon = fault.find(':', 5);
      faults->slow_device = static_cast<int>(number(fault.substr(5, colon - 5)));
      faults->slow_factor = std::max(1.0, number(fault.substr(colon + 1)));
    } else {
      throw bad();
    }
  }
  return faults;
}

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
