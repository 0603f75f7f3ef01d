// A function that kernels of GPUs cannot have in place, as LLVM bitcode: that of LLVM's libclc, which stands in the program itself.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace gasell {

/// fmod of doubles.
inline constexpr const char* kDeviceRemainder = "_Z4fmoddd";

/// Changes when the library does.
std::string device_library_version();

/// Brings in what the module calls of it, with what that needs; false when it lacks something. It is code for any target.
bool link_device_library(llvm::Module& module);

}  // namespace gasell
