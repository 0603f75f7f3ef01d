// NVIDIA's compiler of CUDA C++ at run time (libnvrtc), opened where it is wanted: only kernels that a script writes in CUDA C++ need it.
//
// The declarations are our own, of the entries that all versions from CUDA 11.2 on have.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/source.h"

namespace gasell::cuda {

struct Nvrtc {
  using Program = struct NvrtcProgramObject*;
  enum class Result : int { success = 0, invalid_option = 5, compilation = 6 };
  const char* (*get_error_string)(Result);
  Result (*version)(int* major, int* minor);
  Result (*create_program)(Program* program, const char* source, const char* name, int headers, const char* const* texts,
                           const char* const* names);
  Result (*destroy_program)(Program* program);
  Result (*compile_program)(Program program, int count, const char* const* options);
  Result (*get_cubin_size)(Program program, size_t* bytes);
  Result (*get_cubin)(Program program, char* cubin);
  Result (*get_log_size)(Program program, size_t* bytes);
  Result (*get_log)(Program program, char* log);
  Result (*add_name_expression)(Program program, const char* expression);
  Result (*get_lowered_name)(Program program, const char* expression, const char** name);
};

struct LoadedNvrtc {
  Nvrtc entries{};
  std::string library;  // the name it was opened by
  int major = 0, minor = 0;
  std::string problem, remedy;  // both empty when it is ready
  bool ready() const { return problem.empty(); }
};

/// Opens a library; it stays open.
LoadedNvrtc load_nvrtc(const std::string& library);
/// The process's: what GASELL_NVRTC names, or the first of libnvrtc.so.13, .12 and .11.2 that opens (toolkit.h says where they are
/// looked for).
const LoadedNvrtc& process_nvrtc();

struct CompiledC {
  std::string cubin;
  std::map<std::string, std::string> symbols;  // by name expression
};

/// Compiles CUDA C++ for a compute capability (90 for sm_90). `#include <cupy/complex.cuh>` gives complex<T>; math.h, stdint.h and their
/// like are there without a toolkit, its other headers where CUDA_PATH or /usr/local/cuda has them. Throws Error: CompileException at the
/// line of the first error, with what the compiler said of others; RuntimeError where there is no NVRTC; ValueError for options it does not
/// take.
/// `texts`: those that `#line` in the source names; errors in them are told there.
CompiledC compile_c(const LoadedNvrtc& nvrtc, const SourceRef& source, const std::vector<std::string>& options, int capability,
                    const std::vector<std::string>& expressions, const std::vector<SourceRef>& texts = {});

}  // namespace gasell::cuda
