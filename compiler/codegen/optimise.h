// LLVM's own passes and code generation for a module.
#pragma once

#include <memory>
#include <string>

#include "compiler/codegen/target.h"

namespace llvm {
class MemoryBuffer;
class Module;
class TargetMachine;
}  // namespace llvm

namespace gasell {

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target& target);
/// What of O2 pays, with the target's facts, for array expressions or for a compiled function.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, bool of_function = false);
std::string to_assembly(llvm::Module& module, llvm::TargetMachine& machine);
std::unique_ptr<llvm::MemoryBuffer> to_object(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace gasell
