// Calls of compiled functions, below the session's values: arguments by leaves, memory in place, results, what was raised.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/codegen/jit.h"
#include "compiler/functions/function.h"
#include "runtime/array/array.h"
#include "runtime/engine.h"
#include "runtime/functions/given.h"
#include "runtime/functions/region_grids.h"
#include "runtime/functions/region_kernels.h"
#include "runtime/functions/returned.h"

namespace gasell::functions {

class FunctionContext;

/// A leaf of the arguments (function.h): a number of its type's dtype, an array, or an object.
struct Leaf {
  Scalar scalar;
  const Array* array = nullptr;
  int object = -1;  // its place in Givens::objects
};

/// The function raised, at a place that the compiler knows.
struct SiteRaised {
  Site site;
  std::string message;
  int64_t numbers[3] = {};  // that came with it
};

/// Shows the kernels of functions that are compiled from now on, before their passes (--emit). Null: none.
using KernelObserver = std::function<void(const ir::Kernel&)>;
void observe_function_kernels(KernelObserver observer);

/// One kernel of a function, ready to be called.
class Specialisation {
 public:
  /// Compiles the kernel to machine code; its regions follow when they run. `compiled.captured`: `array` of each is a `const Array*` that
  /// lives as long as this.
  Specialisation(Engine& engine, Compiled compiled);
  ~Specialisation();
  const Compiled& compiled() const { return compiled_; }
  const HostKernel& kernel() const { return kernel_; }
  /// How many array leaves the arguments have.
  size_t array_leaves() const { return compiled_.writes.size(); }

  /// Whether arrays may come back, in the result or in objects: arguments are then told apart by their addresses, which must differ.
  bool tells_apart(const Givens* givens) const { return returns_arrays_ || (givens && !givens->arrays.empty()); }
  /// Whether a GPU can run parallel loops of it.
  bool has_grids() const { return has_grids_; }
  /// What a call is made with. `arrays`: the array leaves and then those that objects hold, settled; `memories`: theirs. `givens`: the
  /// objects; null: there are none. `gpus`: they run parallel loops; null: the host does.
  struct Arguments {
    std::span<const Leaf> leaves;
    std::span<const Array* const> arrays = {};
    std::span<const Array::Memory> memories = {};
    Givens* givens = nullptr;
    GpuDevice* gpus = nullptr;
  };
  // For calls that take no values of the session (direct_call.h).
  RegionKernels& regions() const { return regions_; }
  std::span<const HostKernel> instances() const { return instances_; }
  /// Whether the kernel takes the bounds of its memories.
  bool checks_bounds() const { return checked_; }
  /// Throws what the kernel noted in `error`.
  [[noreturn]] void fail(Engine& engine, const FunctionContext& context, const int64_t* error) const;

  /// Throws SiteRaised, Interrupted, and Error (MemoryError; RuntimeError for a view of an argument that no array can be, and where a GPU
  /// was lost).
  Returned run(Engine& engine, const Arguments& arguments) const;

 private:
  Compiled compiled_;
  HostKernel kernel_;
  mutable RegionKernels regions_;
  std::vector<HostKernel> instances_;
  std::vector<const Array*> captured_;
  bool returns_arrays_ = false, has_grids_ = false;
  mutable LoadedGrids grids_;
  bool checked_;  // the kernel takes the bounds of its memories
  /// What a call fills, kept for the next one; a call within a call makes its own.
  struct Scratch;
  mutable std::unique_ptr<Scratch> idle_;
};

/// The kernels of one function, by types of arguments.
class Dispatch {
 public:
  Dispatch(Engine& engine, std::shared_ptr<const Function> function) : engine_(engine), function_(std::move(function)) {}

  struct Entry {
    std::vector<Type> types;
    std::unique_ptr<Specialisation> apart, overlapping;  // arrays that are written lie apart from others, or not; made when wanted
    /// Of its last calls on the host and on GPUs, where it can run on both; 0: not known. GPUs have compiled it before that.
    double host_seconds = 0, gpu_seconds = 0;
    bool on_gpus_before = false;
  };
  /// The entry for these types; compiled where it is new. Throws Error, as compile() does.
  Entry& entry(const std::vector<Type>& types);
  /// Calls the kernel of an entry; `leaves` are of its types. Throws as Specialisation::run does.
  Returned call(Entry& entry, std::span<const Leaf> leaves, Givens* givens = nullptr);
  /// Its kernel for arrays that may overlap, compiled when first wanted. Throws Error, as compile() does.
  const Specialisation& overlapping(Entry& entry);

  const std::deque<Entry>& entries() const { return entries_; }
  const Function& function() const { return *function_; }

 private:
  Engine& engine_;
  std::shared_ptr<const Function> function_;
  std::deque<Entry> entries_;
};

}  // namespace gasell::functions
