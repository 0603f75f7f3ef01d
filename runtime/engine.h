// The engine: devices, kernel cache and options; turns graph nodes into memory. One a process is usual; several are independent.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/node.h"
#include "runtime/device/storage.h"

namespace gasell {

class Device;
class GpuDevice;
class Jit;
class Trace;
namespace ir {
struct Kernel;
}

struct EngineOptions {
  int threads = 0;          // 0: GASELL_THREADS, else all cores
  int64_t memory = 0;       // bytes the arrays may take; 0: GASELL_MEMORY, else three quarters of the machine's (or the cgroup's)
  std::string device;       // "auto", "cpu", "gpu", "gpu:0,2", "sim:4" (runtime/gpu/device_choice.h); empty: GASELL_DEVICE, else "auto"
  int64_t split_from = -1;  // bytes from which on a kernel is split over several GPUs (GASELL_SPLIT_FROM); -1: chosen
  bool steal = false;       // idle GPUs take work of others in launches of any length (GASELL_STEAL=1), not in long ones only
  bool small = true;        // graphs of few elements need no kernels (GASELL_SMALL=0: they get them)
  bool fuse = true;         // false (or GASELL_FUSE=0): every operation is a kernel of its own
  int64_t chunk = 0;        // elements a task at most (GASELL_CHUNK); 0: chosen
  bool cache = true;        // kernel cache on disk (GASELL_CACHE=0 switches it off)
  std::filesystem::path cache_directory;
  bool check = false;     // compiled code checks every address it uses (GASELL_CHECK=1); slow, for debugging
  bool progress = false;  // draw progress on a terminal
  bool trace = false;     // keep the times of kernels and copies (Engine::trace)
  /// Options with the environment's values filled in.
  static EngineOptions from_environment();
};

/// One kernel of a plan, for --explain, --profile and the tests that count kernels.
struct KernelReport {
  std::string name, text;                    // the loop IR; of a product of matrices that the library computes, what it multiplies
  std::shared_ptr<const ir::Kernel> kernel;  // null: the library's
  std::string stored_because;                // why its result is stored: "asked for", "reduction", "used 3 times, costs 40 operations"
  double elements = 0;                       // evaluated elements of the iteration space
  double bytes_read = 0, bytes_written = 0, operations = 0;
  int combining_passes = 0;                 // small kernels after it that combine partial results
  double seconds = 0, compile_seconds = 0;  // 0 where it was not run
};

class Engine {
 public:
  explicit Engine(EngineOptions options = EngineOptions::from_environment());
  /// An engine for another session, which may run in another thread at the same time: it shares the devices, the kernels, the plans and the
  /// memory of `other`; what it is interrupted by, the choice of devices, the values it knows and who observes it are its own. Where there
  /// are GPUs, who uses it takes turns (Turn).
  explicit Engine(Engine& other);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const EngineOptions& options() const;
  /// The host's cores; what they allocate is on the host.
  Device& device();
  /// Null where everything is computed on the host.
  GpuDevice* gpus();
  /// The GPUs for what a script says runs on them: looked for where nobody has; null where there are none, or the host was chosen.
  GpuDevice* chosen_gpus();
  /// The GPUs for a compiled function that may run there or on the host, where it took so many seconds when it last did (0: it never ran):
  /// null where it shall run on the host.
  GpuDevice* gpus_for_function(double host_seconds);
  Jit& jit();
  /// What ran when, where the options ask for it or somebody started it.
  Trace& trace() const;
  /// Memory for a result that will be computed: on the host at once where only the host computes, else where and when it is written or
  /// read.
  StorageRef allocate(int64_t bytes);

  /// What is forced from now on is computed on these devices: "cpu", "gpu", "gpu:0,2", "sim:2" (of the engine's simulated ones), or "auto"
  /// (as the options say); until restore_devices() brings those before back. Throws Error: ValueError for an unknown name, RuntimeError for
  /// what is not there or not among what the options name; nothing changed then.
  void use_devices(const std::string& text);
  void restore_devices() noexcept;

  /// Evaluates all nodes together (shared work is done once); returns for each a C-contiguous native-order BufferNode of the same shape and
  /// dtype. A node that is one already is returned as it is. Throws Error (MemoryError …) or Interrupted; nothing is half-written then.
  /// `host_reads`: the host reads the results next, so what is small comes to it behind the kernels, without a further wait.
  std::vector<graph::NodeRef> force(const std::vector<graph::NodeRef>& nodes, bool host_reads = false);
  graph::NodeRef force(const graph::NodeRef& node, bool host_reads = false);
  /// A single element, where it takes less to compute than to remember: few elements of the host's memory (SmallGraphs). Else nothing.
  std::optional<Scalar> small_value(const graph::NodeRef& node);
  /// Evaluates `node` into memory: element (i0, …) goes to offset + Σ i_k * strides[k] (elements). The node must not read that memory at
  /// other indices.
  void force_into(const graph::NodeRef& node, const HostStorageRef& storage, const std::vector<int64_t>& strides, int64_t offset);
  /// The plan for these nodes, not run.
  std::vector<KernelReport> explain(const std::vector<graph::NodeRef>& nodes);
  /// Reports of the last force that an observer saw.
  const std::vector<KernelReport>& last_reports() const;
  /// Called with every plan that force() runs: before it runs, and after (with times). For --emit and --explain. An empty one: no longer.
  enum class PlanStage : uint8_t { planned, ran };
  using PlanObserver =
      std::function<void(PlanStage stage, const std::vector<graph::NodeRef>& roots, const std::vector<KernelReport>& kernels)>;
  void observe_plans(PlanObserver observer);

  /// While it lives, the GPUs are this engine's: those that share them wait, until they are interrupted (Interrupted). Nothing where only
  /// the host computes. A turn within a turn is taken.
  class Turn {
   public:
    explicit Turn(Engine& engine);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Engine* engine_ = nullptr;
  };

  /// Async-signal-safe: a running force throws Interrupted within 100 ms. Cleared when that happens, or by clear_interrupt(). The engine
  /// that others were made from interrupts all of them.
  void interrupt() noexcept;
  void clear_interrupt() noexcept;
  bool interrupted() const noexcept;
  /// The flag itself, for code that looks at it between its steps.
  const std::atomic<bool>& interrupt_flag() const noexcept;

 private:
  struct Shared;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gasell
