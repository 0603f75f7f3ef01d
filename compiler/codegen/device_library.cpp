#include "compiler/codegen/device_library.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>

// The part of libclc that kernels may call (compiler/CMakeLists.txt makes it), between the two symbols.
asm(R"(
  .section .rodata
  .globl gasell_libclc_begin
  .hidden gasell_libclc_begin
  .globl gasell_libclc_end
  .hidden gasell_libclc_end
  .balign 16
gasell_libclc_begin:
  .incbin ")" GASELL_LIBCLC R"("
gasell_libclc_end:
  .byte 0
  .previous
)");
extern "C" const char gasell_libclc_begin[], gasell_libclc_end[];

namespace gasell {

std::string device_library_version() { return "libclc " GASELL_LIBCLC_VERSION; }

bool link_device_library(llvm::Module& module) {
  constexpr std::string_view prefix = "_Z";
  bool missing = false;
  std::set<std::string> own;
  for (const llvm::GlobalValue& value : module.global_values()) {
    if (!value.isDeclaration()) own.insert(value.getName().str());
    missing = missing || (value.isDeclaration() && value.getName().starts_with(prefix));
  }
  if (!missing) return true;
  auto functions = llvm::getLazyBitcodeModule(
      {llvm::StringRef(gasell_libclc_begin, static_cast<size_t>(gasell_libclc_end - gasell_libclc_begin)), "libclc"}, module.getContext());
  if (!functions) {
    llvm::consumeError(functions.takeError());
    return false;
  }
  (*functions)->setTargetTriple(module.getTargetTriple());
  (*functions)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*functions), llvm::Linker::LinkOnlyNeeded)) return false;
  for (llvm::GlobalValue& value : module.global_values()) {
    if (value.isDeclaration()) {
      if (value.getName().starts_with(prefix)) return false;
      continue;
    }
    if (own.count(value.getName().str())) continue;
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (auto* f = llvm::dyn_cast<llvm::Function>(&value))
      for (const char* of_another_target : {"target-cpu", "target-features", "frame-pointer"}) f->removeFnAttr(of_another_target);
  }
  return true;
}

}  // namespace gasell
