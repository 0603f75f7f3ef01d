// Prepared plans, run: memory for their slots, their kernels one after the other on the host's cores or on GPUs.
#pragma once

#include <atomic>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "runtime/prepared_plan.h"

namespace gasell {

class Error;
class Progress;

/// The memory behind a prepared plan's slots: temporaries get theirs when their first writer comes, and lose it after their last reader.
class PlanMemory {
 public:
  PlanMemory(Device& device, const PreparedPlan& plan, std::vector<StorageRef> memories);

  const StorageRef& of(int slot);
  /// Says in a MemoryError for which of the user's arrays the memory was wanted, where it was for one.
  void describe(Error& error, int slot) const;
  void end(const std::vector<int>& slots);
  /// What others see of the memories is theirs again.
  void return_shared() const;
  /// OSError when a file behind one of the memories became shorter.
  void check() const;

 private:
  Device& device_;
  const PreparedPlan& plan_;
  std::vector<StorageRef> slots_;
  std::vector<const HostStorage*> mapped_;  // among the memories
};

/// Of a plan's steps.
struct StepTimes {
  std::vector<double> seconds, compile_seconds;
};

struct PlanRun {
  PreparedPlan& plan;
  Device& host;
  GpuDevice* gpus;  // null: on the host
  const EngineOptions& options;
  std::atomic<bool>& interrupt;
  StepTimes* times;  // null: nobody wants them
  Trace& trace;
  bool host_reads;  // small results, next

  /// Runs all steps over these memories, which the plan's structure has. What is lost with a GPU is computed again, from the memories: on
  /// those that are left, or on the host. Throws Error or Interrupted.
  PlanMemory operator()(std::vector<StorageRef> memories) const;

 private:
  PlanMemory on_gpus(const std::vector<StorageRef>& memories) const;
  void steps(Device& where, PlanMemory& memory) const;
  void kernel(const PreparedPlan::Step& step, Device& where, PlanMemory& memory, bool fresh, Progress& progress) const;
  void contraction(const PreparedPlan::Step& step, Device& where, PlanMemory& memory, Progress& progress) const;
  std::vector<const LoadedKernelRef*> load_together(Device& where) const;
  bool runs_on_gpus(const Device& where) const { return &where != &host; }
};

}  // namespace gasell
