// cp.ElementwiseKernel, cp.ReductionKernel, cp.RawKernel, cp.RawModule: kernels that a script writes in C.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/c_kernels/parameters.h"
#include "runtime/functions/call.h"
#include "runtime/functions/grid.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::cupy {

/// A kernel made from C: on the host's cores, or as threads, where GPUs are in use or where it needs them to be.
class CKernel {
 public:
  using Make = std::function<functions::Compiled(const std::vector<functions::Type>&, bool overlapping, const functions::Options&)>;
  CKernel(Engine& engine, const std::string& name, bool needs_threads, Make make);

  /// Compiles for the types where they are new, and runs. `shape`: of threads; the host counts by itself. `otherwise` may run what the
  /// compiler refuses by other means; false: it has none.
  void run(const std::vector<functions::Type>& types, std::span<const functions::Leaf> leaves, const GridShape& shape,
           const std::function<bool()>& otherwise = nullptr);

 private:
  Engine& engine_;
  const bool needs_threads_;
  bool on_gpus_ = true;  // false: they have not what it needs
  std::unique_ptr<functions::Dispatch> on_host_;
  std::unique_ptr<functions::GridDispatch> threads_;
};

/// A tuple of texts.
std::vector<std::string> texts_of(Interpreter& in, const Value& v);

/// The argument of a parameter: an array, or a number that is given one's type.
struct Argument {
  std::optional<Array> array;
  std::optional<Scalar> number;
};
/// TypeError for what is neither.
Argument to_argument(Interpreter& in, const Value& v);

/// The shape that the arrays that are not raw are broadcast to. ValueError, as CuPy has it, where there is none.
graph::Shape loop_shape(const std::vector<c_kernels::Parameter>& parameters, const std::vector<Argument>& arguments, size_t count,
                        bool has_size);
/// The dtype of each parameter; CuPy's errors.
std::vector<DType> parameter_types(const std::vector<c_kernels::Parameter>& parameters, size_t inputs,
                                   const std::vector<Argument>& arguments);

/// A text of a kernel, under the name that messages show.
SourceRef text_of(const std::string& kernel, const char* part, std::string text);
/// ValueError where it is no name of C.
void require_name(const std::string& name);
/// Raises what the compiler said, with its place in the kernel's text.
[[noreturn]] void rethrow(const Error& error, const std::string& kernel);
/// cupy.cuda.compiler.CompileException.
const Type& compile_exception();

const Type& elementwise_kernel_type();
const Type& reduction_kernel_type();
const Type& raw_kernel_type();
const Type& raw_module_type();
const Type& memory_pointer_type();

}  // namespace gasell::cupy

namespace gasell {

/// NumPy's module, and what CuPy adds.
Value make_cupy(Interpreter& in);
Value make_cupyx_jit(Interpreter& in);
/// cupyx.scipy: SciPy's names.
Value make_cupyx_scipy(Interpreter& in);
Value make_cupyx_profiler(Interpreter& in);

}  // namespace gasell
