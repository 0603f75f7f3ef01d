// Kernels in CUDA C++ or machine code, and the variables of their modules, on NVIDIA GPUs.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/array/array.h"
#include "runtime/gpu/cuda/nvrtc.h"
#include "runtime/gpu/gpu_device.h"
#include "stdlib/cupy/kernels.h"

namespace gasell::cupy {

/// A GPU that runs machine code, or an error that says why there is none.
GpuDevice& need_gpu(Engine& engine, const char* what);

/// One text or file, and what became of it on each GPU.
///
/// A variable of the module that the script has arrays over is theirs: each launch brings their elements to where the module has the
/// variable on that GPU, and back when the kernel has ended. Between launches nobody else sees the module's memory, and the arrays need
/// not lie where it is, which is aligned as the variable is and there on each GPU again.
class CudaCode {
 public:
  SourceRef source;
  std::string path;
  std::vector<std::string> options, expressions;
  std::vector<SourceRef> texts;  // that the source was put together from

  struct Loaded {
    LoadedModuleRef module;
    std::map<std::string, std::string> symbols;  // of `expressions`
    const std::string& symbol(const std::string& name) const {
      const auto found = symbols.find(name);
      return found == symbols.end() ? name : found->second;
    }
  };
  const Loaded& on(GpuDevice& gpus);
  cuda::CompiledC compile(int capability) const;

  /// A part of a variable, from a byte on, that is an array of one axis.
  struct Window {
    std::string variable;
    int64_t begin;
    Array array;
    int64_t end() const { return begin + array.size() * size_of(array.dtype()); }
  };
  const std::vector<Window>& windows() const { return windows_; }
  /// ValueError where the module has none.
  ModuleGlobal variable(GpuDevice& gpus, const std::string& name);
  /// `count` elements from byte `begin` of a variable on. ValueError where it has not so many, NotImplementedError where the script has a
  /// part of them as another array already that this one is no part of.
  Array window(Engine& engine, const std::string& variable, DType dtype, int64_t begin, int64_t count);

 private:
  std::map<int, Loaded> loaded_;
  std::vector<Window> windows_;
};

/// A kernel of CUDA C++ or of machine code, started with the bytes of its parameters.
class CudaFunction {
 public:
  CudaFunction(Engine& engine, std::shared_ptr<CudaCode> code, std::string name)
      : engine_(engine), code_(std::move(code)), name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  const CudaCode& code() const { return *code_; }

  /// The value of a parameter, as C has it; where `array` is one's number, it begins with the address of that.
  struct Slot {
    std::vector<std::max_align_t> bytes = std::vector<std::max_align_t>(1);
    int array = -1;
  };
  /// Compiles; where there is no GPU for a common one, so that errors in the text show.
  void compile();
  /// Runs to the end. Raises where there is no NVIDIA GPU, and what the compiler says.
  void launch(const GridShape& shape, std::vector<Slot> slots, const std::vector<Array>& arrays);

  /// Of the kernel on the GPU that launches go to. RuntimeError where there is none.
  int attribute(KernelAttribute attribute);
  /// False: the GPU does not take the value.
  bool set_attribute(KernelAttribute attribute, int value);

 private:
  LoadedKernelRef need_kernel(GpuDevice& gpus);

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

/// What RawModule.get_global gives: a place in a variable, from which cp.ndarray makes arrays.
Value memory_pointer(Engine& engine, std::shared_ptr<CudaCode> code, std::string variable);

}  // namespace gasell::cupy
