#include "compiler/codegen/optimise.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

#include "compiler/codegen/dot_products.h"
#include "compiler/codegen/math_functions.h"
#include "lang/diagnostic.h"

namespace gasell {
namespace {

/// What of O2 speeds kernels up: they arrive without calls to inline, common subexpressions or dead code, as loops over arrays. Each pass
/// here was kept because a kernel was slower without it; the whole takes half to four fifths of O2's time and its kernels are no slower.
/// Compiled functions differ in two things: an element that the iteration before loaded is loaded again, which vectors do faster than
/// shifting it in (a mean of 3 x 3 bytes: a tenth), but one that it stored stays in a register (an edit distance: two fifths). Where small
/// loops were written out, their arrays become registers and their conditions are known.
std::string host_pipeline(bool of_function) {
  const std::string gvn = of_function ? "sroa,simplifycfg<keep-loops>,gvn<no-load-pre>" : "gvn",
                    stored = of_function ? "loop-load-elim,instcombine<no-verify-fixpoint>," : "";
  return "function(sroa,early-cse<memssa>,correlated-propagation,reassociate,"
         "loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm),simplifycfg<keep-loops;speculate-blocks;simplify-cond-branch>"
         ",instcombine<no-verify-fixpoint>,"
         "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full)," +
         gvn + ",instcombine<no-verify-fixpoint>,adce,loop-vectorize," + stored +
         "simplifycfg),math-functions,always-inline,function(simplifycfg,loop-unroll<O2>,instcombine<no-verify-fixpoint>,loop-mssa(licm))";
}

/// The same for threads of a GPU: the math library's functions are inlined first, and no vectors.
constexpr const char* kGridPipeline =
    "function(nvvm-reflect,simplifycfg),always-inline,cgscc(inline),globaldce,function(sroa,early-cse<memssa>,correlated-propagation,"
    "reassociate,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm),simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),sroa,gvn,instcombine<no-verify-fixpoint>,adce,"
    "simplifycfg,loop-unroll<O2>,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)";

/// And where it shall be there soon (Target::soon): loops are unrolled as the emitter says and no further. What comes after it is the
/// driver's compiler, which moves code out of loops and shares addresses by its own light: with the passes for that here (licm, gvn,
/// indvars, reassociate) LLVM takes three times as long, and a stencil is a fifth slower on an H200.
constexpr const char* kSoonPipeline =
    "function(nvvm-reflect,simplifycfg),always-inline,cgscc(inline),globaldce,function(sroa,early-cse<memssa>,simplifycfg,"
    "instcombine<no-verify-fixpoint>,dot-products,loop-unroll<O2;no-partial;no-peeling;no-runtime;no-upperbound>,early-cse,simplifycfg)";

void initialise_target(bool gpu) {
  static std::once_flag host, nvptx;
  std::call_once(host, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // For AVX-512 it looks for chains of integers that could be masks, in time that grows with the square of the function: three quarters
    // of what a function of 500 loops takes, and no kernel is faster for it.
    auto& options = llvm::cl::getRegisteredOptions();
    const llvm::StringRef slow = "disable-x86-domain-reassignment";
    if (const auto known = options.find(slow); known != options.end()) known->second->addOccurrence(0, slow, "true");
  });
  if (gpu)
    std::call_once(nvptx, [] {
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
    });
}

struct DotProducts : llvm::PassInfoMixin<DotProducts> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    return use_dot_products(function) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

struct MathFunctions : llvm::PassInfoMixin<MathFunctions> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    return define_math_functions(module) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

llvm::SmallVector<char, 0> generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    throw Error("SystemError", "LLVM cannot generate code for " + machine.getTargetTriple().str(), "", Blame::internal);
  passes.run(module);
  return bytes;
}

}  // namespace

const Target& host_target() {
  static const Target target = [] {
    initialise_target(false);
    Target t;
    t.triple = llvm::sys::getProcessTriple();
    t.cpu = llvm::sys::getHostCPUName().str();
    const auto features = llvm::sys::getHostCPUFeatures();
    for (const auto& feature : features)
      t.features += (t.features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
    // Zen's gathers are slower than the loads they stand for: x[::2].sum() took 2.5 times as long with them.
    if (llvm::StringRef(t.cpu).starts_with("znver")) t.features += ",+prefer-no-gather";
    if (features.lookup("avx512f")) t.vector_bits = 512;
    t.data_layout = make_target_machine(t)->createDataLayout().getStringRepresentation();
    return t;
  }();
  return target;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target& target) {
  initialise_target(target.grid);
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (!found) throw Error("SystemError", "LLVM has no target " + target.triple + ": " + error, "", Blame::internal);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // a*b + c rounds twice, as in NumPy
  // Of PTX the driver's compiler makes machine code by its own light. LLVM's optimising code generation takes six times as long, most of it
  // for addresses in loops, and what the driver makes of its code can be slower: x.std() 1.14 ms instead of 1.02 on an H200, sums of
  // columns 1.7 instead of 1.05.
  const auto level = target.soon ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(target.triple, target.cpu, target.features, options,
                                                                         llvm::Reloc::PIC_, llvm::CodeModel::Small, level, true));
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, bool of_function) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.registerPipelineParsingCallback(
      [](llvm::StringRef name, llvm::FunctionPassManager& passes, llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name != "dot-products") return false;
        passes.addPass(DotProducts());
        return true;
      });
  builder.registerPipelineParsingCallback(
      [](llvm::StringRef name, llvm::ModulePassManager& passes, llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name != "math-functions") return false;
        passes.addPass(MathFunctions());
        return true;
      });
  llvm::ModulePassManager passes;
  const std::string pipeline = machine.getOptLevel() == llvm::CodeGenOptLevel::None ? kSoonPipeline
                               : machine.getTargetTriple().isNVPTX()                ? kGridPipeline
                                                                                    : host_pipeline(of_function);
  if (auto error = builder.parsePassPipeline(passes, pipeline))
    throw Error("SystemError", llvm::toString(std::move(error)), "", Blame::internal);
  passes.run(module, modules);
}

std::string to_assembly(llvm::Module& module, llvm::TargetMachine& machine) {
  const auto bytes = generate(module, machine, llvm::CodeGenFileType::AssemblyFile);
  return {bytes.begin(), bytes.end()};
}

std::unique_ptr<llvm::MemoryBuffer> to_object(llvm::Module& module, llvm::TargetMachine& machine) {
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(generate(module, machine, llvm::CodeGenFileType::ObjectFile), "kernel.o", false);
}

}  // namespace gasell
