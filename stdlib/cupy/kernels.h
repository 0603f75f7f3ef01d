// cp.ElementwiseKernel, cp.ReductionKernel, cp.RawKernel, cp.RawModule: kernels that a script writes in C.
#pragma once

#include <cstddef>
#include <map>
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

class CudaCode;

/// A kernel of CUDA C++ or of machine code, started with the bytes of its parameters.
class CudaFunction {
 public:
  CudaFunction(Engine& engine, std::shared_ptr<CudaCode> code, std::string name)
      : engine_(engine), code_(std::move(code)), name_(std::move(name)) {}
  const std::string& name() const { return name_; }

  /// The value of a parameter, as C has it; where `array` is one's number, it begins with the address of that.
  struct Slot {
    std::vector<std::max_align_t> bytes = std::vector<std::max_align_t>(1);
    int array = -1;
  };
  /// Compiles; where there is no GPU for a common one, so that errors in the text show.
  void compile();
  /// Runs to the end. Raises where there is no NVIDIA GPU, and what the compiler says.
  void launch(const GridShape& shape, std::vector<Slot> slots, const std::vector<Array>& arrays);

 private:
  LoadedKernelRef kernel(GpuDevice& gpus);

  Engine& engine_;
  const std::shared_ptr<CudaCode> code_;
  const std::string name_;
  std::map<int, LoadedKernelRef> kernels_;  // by GPU
};
/// Whether the script uses an NVIDIA GPU and NVRTC is there.
bool can_compile_cuda(Engine& engine);
/// The function of a text that was put together from others, where errors are told.
std::unique_ptr<CudaFunction> cuda_function(Engine& engine, const std::string& name, std::string text, std::vector<SourceRef> texts,
                                            std::vector<std::string> options);
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

}  // namespace gasell::cupy

namespace gasell {

/// NumPy's module, and what CuPy adds.
Value make_cupy(Interpreter& in);

}  // namespace gasell
