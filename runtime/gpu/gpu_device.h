// One or more GPUs as a device: launches run where their arrays are, large ones on all GPUs, and what is larger than their memory in pieces
// that stream through it. What cannot run there runs on the host device.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "compiler/plan/plan.h"
#include "runtime/device/device.h"
#include "runtime/gpu/gpu.h"

namespace gasell {

class GpuMemory;
struct GpuCounts;
class LaunchOnGpus;
struct GpuLoadedKernel;

/// GPUs were lost during a plan, and with them what it had computed: run it again, on those that are left or on the host.
class WorkLost : public std::runtime_error {
 public:
  WorkLost() : std::runtime_error("a GPU was lost") {}
};

/// What the host needs about for work that moves so many bytes and computes so many operations.
double host_seconds(double bytes, double operations, int threads);

struct GpuDeviceOptions {
  /// Launches that move or compute less than so many bytes are not split over several GPUs.
  int64_t split_from = 512 << 20;
  /// Split launches of any length go in pieces that idle GPUs take from others, not only long ones.
  bool steal_always = false;
};

class GpuDevice final : public Device {
 public:
  /// `host` runs what the GPUs cannot, and its budget is where results go when they are read; it outlives the device.
  GpuDevice(std::vector<std::unique_ptr<Gpu>> gpus, Device& host, const GpuDeviceOptions& options, const std::atomic<bool>& interrupt);
  ~GpuDevice() override;
  /// Another flag is looked at from now on: of whose turn it is. None of its work is under way.
  void watch(const std::atomic<bool>& interrupt);

  const DeviceProperties& properties() const override { return properties_; }
  MemoryBudget& budget() override { return host_.budget(); }
  /// Memory that is nowhere until somebody writes it.
  StorageRef allocate(int64_t bytes, bool zeroed = false) override;
  LoadedKernelRef load(const ir::Kernel& kernel) override;
  /// Gives the launch to the GPUs and returns before it has ended, unless it streams or is long. Throws WorkLost as finish() does.
  void run(const Launch& launch, Progress& progress) override;
  /// A kernel of threads on one GPU, over arrays that lie in storages: those it reads are brought there, those it writes are there alone
  /// afterwards.
  struct GridLaunch {
    const ir::Kernel* kernel = nullptr;
    LoadedKernelRef loaded;  // load(*kernel)
    struct Piece {
      HostStorage* storage;
      int64_t byte_offset;  // of the array's element 0
      int64_t begin, end;   // the bytes of the storage that the array may use; empty: none
      bool written;
    };
    std::vector<Piece> arrays;  // the kernel's, but `error`, which comes last
    std::vector<int64_t> scalars;
    GridShape shape;
    bool notes = true;  // the kernel may note an error: waits for it
    /// Instead of `kernel`: starts something else on the compute stream, with `arrays` bound.
    std::function<void(Gpu& gpu, std::span<const GpuArray> arrays)> start;
  };
  struct GridResult {
    std::array<int64_t, 10> error{};  // codegen/simt.h
    GridFault fault;
  };
  /// Throws Error (ValueError for a shape that the GPU cannot run, MemoryError), Interrupted, WorkLost.
  GridResult run_grid(const GridLaunch& launch);
  /// The name of the library that the GPUs have for something, or null.
  const char* library(GpuLibrary which) const;
  /// What a library is called with: the addresses of the arrays, and memory to work in.
  using LibraryCall = std::function<bool(Gpu& gpu, std::span<const GpuArray> arrays, const GpuWorkSpace& space)>;
  /// A call of a GPU's library with these arrays, on the GPU that run_grid takes. False: it cannot be done there (the arrays do not fit,
  /// there is no work space); the results are to be computed elsewhere then. Throws as run_grid does.
  bool call_library(std::vector<GridLaunch::Piece> arrays, const LibraryCall& call);
  /// A product of matrices, storages[0] and [1] into [2]; `byte_offsets`: of their first elements. As call_library.
  bool contract(const plan::Contraction& contraction, std::span<const StorageRef> storages, std::span<const int64_t> byte_offsets);
  /// An array in a storage: element (i, j, …) is `offset` + i * steps[0] + j * steps[1] + … elements behind its beginning.
  struct Placed {
    HostStorage* storage;
    int64_t offset;
    std::vector<int64_t> steps;
  };
  /// Fourier transforms along some axes of an array of this shape (of the real numbers, where one side is real: then along the last of the
  /// axes lie halves). `from` of complex_to_real is used up. False also where the library does not take the steps. As call_library.
  bool transform(GpuTransform::Kind kind, bool single, const std::vector<int64_t>& shape, const std::vector<int>& axes, const Placed& from,
                 const Placed& to);
  /// Gpu's functions of these names, on the GPU that run_grid takes.
  LoadedModuleRef load_module(const std::string& image);
  LoadedKernelRef module_kernel(const LoadedModuleRef& module, const std::string& symbol);
  std::optional<ModuleGlobal> module_global(const LoadedModuleRef& module, const std::string& symbol);
  int kernel_attribute(const LoadedKernel& kernel, KernelAttribute attribute);
  bool set_kernel_attribute(const LoadedKernel& kernel, KernelAttribute attribute, int value);
  /// The bytes there, on that GPU, when what was given so far is done. Throws as run_grid does.
  void read_memory(void* to, GpuAddress from, int64_t bytes);
  /// The GPU that run_grid takes; throws ValueError where there is none of this number.
  void select(int gpu);
  int selected() const;
  /// Bytes that are free on a GPU now.
  int64_t free_memory(int g) const;

  /// Where the bytes of a storage are on GPU g, for another library: all that was given before is done. They stay there while `hold` and
  /// the storage live. Throws as run_grid does.
  struct Lent {
    GpuAddress address = 0;
    std::shared_ptr<const void> hold;
  };
  Lent lend(int g, const HostStorageRef& storage);
  /// Read-only memory over bytes of GPU g that are another library's, as they are when what `stream` of its was given is done (0: they are
  /// done); Gpu::synchronize_foreign. `release` is called when nothing uses them any more.
  HostStorageRef adopt(int g, GpuAddress address, int64_t bytes, uint64_t stream, std::function<void()> release);
  /// Returns when an event of another library's on GPU g has happened.
  void wait_for_foreign_event(int g, uint64_t event);
  /// The GPU whose memory an address lies in; -1: none of these.
  int gpu_with(GpuAddress address) const;

  /// Gives a result that somebody will read soon, by its size, to the host already.
  void send_home(const StorageRef& result);
  /// Returns when all that was given is done. Throws Interrupted within 100 ms of the flag being set, and WorkLost.
  void finish();
  /// The same after an error: throws nothing.
  void abandon() noexcept;

  bool any_alive() const;
  bool alive(int g) const;
  int count() const;

  /// Rows of an array: from a byte of a storage on, so many bytes apart.
  struct Rows {
    StorageRef storage;
    int64_t begin, step;
  };
  /// Some rows, and the GPU that shall work on them.
  struct Portion {
    int gpu;
    int64_t begin, end;
  };
  /// How `count` rows of these arrays are shared out for kernels of threads: one portion where a GPU has them all, or where they are few
  /// and not split already; else one a GPU, as launches are split. Portions begin at multiples of `grain`.
  std::vector<Portion> portions(const std::vector<Rows>& arrays, int64_t count, int64_t grain) const;
  /// Parts of split launches begin at multiples of so many elements, so that launches over the same arrays split them alike.
  static constexpr int64_t kSplitElements = 1 << 21;

  /// Launches go to these GPUs from now on; empty: to all.
  void use(std::vector<int> gpus) { chosen_ = std::move(gpus); }
  const GpuProperties& gpu(int g) const;
  /// How plans for these GPUs are cut: into units enough for the multiprocessors of one, of work enough for a block's threads.
  plan::Grain grain() const;
  const GpuCounts& counts() const;
  /// Whether the GPUs are the place for a plan: `bytes` that it moves and `operations`, over these memories.
  bool pays(double bytes, double operations, int steps, const std::vector<StorageRef>& memories) const;

 private:
  friend class LaunchOnGpus;

  void check_interrupt() const;
  /// The GPUs that launches may go to: those chosen that are alive, or else all that are.
  std::vector<int> usable() const;
  /// Until a stream of GPU g has done what it was given, in about `expected` seconds where that is known.
  void wait(int g, GpuStream stream, double expected = 0) const;
  [[noreturn]] void lost();
  void run_on_host(const Launch& launch, const GpuLoadedKernel& kernel, Progress& progress);

  DeviceProperties properties_;
  Device& host_;
  const GpuDeviceOptions options_;
  const std::atomic<bool>* interrupt_;
  std::shared_ptr<GpuMemory> memory_;
  std::vector<int> chosen_;
  int selected_ = 0;  // of run_grid
  /// Where kernels of threads note errors on a GPU, from the first of them on.
  struct Errors {
    GpuAddress address = 0;
    std::shared_ptr<void> pinned;  // where that is read; null: there was no such memory
    bool clear = false;
    int64_t stops = 0;  // of GpuMemory, when it was last cleared
  };
  /// For the next kernel: nothing is noted there.
  GpuAddress error_of(int g);
  std::vector<Errors> errors_;
  std::vector<std::optional<GpuStream>> last_;  // per GPU, where work was given that nobody has waited for: the stream that comes last
  int lost_ = 0;                                // GPUs whose loss was told by WorkLost
};

}  // namespace gasell
