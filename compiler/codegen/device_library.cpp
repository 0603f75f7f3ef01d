#include "compiler/codegen/device_library.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include <cstdlib>
#include <filesystem>
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
namespace {

std::string find_libdevice() {
  constexpr std::string_view kBelow = "/nvvm/libdevice/libdevice.10.bc";
  std::error_code ignored;
  for (const char* variable : {"GASELL_CUDA", "CUDA_HOME", "CUDA_PATH"}) {
    const char* root = std::getenv(variable);
    if (root && std::filesystem::exists(std::string(root) + std::string(kBelow), ignored)) return std::string(root) + std::string(kBelow);
  }
  const std::string usual = "/usr/local/cuda" + std::string(kBelow);
  return std::filesystem::exists(usual, ignored) ? usual : "";
}
const std::string& libdevice_path() {
  static const std::string path = find_libdevice();
  return path;
}

/// Its bitcode, read once.
llvm::MemoryBufferRef bitcode(MathLibrary library) {
  if (library == MathLibrary::libclc)
    return {llvm::StringRef(gasell_libclc_begin, static_cast<size_t>(gasell_libclc_end - gasell_libclc_begin)), "libclc"};
  static const auto file = [] {
    auto opened = llvm::MemoryBuffer::getFile(libdevice_path());
    return opened ? std::move(*opened) : nullptr;
  }();
  return file ? file->getMemBufferRef() : llvm::MemoryBufferRef();
}

}  // namespace

MathLibrary device_library() {
  static const MathLibrary chosen = [] {
    const char* asked = std::getenv("GASELL_DEVICE_MATH");
    return libdevice_path().empty() || (asked && std::string_view(asked) == "libclc") ? MathLibrary::libclc : MathLibrary::libdevice;
  }();
  return chosen;
}

std::string device_library_name() { return device_library() == MathLibrary::libdevice ? "libdevice (" + libdevice_path() + ")" : "libclc"; }

std::string device_library_version(MathLibrary library) {
  if (library == MathLibrary::libclc) return "libclc " GASELL_LIBCLC_VERSION;
  // Toolkits of another version have another file at the same place.
  std::error_code ignored;
  return libdevice_path() + ' ' + std::to_string(std::filesystem::file_size(libdevice_path(), ignored)) + ' ' +
         std::to_string(std::filesystem::last_write_time(libdevice_path(), ignored).time_since_epoch().count());
}

bool link_device_library(llvm::Module& module, MathLibrary library) {
  const std::string_view prefix = library == MathLibrary::libdevice ? "__nv_" : "_Z";
  bool missing = false;
  std::set<std::string> own;
  for (const llvm::GlobalValue& value : module.global_values()) {
    if (!value.isDeclaration()) own.insert(value.getName().str());
    missing = missing || (value.isDeclaration() && value.getName().starts_with(prefix));
  }
  if (!missing) return true;
  auto functions = llvm::getLazyBitcodeModule(bitcode(library), module.getContext());
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
