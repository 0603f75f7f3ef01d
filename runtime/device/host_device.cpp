#include "runtime/device/host_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/device/handout.h"
#include "runtime/device/workers.h"

namespace gasell {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Waking another core's worker costs about this much; less work than that is done by the calling thread alone.
constexpr double kAloneSeconds = 20e-6;
// Rough rates of one core, only to decide whether a launch is worth waking the others before its first unit was timed.
constexpr double kBytesPerSecond = 20e9, kElementsPerSecond = 10e9;
// Streamed files: pages held by one range, and how far ahead of the pass the disk reads.
constexpr double kStreamedRangeBytes = 16 << 20;
constexpr double kReadAheadBytes = 64 << 20;
// Files larger than this part of the memory are streamed: given back behind the pass. Smaller ones stay mapped for the next pass.
constexpr int64_t kStreamedPart = 8;

struct HostLoadedKernel final : LoadedKernel {
  HostKernelFunction function = nullptr;
};

/// The host's bytes of array `number`, where other devices have copies of it.
void* memory_for(HostStorage& storage, const Launch& launch, size_t number) {
  for (const ir::Parameter& parameter : launch.kernel->params) {
    if (parameter.kind == ir::Parameter::Kind::scalar || number-- > 0) continue;
    return parameter.kind == ir::Parameter::Kind::out ? storage.write() : const_cast<void*>(storage.read());
  }
  return storage.write();
}

/// One launch as its workers see it.
class Pass {
 public:
  Pass(const Launch& launch, HostKernelFunction function, int64_t memory, const std::atomic<bool>& interrupt, Progress& progress)
      : launch_(launch), function_(function), interrupt_(interrupt), progress_(progress) {
    const size_t count = launch.storages.size();
    if (3 * count > few_arrays_.size()) many_arrays_.resize(3 * count);
    arrays_ = 3 * count > few_arrays_.size() ? many_arrays_.data() : few_arrays_.data();
    for (size_t k = 0; k < count; ++k) {
      auto& storage = static_cast<HostStorage&>(*launch.storages[k]);
      char* const memory = static_cast<char*>(storage.copies() ? memory_for(storage, launch, k) : storage.host_memory());
      arrays_[k] = memory + launch.byte_offsets[k];
      arrays_[count + k] = memory;  // for kernels that check bounds
      arrays_[2 * count + k] = memory + storage.bytes();
    }
    for (const Launch::Streamed& stream : launch.streamed) {
      auto& storage = static_cast<HostStorage&>(*launch.storages[stream.storage]);
      if (!storage.is_mapped() || stream.bytes_per_unit <= 0) continue;
      const Stream found{&storage, launch.byte_offsets[stream.storage], stream.bytes_per_unit, storage.bytes() > memory / kStreamedPart};
      streams_.push_back(found);
      largest_range_ = std::min(largest_range_, std::max(1.0, kStreamedRangeBytes / stream.bytes_per_unit));
    }
  }

  bool streams() const { return !streams_.empty(); }
  int64_t largest_range() const { return static_cast<int64_t>(largest_range_); }

  void check_interrupt() const {
    if (interrupt_.load(std::memory_order_relaxed)) throw Interrupted();
  }

  void run_range(UnitRange range) {
    for (Stream& stream : streams_) stream.read_ahead(range, launch_.units);
    function_(arrays_, launch_.scalars.data(), range.begin, range.end);
    for (const Stream& stream : streams_) stream.release(range);
    done_.fetch_add(range.size(), std::memory_order_relaxed);
    progress_.advance(launch_.elements * static_cast<double>(range.size()) / static_cast<double>(launch_.units));
  }

  /// Takes ranges until none is left, or an interrupt or another worker's failure stops it.
  void work(Handout& handout) {
    UnitClock clock;
    auto start = Clock::now();
    while (true) {
      if (interrupt_.load(std::memory_order_relaxed)) {
        handout.stop();
        return;
      }
      const UnitRange range = handout.take(clock);
      if (range.empty()) return;
      try {
        run_range(range);
      } catch (...) {
        handout.stop();
        throw;
      }
      const auto end = Clock::now();
      clock.record(range.size(), std::chrono::duration<double>(end - start).count());
      start = end;
    }
  }

  bool done() const { return done_.load(std::memory_order_relaxed) == launch_.units; }

 private:
  struct Stream {
    HostStorage* storage;
    int64_t offset;  // bytes
    double bytes_per_unit;
    bool drop;                      // behind the pass
    std::atomic<int64_t> asked{0};  // bytes the disk was asked for so far

    Stream(HostStorage* storage, int64_t offset, double bytes_per_unit, bool drop)
        : storage(storage), offset(offset), bytes_per_unit(bytes_per_unit), drop(drop) {}
    Stream(const Stream& other) : Stream(other.storage, other.offset, other.bytes_per_unit, other.drop) {}

    int64_t byte_of(int64_t unit) const { return static_cast<int64_t>(static_cast<double>(unit) * bytes_per_unit); }
    void read_ahead(UnitRange range, int64_t units) {
      const int64_t here = byte_of(range.begin), all = byte_of(units);
      int64_t asked_to = asked.load(std::memory_order_relaxed);
      const int64_t ahead = std::min<int64_t>(here + 2 * kReadAheadBytes, all);
      // Half the distance at a time: one call a few dozen megabytes.
      if (asked_to >= all || asked_to - here > kReadAheadBytes || !asked.compare_exchange_strong(asked_to, ahead)) return;
      storage->expect(offset + std::max(asked_to, here), offset + ahead);
    }
    void release(UnitRange range) const {
      if (drop) storage->release(offset + byte_of(range.begin), offset + byte_of(range.end));
    }
  };

  const Launch& launch_;
  const HostKernelFunction function_;
  const std::atomic<bool>& interrupt_;
  Progress& progress_;
  std::array<void*, 24> few_arrays_;
  std::vector<void*> many_arrays_;
  void** arrays_;
  std::vector<Stream> streams_;
  double largest_range_ = static_cast<double>(int64_t{1} << 53);
  std::atomic<int64_t> done_{0};
};

class HostDevice final : public Device {
 public:
  HostDevice(int threads, int64_t memory, KernelCompiler compile, const std::atomic<bool>& interrupt)
      : properties_{"cpu", std::max(threads, 1), memory},
        budget_(memory, spill_place_from_environment()),
        compile_(std::move(compile)),
        interrupt_(interrupt),
        workers_(properties_.threads) {}

  const DeviceProperties& properties() const override { return properties_; }
  MemoryBudget& budget() override { return budget_; }
  StorageRef allocate(int64_t bytes, bool zeroed) override { return gasell::allocate(budget_, bytes, zeroed); }

  LoadedKernelRef load(const ir::Kernel& kernel) override {
    const HostKernel compiled = compile_(kernel);
    auto loaded = std::make_shared<HostLoadedKernel>();
    loaded->function = compiled.function;
    loaded->compile_seconds = compiled.compile_seconds;
    return loaded;
  }

  void run(const Launch& launch, Progress& progress) override {
    const LoadedKernelRef loaded = launch.loaded ? launch.loaded : load(*launch.kernel);
    if (launch.units <= 0) return;
    Pass pass(launch, static_cast<const HostLoadedKernel&>(*loaded).function, properties_.memory,
              launch.interrupt ? *launch.interrupt : interrupt_, progress);
    pass.check_interrupt();
    const double guess = std::max(launch.bytes / kBytesPerSecond, launch.elements / kElementsPerSecond);
    UnitRange rest{0, launch.units};
    if (guess < 2 * kAloneSeconds && !pass.streams()) run_alone(pass, rest);
    if (rest.empty()) return;
    if (properties_.threads == 1 || rest.size() == 1) {
      Handout handout(rest.begin, rest.end, 1, pass.largest_range());
      pass.work(handout);
    } else {
      run_together(pass, rest);
    }
    if (!pass.done()) throw Interrupted();
  }

  void share(int64_t units, const std::function<void(int64_t, int64_t)>& work, const std::function<bool()>& stop) override {
    const auto start = Clock::now();
    int64_t next = 0;
    // Alone until it seems worth waking others.
    for (int64_t count = 1; next < units; count *= 2) {
      const int64_t end = std::min(next + count, units);
      work(next, end);
      next = end;
      if (stop() || (properties_.threads > 1 && seconds_since(start) > kAloneSeconds)) break;
    }
    if (next == units || stop()) return;
    Handout handout(next, units, properties_.threads, units);
    workers_.run(static_cast<int>(std::min<int64_t>(properties_.threads, units - next)), [&] {
      UnitClock clock;
      auto begun = Clock::now();
      while (true) {
        if (stop()) return handout.stop();
        const UnitRange range = handout.take(clock);
        if (range.empty()) return;
        work(range.begin, range.end);
        const auto ended = Clock::now();
        clock.record(range.size(), std::chrono::duration<double>(ended - begun).count());
        begun = ended;
      }
    });
  }

  void share_pieces(int64_t count, const std::function<void(int64_t)>& piece) override {
    std::atomic<int64_t> next{0};
    workers_.run(static_cast<int>(std::min<int64_t>(properties_.threads, count)), [&] {
      for (int64_t k; (k = next.fetch_add(1)) < count;) piece(k);
    });
  }

 private:
  /// Runs units on this thread while they seem too little to share; `rest` is what remains.
  static void run_alone(Pass& pass, UnitRange& rest) {
    if (rest.size() == 1) return pass.run_range(std::exchange(rest, UnitRange{}));
    const auto start = Clock::now();
    for (int64_t count = 1; !rest.empty(); count *= 2) {
      const UnitRange range{rest.begin, std::min(rest.begin + count, rest.end)};
      pass.run_range(range);
      rest.begin = range.end;
      if (rest.empty() || seconds_since(start) > kAloneSeconds) return;
    }
  }

  void run_together(Pass& pass, UnitRange rest) {
    Handout handout(rest.begin, rest.end, properties_.threads, pass.largest_range());
    workers_.run(static_cast<int>(std::min<int64_t>(properties_.threads, rest.size())), [&] { pass.work(handout); });
  }

  const DeviceProperties properties_;
  MemoryBudget budget_;
  const KernelCompiler compile_;
  const std::atomic<bool>& interrupt_;
  Workers workers_;
};

}  // namespace

std::unique_ptr<Device> make_host_device(int threads, int64_t memory, KernelCompiler compile, const std::atomic<bool>& interrupt) {
  return std::make_unique<HostDevice>(threads, memory, std::move(compile), interrupt);
}

}  // namespace gasell
