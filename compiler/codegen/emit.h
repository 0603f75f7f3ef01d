// Loop IR to LLVM IR: one emitter (emitter.h) for every target, with a way in for the host and one for grids.
#pragma once

#include <memory>
#include <string>

#include "compiler/codegen/target.h"
#include "compiler/ir/ir.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace gasell {

/// Bumped when the code made of the same IR changes, by passes or the emitter, so that caches do not serve old code.
inline constexpr int kEmitterVersion = 23;

/// A kernel does what the target cannot.
struct TargetLacks {
  std::string what;  // "integer powers"
};

/// A module with one external function `symbol` of HostKernelFunction's type (jit.h).
std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const ir::Kernel& kernel, const Target& target,
                                          const std::string& symbol);

/// Registers the functions that emitted code calls of itself, beside the C library's (externals.h).
void register_runtime_functions();

}  // namespace gasell
