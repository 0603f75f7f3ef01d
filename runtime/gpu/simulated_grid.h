// Kernels of threads (ir::Kernel::simt) on the host: a grid's blocks one by one on the host's cores, the threads of a block in turns on one
// core. Where threads wait for each other each has a stack of its own (fiber.h), so that barriers, shuffles and votes do what a GPU does.
// Threads that wait for what never comes are found, never waited for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "compiler/codegen/jit.h"
#include "compiler/ir/ir.h"

namespace gasell {

/// How a kernel of threads is started.
struct GridShape {
  std::array<int64_t, 3> blocks{1, 1, 1}, threads{1, 1, 1};
  int64_t shared_bytes = 0;  // what the launch adds to a block's shared memory
  /// A GPU's warps go along y (ir/thread_axes.h), where it can have such a grid.
  bool along_y = false;
  int64_t threads_a_block() const { return threads[0] * threads[1] * threads[2]; }
  int64_t block_count() const { return blocks[0] * blocks[1] * blocks[2]; }
};

/// A kernel of threads as run_grid needs it.
struct GridKernel {
  HostKernelFunction function = nullptr;
  int64_t static_shared = 0, local_bytes = 0;  // of a block; of a thread
  bool waits = false, waits_for_grid = false;
};
/// Makes known what the code of such kernels calls (codegen/simt.h). Before the first is compiled; once is enough.
void register_simt_functions();

GridKernel grid_kernel(HostKernelFunction function, const ir::Kernel& kernel);

/// What went wrong, beside what the kernel notes in `error`.
struct GridFault {
  enum class Kind : uint8_t {
    none,
    hung,      // threads wait that nobody releases: the second thread ended or waits elsewhere
    diverged,  // checked: the block's threads did not all come to one barrier
    race,      // checked: two threads use an element, one writes, nothing orders them
  } kind = Kind::none;
  int64_t sites[2] = {0, 0};  // where each was; 0: it has ended, or is not known
  std::array<int64_t, 3> block{}, threads[2]{};
  bool writes[2] = {false, false};
  bool shared = false;  // race: in shared memory
};

/// Runs the grid. `arrays` and `scalars` as a HostKernelFunction has them. A thread that notes an error ends alone, as on GPUs; all ends
/// soon after `stop`. `checked`: races and diverging barriers are faults; the code must tell accesses (Target::check_races).
/// Throws MemoryError.
GridFault run_grid(const GridKernel& kernel, void* const* arrays, const int64_t* scalars, const GridShape& shape, bool checked,
                   const std::atomic<bool>& stop);

}  // namespace gasell
