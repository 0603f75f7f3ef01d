// What a device is to the scheduler: host cores now; a CUDA GPU and a simulated GPU later.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/plan/walk.h"
#include "runtime/device/progress.h"
#include "runtime/device/storage.h"

namespace gasell {

struct DeviceProperties {
  std::string name;  // "cpu"
  int threads = 1;
  int64_t memory = 0;  // bytes of its budget
};

/// What a device made of a kernel. Valid as long as the device; keep it beside the kernel, so that later launches need no look-up.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  double compile_seconds = 0;  // 0 when it came from a cache
};
using LoadedKernelRef = std::shared_ptr<const LoadedKernel>;

/// A kernel over a range of work units. Arrays and scalars are in the order of the kernel's parameters.
struct Launch {
  const ir::Kernel* kernel = nullptr;
  LoadedKernelRef loaded;             // load(*kernel), or null: run() loads it
  std::vector<StorageRef> storages;   // one an array parameter
  std::vector<int64_t> byte_offsets;  // where each array begins in its storage
  std::vector<int64_t> scalars;       // 64-bit slots (codegen/jit.h)
  int64_t units = 0;
  /// What the whole launch moves and computes. Progress advances by elements.
  double bytes = 0, elements = 0;
  /// Mapped arrays to release behind the pass: for storages[storage], units [b, e) use the bytes [b * bytes_per_unit, e * bytes_per_unit)
  /// after its byte offset. A shared mapping that is written may stand here too.
  struct Streamed {
    int storage;
    double bytes_per_unit;
  };
  std::vector<Streamed> streamed;
  /// One an array, with bytes after its byte offset; null: not known.
  const std::vector<plan::Walk>* walks = nullptr;
  int64_t together = 1;                          // the walks describe whole multiples of so many units
  const std::atomic<bool>* interrupt = nullptr;  // polled between ranges of units; null: the device's
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceProperties& properties() const = 0;
  virtual MemoryBudget& budget() = 0;
  virtual StorageRef allocate(int64_t bytes, bool zeroed = false) = 0;
  /// Compiles, or finds in the kernel cache.
  virtual LoadedKernelRef load(const ir::Kernel& kernel) = 0;
  /// Loads the kernel unless that is done (kernel cache), runs all units, returns when done. Throws Interrupted within 100 ms of the flag
  /// being set: units are handed out in ranges that take about 2 ms each, sized by timing the first ones.
  virtual void run(const Launch& launch, Progress& progress) = 0;
  /// Calls work(begin, end) for ranges that together are [0, units), several at the same time, as run() hands out units; until `stop` is
  /// true. Of compiled functions, whose memory is the host's: only the host's cores can. `work` throws nothing.
  virtual void share(int64_t units, const std::function<void(int64_t begin, int64_t end)>& work, const std::function<bool()>& stop);
  /// Calls piece(0) … piece(count - 1), each once, several at the same time; each is worth waking a core.
  virtual void share_pieces(int64_t count, const std::function<void(int64_t)>& piece);
};

/// All cores (or `threads`), oneTBB. `interrupt` is polled between ranges of units of launches that name no other. Launches may run at the
/// same time: they share the cores.
std::unique_ptr<Device> make_host_device(int threads, int64_t memory, class Jit& jit, const std::atomic<bool>& interrupt);

}  // namespace gasell
