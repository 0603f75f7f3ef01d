// Loop IR to code for GPUs: PTX, which the driver (or ptxas) makes machine code of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/ir/ir.h"

namespace gasell {

struct GpuCode {
  std::string symbol;  // the kernel's name
  /// All of its parameters are 8 bytes, in this order: the array parameters' addresses; the scalar parameters, a complex number as two
  /// (integers and booleans widened to i64, floats to f64); begin and end of the range of units (i64); the address of a 32-bit stop flag.
  /// Blocks walk the units grid-stride and end after the unit in which they find the flag not zero.
  ///
  /// Of a kernel of threads (ir::Kernel::simt): the arrays, the scalars, the address of two words, 0 at first, in which grid_barrier
  /// counts, whether the launch's axes x and y have changed places, and the address of the stop flag, which threads read as they poll.
  std::string ptx;
  int threads = 0;           // a block; of a kernel of threads the launch says
  int64_t shared_bytes = 0;  // dynamic shared memory of a block, without what a launch adds
};

/// The kernel mapped to a grid, as its blocks run it; one that is stays so. Nothing when a GPU cannot run it: it has no units, or needs
/// more shared memory than there is.
std::optional<ir::Kernel> map_for_gpu(const ir::Kernel& kernel);

/// For compute capability 75 (sm_75) and up, in the lowest PTX version that has it. Nothing when a GPU cannot run the kernel.
std::optional<GpuCode> compile_ptx(const ir::Kernel& kernel, int capability);

/// LLVM IR after optimisation, for --emit=llvm. Empty when a GPU cannot run the kernel.
std::string emit_gpu_llvm(const ir::Kernel& kernel, int capability);

/// What compile_ptx takes its math functions from, for people.

/// What compile_ptx makes depends on the kernel, the capability and this text: it names the compiler and its math functions.
std::string gpu_compiler_name();

}  // namespace gasell
