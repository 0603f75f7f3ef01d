#include "compiler/codegen/gpu.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <cctype>

#include "compiler/codegen/device_library.h"
#include "compiler/codegen/emit.h"
#include "compiler/codegen/math_functions.h"
#include "compiler/codegen/optimise.h"
#include "compiler/ir/map_to_grid.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/simt.h"
#include "compiler/ir/tile.h"
#include "compiler/ir/transform.h"
#include "lang/diagnostic.h"
#include "lang/heap_account.h"

namespace gasell {
namespace {

// What every GPU since sm_75 gives a block without being asked twice for it, and the threads that keep one busy with it.
constexpr ir::GridLimits kLimits{256, 64 << 10};

/// What one iteration of the dearest loop costs, in additions of floats; nested loops for themselves.
double dearest_iteration(const ir::Body& body) {
  double here = 0, dearest = 0;
  for (const ir::StmtRef& s : body) {
    dearest = std::max({dearest, dearest_iteration(s->body), dearest_iteration(s->orelse)});
    for (const ir::ExprRef& e : ir::expressions_of(*s))
      ir::visit(e, [&](const ir::Expr& part) {
        if (part.kind == ir::ExprKind::op) here += info(part.op).cost;
      });
  }
  return std::max(here, dearest);
}

/// Whether LLVM's optimising code generation does not pay: where a launch is bound by memory rather than by what is computed. Random
/// numbers, which cost more, are a tenth slower without it, sin(x)**2 + cos(x)**2, which costs less, is not; what people write themselves
/// has more to clean up.
bool wanted_soon(const ir::Kernel& kernel) { return ir::has_tiles(kernel.body) || (!kernel.simt && dearest_iteration(kernel.body) <= 100); }

Target gpu_target(int capability, bool soon) {
  Target target;
  target.soon = soon;
  target.triple = "nvptx64-nvidia-cuda";
  target.cpu = "sm_" + std::to_string(capability);
  target.emits_math = true;
  target.calls_runtime = false;
  target.grid = true;
  target.quick_doubles = capability == 80 || capability == 90 || capability == 100;
  target.data_layout = make_target_machine(target)->createDataLayout().getStringRepresentation();
  return target;
}

struct Quiet final : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override { return info.getSeverity() != llvm::DS_Error; }
};

/// Names of a script may have letters that PTX's have not.
std::string symbol_of(const ir::Kernel& kernel) {
  std::string symbol = "gasell_" + kernel.name;
  for (char& c : symbol)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return symbol;
}

/// Takes a kernel through the passes, the emitter and LLVM's optimiser; what `finish` makes of it.
template <class Result, class F>
std::optional<Result> lower(const ir::Kernel& kernel, int capability, F finish) {
  const std::optional<ir::Kernel> mapped = kernel.simt ? ir::run_passes(kernel, ir::pipeline_of(kernel)) : map_for_gpu(kernel);
  if (!mapped) return {};
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Quiet>());
  const Target target = gpu_target(capability, wanted_soon(*mapped));
  const auto machine = make_target_machine(target);
  try {
    const auto module = emit_module(context, *mapped, target, symbol_of(kernel));
#ifndef NDEBUG
    std::string fault;
    llvm::raw_string_ostream out(fault);
    if (llvm::verifyModule(*module, &out)) throw Error("SystemError", "code for GPUs that is none: " + fault, "", Blame::internal);
#endif
    if (!link_device_library(*module)) return {};
    optimise(*module, *machine);
    return finish(*mapped, *module, *machine);
  } catch (const TargetLacks&) {
    return {};
  }
}

}  // namespace

std::optional<ir::Kernel> map_for_gpu(const ir::Kernel& kernel) {
  if (kernel.threads) return ir::run_passes(kernel, ir::pipeline_of(kernel));
  return ir::map_to_grid(ir::run_passes(kernel, ir::grid_pipeline()), kLimits);
}

std::optional<GpuCode> compile_ptx(const ir::Kernel& kernel, int capability) {
  const Uncounted uncounted;  // LLVM cannot tell that memory is short
  return lower<GpuCode>(kernel, capability, [&](const ir::Kernel& mapped, llvm::Module& module, llvm::TargetMachine& machine) {
    if (kernel.simt) return GpuCode{symbol_of(kernel), to_assembly(module, machine), 32, ir::static_shared_bytes(mapped)};
    return GpuCode{symbol_of(kernel), to_assembly(module, machine), mapped.threads, ir::shared_bytes(mapped)};
  });
}

std::string emit_gpu_llvm(const ir::Kernel& kernel, int capability) {
  return lower<std::string>(kernel, capability,
                            [](const ir::Kernel&, llvm::Module& module, llvm::TargetMachine&) {
                              std::string text;
                              llvm::raw_string_ostream stream(text);
                              module.print(stream, nullptr);
                              return text;
                            })
      .value_or("");
}

std::string gpu_compiler_name() {
  return "LLVM " LLVM_VERSION_STRING "\nemitter " + std::to_string(kEmitterVersion) + "\nmath " + math_version();
}

}  // namespace gasell
