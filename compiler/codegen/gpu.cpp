#include "compiler/codegen/gpu.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "compiler/codegen/emit.h"
#include "compiler/codegen/optimise.h"
#include "compiler/ir/map_to_grid.h"
#include "compiler/ir/passes.h"
#include "lang/diagnostic.h"

namespace gasell {
namespace {

// What every GPU since sm_75 gives a block without being asked twice for it, and the threads that keep one busy with it.
constexpr ir::GridLimits kLimits{256, 64 << 10};

Target gpu_target(int capability) {
  Target target;
  target.triple = "nvptx64-nvidia-cuda";
  target.cpu = "sm_" + std::to_string(capability);
  target.math = MathLibrary::libdevice;
  target.calls_runtime = false;
  target.grid = true;
  target.data_layout = make_target_machine(target)->createDataLayout().getStringRepresentation();
  return target;
}

/// libdevice.10.bc of the toolkit that GASELL_CUDA or CUDA_HOME name, else of the usual place; empty when there is none.
std::string find_libdevice() {
  constexpr std::string_view kBelow = "/nvvm/libdevice/libdevice.10.bc";
  for (const char* variable : {"GASELL_CUDA", "CUDA_HOME", "CUDA_PATH"}) {
    const char* root = std::getenv(variable);
    std::error_code ignored;
    if (root && std::filesystem::exists(std::string(root) + std::string(kBelow), ignored)) return std::string(root) + std::string(kBelow);
  }
  std::error_code ignored;
  const std::string usual = "/usr/local/cuda" + std::string(kBelow);
  return std::filesystem::exists(usual, ignored) ? usual : "";
}
const std::string& libdevice_path() {
  static const std::string path = find_libdevice();
  return path;
}

struct Quiet final : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override { return info.getSeverity() != llvm::DS_Error; }
};

/// Brings in the functions of libdevice that the module calls.
bool link_math(llvm::Module& module) {
  bool missing = false;
  for (const llvm::Function& f : module) missing = missing || (f.isDeclaration() && f.getName().starts_with("__nv_"));
  if (!missing) return true;
  static const auto file = libdevice_path().empty() ? nullptr : [] {
    auto opened = llvm::MemoryBuffer::getFile(libdevice_path());
    return opened ? std::move(*opened) : nullptr;
  }();
  if (!file) return false;
  auto library = llvm::getLazyBitcodeModule(file->getMemBufferRef(), module.getContext());
  if (!library) {
    llvm::consumeError(library.takeError());
    return false;
  }
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded)) return false;
  for (llvm::Function& f : module)
    if (!f.isDeclaration() && f.getName().starts_with("__")) f.setLinkage(llvm::GlobalValue::InternalLinkage);
  return true;
}

/// Takes a kernel through the passes, the emitter and LLVM's optimiser; what `finish` makes of it.
template <class Result, class F>
std::optional<Result> lower(const ir::Kernel& kernel, int capability, F finish) {
  const std::optional<ir::Kernel> mapped = map_for_gpu(kernel);
  if (!mapped) return {};
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Quiet>());
  const Target target = gpu_target(capability);
  const auto machine = make_target_machine(target);
  try {
    const auto module = emit_module(context, *mapped, target, "gasell_" + kernel.name);
    if (!link_math(*module)) return {};
    optimise(*module, *machine);
    return finish(*mapped, *module, *machine);
  } catch (const TargetLacks&) {
    return {};
  }
}

}  // namespace

std::optional<ir::Kernel> map_for_gpu(const ir::Kernel& kernel) {
  return ir::map_to_grid(ir::run_passes(kernel, ir::grid_pipeline()), kLimits);
}

std::optional<GpuCode> compile_ptx(const ir::Kernel& kernel, int capability) {
  return lower<GpuCode>(kernel, capability, [&](const ir::Kernel& mapped, llvm::Module& module, llvm::TargetMachine& machine) {
    return GpuCode{"gasell_" + kernel.name, to_assembly(module, machine), mapped.threads, ir::shared_bytes(mapped)};
  });
}

std::string emit_gpu_llvm(const ir::Kernel& kernel, int capability) {
  return lower<std::string>(kernel, capability, [](const ir::Kernel&, llvm::Module& module, llvm::TargetMachine&) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return text;
  }).value_or("");
}

std::string gpu_math_name() { return libdevice_path().empty() ? "none" : libdevice_path(); }

std::string gpu_compiler_name() {
  // Toolkits of another version have another file at the same place.
  std::error_code ignored;
  const auto bytes = libdevice_path().empty() ? 0 : std::filesystem::file_size(libdevice_path(), ignored);
  const auto changed = libdevice_path().empty() ? 0 : std::filesystem::last_write_time(libdevice_path(), ignored).time_since_epoch().count();
  return "LLVM " LLVM_VERSION_STRING "\nemitter " + std::to_string(kEmitterVersion) + "\nmath " + gpu_math_name() + ' ' + std::to_string(bytes) + ' ' + std::to_string(changed);
}

}  // namespace gasell
