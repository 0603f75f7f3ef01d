// Loop IR to callable host code: emitter, LLVM pipeline, ORC, and the kernel cache in memory and on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "compiler/ir/ir.h"

namespace gasell {

/// The calling convention of a compiled host kernel. `arrays` are the array parameters in order; `scalars` the scalar parameters in order,
/// one 64-bit slot each (integers and booleans widened, floats as f64 bits; a complex takes two slots). Runs units [begin, end) of the
/// kernel's unit loop (a kernel without one runs whole when begin is 0). Never faults on data; writes only through `out` arrays. Kernels
/// compiled to check bounds find after the n pointers of `arrays` the n first bytes of the memories they point into, and then the n ends;
/// those compiled to check races after that the address of a RaceChecker (race_check.h) of the launch.
using HostKernelFunction = void (*)(void* const* arrays, const int64_t* scalars, int64_t begin, int64_t end);

struct HostKernel {
  HostKernelFunction function = nullptr;
  double compile_seconds = 0;  // 0 when it came from a cache
  enum class Origin : uint8_t { compiled, memory, disk } origin = Origin::compiled;
};

struct JitOptions {
  bool disk_cache = true;
  /// Empty: $XDG_CACHE_HOME/gasell or ~/.cache/gasell.
  std::filesystem::path cache_directory;
  /// Bytes the disk cache may take; oldest entries go first.
  int64_t cache_limit = 256 << 20;
  /// Compiled code checks every address (Target::check_bounds).
  bool check_bounds = false;
  /// Compiled code checks what its threads use, too (Target::check_races).
  bool check_races = false;
  /// Kernels of threads (ir::Kernel::simt) tell what they use (simt.h).
  bool check_thread_races = false;
};

/// Compiles kernels for this machine's CPU. Safe to call from several threads; a kernel stays valid as long as the Jit.
class Jit {
 public:
  explicit Jit(JitOptions options = {});
  ~Jit();

  HostKernel compile(const ir::Kernel& kernel);

  /// LLVM IR after optimisation, and assembly, of a kernel, for --emit=llvm and --emit=asm.
  std::string emit_llvm(const ir::Kernel& kernel);
  std::string emit_asm(const ir::Kernel& kernel);

  struct Description {
    std::string cpu, features, triple, llvm_version, cache_directory;
    int64_t cache_entries = 0, cache_bytes = 0;
  };
  Description describe() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gasell
