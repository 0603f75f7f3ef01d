// Libraries of device functions (sin, pow, … for GPUs) as LLVM bitcode: NVIDIA's libdevice where a toolkit is found, else LLVM's libclc, a
// part of which stands in the program itself.
#pragma once

#include <string>

#include "compiler/codegen/target.h"

namespace llvm {
class Module;
}

namespace gasell {

/// libdevice where GASELL_CUDA, CUDA_HOME, CUDA_PATH or /usr/local/cuda has a toolkit with one, else libclc; with GASELL_DEVICE_MATH=libclc
/// always that.
MathLibrary device_library();

/// For people: "libdevice (PATH)" or "libclc".
std::string device_library_name();

/// Changes when the library does.
std::string device_library_version(MathLibrary library);

/// Brings in the functions of the library that the module calls, with what they need; false when it lacks one. libclc's are code for any
/// target.
bool link_device_library(llvm::Module& module, MathLibrary library);

}  // namespace gasell
