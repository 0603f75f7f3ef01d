// Kernels of threads (@cuda.jit): compiled by types of arguments, and run on a GPU, or by the host as a simulated GPU over its own memory.
#pragma once

#include <deque>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/functions/call.h"
#include "runtime/gpu/simulated_grid.h"

namespace gasell {
class GpuDevice;
}

namespace gasell::functions {

class GridDispatch {
 public:
  /// The function's options have `cuda` set.
  GridDispatch(Engine& engine, std::shared_ptr<const Function> function) : engine_(engine), function_(std::move(function)) {
    register_simt_functions();
  }

  /// A kernel, on whatever runs it.
  struct Made {
    Compiled compiled;
    std::shared_future<LoadedKernelRef> loading;  // on_gpus, which a thread makes
    LoadedKernelRef on_gpus;
    HostKernel on_host;
    GridKernel grid;
    bool along_y = false;   // ir/thread_axes.h
    bool may_raise = true;  // ir/simt.h
  };
  struct Entry {
    std::vector<Type> types;
    bool checked = true;                       // indices
    std::unique_ptr<Made> apart, overlapping;  // arrays that are written lie apart from others, or not; made when wanted
  };
  /// The entry for these types; compiled where it is new. Throws Error, as compile() does. What GPUs run is made of it by a thread, which
  /// the first launch waits for: several kernels' are made beside each other.
  Entry& entry(const std::vector<Type>& types);

  /// Runs the kernel of an entry over a grid; `leaves` are of its types. What it wrote is there when somebody looks.
  /// Throws SiteRaised, with the block and the thread in the message; Error: ValueError for a grid that no GPU runs, RuntimeError for
  /// threads that wait for ever, and those of Device::run; Interrupted.
  void launch(Entry& entry, std::span<const Leaf> leaves, const GridShape& shape);

  const std::deque<Entry>& entries() const { return entries_; }
  const Function& function() const { return *function_; }

 private:
  /// The kernel, compiled for whatever runs it; `ahead`: for GPUs that is begun alone.
  Made& load(std::unique_ptr<Made>& made, const Entry& entry, bool overlapping, GpuDevice* gpus, bool ahead = false);
  bool checks_indices(GpuDevice* gpus) const;

  Engine& engine_;
  std::shared_ptr<const Function> function_;
  std::deque<Entry> entries_;
};

}  // namespace gasell::functions
