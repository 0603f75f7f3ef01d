// One GPU, real or simulated, as the scheduler sees it: memory, copies, kernels, and the order in which they happen.
//
// Work goes to streams. Two operations on one stream happen in order; streams run beside each other but for what wait() orders. Addresses
// belong to the GPU: the host never follows them. Errors are Error("MemoryError", …) where memory is short, and GpuLost where the GPU can
// do no more.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "compiler/ir/ir.h"
#include "runtime/device/device.h"
#include "runtime/gpu/simulated_grid.h"
#include "runtime/linalg/gemm_form.h"

namespace gasell {

struct GpuProperties {
  std::string name;    // "NVIDIA H200", "simulated GPU"
  int ordinal = 0;     // the n of "gpu:n" and "sim:n"
  int capability = 0;  // 90 for sm_90
  int multiprocessors = 0;
  int64_t memory = 0;            // bytes in all
  int64_t most_shared = 232448;  // bytes of shared memory that a block may have
  double bandwidth = 0;          // bytes per second that its memory moves at best, by its clocks; 0: not known
};

/// Every operation fails from now on: what the GPU held is lost. The message has the driver's name of the error and a remedy.
class GpuLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class GpuStream : uint8_t { compute, copy_in, copy_out };
inline constexpr int kGpuStreams = 3;

using GpuAddress = uint64_t;

/// Machine code that a script brings along: CUDA C++ that NVRTC compiled, a file. It goes with its last holder.
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
};
using LoadedModuleRef = std::shared_ptr<const LoadedModule>;

/// A variable of a module, in the GPU's memory. It lives as long as the module.
struct ModuleGlobal {
  GpuAddress address = 0;
  int64_t bytes = 0;
};

/// What the driver tells of a module's kernel, by its numbers for it; the last two can be set.
enum class KernelAttribute : int {
  max_threads_per_block = 0,
  shared_bytes = 1,
  constant_bytes = 2,
  local_bytes = 3,
  registers = 4,
  ptx_version = 5,
  binary_version = 6,
  cache_mode_ca = 7,
  max_dynamic_shared_bytes = 8,
  preferred_shared_carveout = 9,
};

/// An array as a launch gets it: where its element 0 would lie, and the bytes [begin, end) that the units launched may touch. A part of an
/// array is given to a kernel by the address that the whole would have, so that kernels index globally: `base` may lie outside of all
/// memory.
struct GpuArray {
  GpuAddress base = 0;
  GpuAddress begin = 0, end = 0;  // for GPUs that check addresses
};

/// A stack of products of matrices: result[s, i, j] = Σ_k left[s, i, k] * right[s, k, j], or += that sum.
struct GpuProduct {
  /// Element (s, i, j) is s * stack + i * steps.row + j * steps.column elements behind the first; the steps are as gemm takes them.
  struct Matrix {
    GpuAddress data = 0;
    linalg::MatrixSteps steps{};
    int64_t stack = 0;
  };
  DType dtype = DType::f64;  // f32, f64, c64 or c128
  int64_t rows = 0, columns = 0, summed = 0, count = 1;
  bool add = false;
  Matrix left, right, result;
};

/// Fourier transforms of vectors, or of boxes of up to three axes, none of them scaled.
struct GpuTransform {
  enum class Kind : uint8_t { forward, backward, real_to_complex, complex_to_real };
  /// Element (s, i, j, …) is s * stack + i * steps[0] + j * steps[1] + … elements behind the first; each step is a multiple of the next
  /// one, which holds the extent along the next axis at least.
  struct Side {
    GpuAddress data = 0;
    std::array<int64_t, 3> steps{};
    int64_t stack = 0;
  };
  Kind kind = Kind::forward;
  bool single = false;  // float, else double
  int rank = 1;
  std::array<int64_t, 3> extents{};  // the last one of n real numbers n; the complex ones are n / 2 + 1 then
  int64_t count = 1;
  Side from, to;  // apart from each other; complex_to_real may leave anything in `from`
};

/// Decompositions of matrices of f64 or c128, one behind the other, without gaps, each in Fortran's order (its columns lie together).
struct GpuDecomposition {
  enum class Kind : uint8_t {
    solve,            // a: n × n, becomes its factors; b: n × others, becomes the solutions; of no others the factors alone
    cholesky,         // a: n × n, of which one triangle is read and becomes the factor; the other stays as it is
    qr,               // a: rows × columns, becomes r and, below it and in b (the lesser of the two), what q is made of
    qr_q,             // a: rows × columns of which `others` have what q is made of; becomes q
    eigenvalues,      // a: n × n, hermitian, of which one triangle is read; becomes the vectors where wanted; values: n, ascending
    singular_values,  // a: rows × columns, rows at least as many, is used up; values descending; u: as a, and v: columns × columns
  };
  Kind kind = Kind::solve;
  DType dtype = DType::f64;
  int64_t rows = 0, columns = 0, others = 0, count = 1;
  bool upper = false, vectors = false;
  GpuAddress a = 0, b = 0;
  GpuAddress pivots = 0;  // of solve: n int64 a matrix; row k was exchanged with row pivots[k] - 1
  GpuAddress values = 0;  // f64
  GpuAddress u = 0, v = 0;
  GpuAddress outcome = 0;  // an int32 a matrix: 0 where all went well; singular, not positive definite, or did not converge
};

/// What a GPU may have a library for.
enum class GpuLibrary : uint8_t { products, transforms, decompositions };
/// Memory of the GPU for a library to work in until it has done what it was asked for. Throws MemoryError.
using GpuWorkSpace = std::function<GpuAddress(int64_t bytes)>;

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual const GpuProperties& properties() const = 0;
  /// Bytes that are free now.
  virtual int64_t free_memory() = 0;

  /// Memory for `bytes` > 0, aligned to 256. Usable on every stream at once. Throws MemoryError when there is not so much.
  virtual GpuAddress allocate(int64_t bytes) = 0;
  /// Frees when the work given to all streams so far is done; never blocks, never throws.
  virtual void free(GpuAddress address) noexcept = 0;

  /// Asynchronous. From pageable host memory the copy may be staged and is then done with `from` when the call returns; from pinned memory
  /// `from` must stay until the stream has come here.
  virtual void copy_in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream) = 0;
  /// Asynchronous; `to` is filled when synchronize(stream) returns. To pageable host memory the copy may be staged and is then done when
  /// the call returns.
  virtual void copy_out(void* to, GpuAddress from, int64_t bytes, GpuStream stream) = 0;
  virtual void copy(GpuAddress to, GpuAddress from, int64_t bytes, GpuStream stream) = 0;
  /// From another GPU's memory to this one's; `peer` is of the same kind. What the peer's kernels were started so far comes before, and the
  /// copy before kernels that it starts behind its next wait(compute, …), and before the memory is free that it frees. `settled`: its
  /// copy_in stream was given nothing for those bytes that a kernel was not ordered behind; else what that stream was given comes before,
  /// too. Default: through the host, and waits.
  virtual void copy_from_peer(GpuAddress to, Gpu& peer, GpuAddress from, int64_t bytes, GpuStream stream, bool settled = false);
  virtual void fill_zero(GpuAddress to, int64_t bytes, GpuStream stream) = 0;
  /// Host memory that copies run at full speed from and to. Null when there is none to have.
  virtual std::shared_ptr<void> pinned(int64_t bytes) = 0;

  /// The kernel mapped to a grid and compiled, or found in the cache. Null when a GPU cannot run it; then the host does.
  virtual LoadedKernelRef load(const ir::Kernel& kernel) = 0;
  /// Units [begin, end) of a kernel that load() gave, on the compute stream. `arrays` are the array parameters in order, `scalars` the
  /// scalar ones, in 64-bit slots. Asynchronous; both spans may go when the call returns.
  virtual void launch(const LoadedKernel& kernel, std::span<const GpuArray> arrays, std::span<const int64_t> scalars, int64_t begin,
                      int64_t end) = 0;

  /// A kernel of threads (ir::Kernel::simt) that load() gave, on the compute stream. `words`: the address of two words of zeros, for
  /// kernels whose grid waits for itself. `fault`: filled by GPUs that see more than the kernel notes; it stays until the stream has come
  /// here. Throws Error: ValueError for a shape that the GPU cannot run. Asynchronous.
  virtual void launch_grid(const LoadedKernel& kernel, std::span<const GpuArray> arrays, std::span<const int64_t> scalars,
                           const GridShape& shape, GpuAddress words, GridFault* fault) = 0;

  /// Loads a module (a cubin, PTX or a fat binary). Throws Error: NotImplementedError where the GPU runs no machine code, ValueError where
  /// it does not take this one.
  virtual LoadedModuleRef load_module(const std::string& image);
  /// Null: the module has no kernel of this name.
  virtual LoadedKernelRef module_kernel(const LoadedModuleRef& module, const std::string& symbol);
  /// Nothing: the module has no variable of this name.
  virtual std::optional<ModuleGlobal> module_global(const LoadedModuleRef& module, const std::string& symbol);
  virtual int kernel_attribute(const LoadedKernel& kernel, KernelAttribute attribute);
  /// False: the GPU does not take this value.
  virtual bool set_kernel_attribute(const LoadedKernel& kernel, KernelAttribute attribute, int value);
  /// Starts a module's kernel on the compute stream. `arguments`: where the value of each parameter lies; they may go when the call
  /// returns. Throws as launch_grid does.
  virtual void launch_code(const LoadedKernel& kernel, std::span<void* const> arguments, const GridShape& shape);

  /// The name of the GPU's library ("cuBLAS"), or null where it has none, or one that did not start; looking for it may take a tenth of a
  /// second, once.
  virtual const char* library(GpuLibrary) { return nullptr; }
  /// Give the work to the GPU's library, on the compute stream. False: it cannot now (there is no memory for it); nothing was computed then
  /// that anybody needs. Throw what `space` throws. Asynchronous, but decompose() may wait.
  virtual bool multiply(const GpuProduct& product);
  virtual bool transform(const GpuTransform& transform, const GpuWorkSpace& space);
  virtual bool decompose(const GpuDecomposition& decomposition, const GpuWorkSpace& space);

  /// What `stream` is given from now on happens after what `other` was given so far.
  virtual void wait(GpuStream stream, GpuStream other) = 0;
  /// Returns when `stream` has done what it was given. Throws GpuLost for what failed since the last call.
  virtual void synchronize(GpuStream stream) = 0;
  /// Whether it has, without waiting.
  virtual bool done(GpuStream stream) = 0;
  /// Returns when a stream of another library's in this process has done what it was given: 1 is the driver's default stream, 2 that of the
  /// thread, others are its handles.
  virtual void synchronize_foreign(uint64_t stream) = 0;
  /// The same of an event, a handle of the driver's.
  virtual void synchronize_foreign_event(uint64_t event) = 0;
  /// Whether the address lies in memory of this GPU, whoever took it.
  virtual bool has(GpuAddress address) = 0;
  /// A point in a stream whose time is wanted, by its number. Default: waits for the stream, so that what is measured does not overlap.
  virtual int64_t mark(GpuStream stream);
  /// When the stream came there, in seconds of std::chrono::steady_clock; once, and only when the stream is done.
  virtual double time_of(int64_t mark);
  /// While set, kernels end at the next unit: callable at any time from any thread. The results of what runs are then worthless.
  virtual void set_stop(bool stop) noexcept = 0;

 private:
  std::mutex marks_mutex_;
  std::map<int64_t, double> marks_;  // of the default mark()
  int64_t next_mark_ = 0;
};

}  // namespace gasell
