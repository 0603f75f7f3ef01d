#include "tools/gasell/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/gpu.h"
#include "compiler/codegen/jit.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/text.h"
#include "compiler/plan/expand.h"
#include "lang/render.h"
#include "runtime/functions/call.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

constexpr const char* kNotForGpus = "// this kernel runs on the host only\n";
constexpr int kCapability = 75;  // the least that is supported

/// The kernel's text after one pass of the pipeline ("input": before the first), or after all of them.
std::string loops_after(const ir::Kernel& kernel, const std::string& pass_name) {
  if (pass_name.empty()) return ir::print(ir::run_passes(kernel, ir::pipeline_of(kernel)));
  std::string text;
  ir::run_passes(kernel, ir::pipeline_of(kernel), [&](const std::string& pass, const ir::Kernel& state, double) {
    if (pass == pass_name) text = ir::print(state);
  });
  return text;
}

void check_pass_name(const std::string& name) {
  if (name.empty() || name == "input") return;
  std::vector<std::string> names{"input"};
  for (const auto* passes : {&ir::pipeline(), &ir::function_pipeline()}) {
    for (const ir::Pass& pass : *passes) {
      if (pass.name == name) return;
      if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.push_back(pass.name);
    }
  }
  const std::string nearest = did_you_mean(name, names);
  throw Finish{2, fmt::format("gasell: there is no pass '{}'; {}\n", name,
                              nearest.empty() ? fmt::format("the passes are {}", fmt::join(names, ", "))
                                              : fmt::format("did you mean '{}'?", nearest))};
}

std::string emitted(Engine& engine, const Options& options, const ir::Kernel& kernel) {
  switch (options.emit) {
    case Emit::loops: return loops_after(kernel, options.after_pass);
    case Emit::llvm: return engine.jit().emit_llvm(kernel);
    case Emit::assembly: return engine.jit().emit_asm(kernel);
    case Emit::grid: {
      if (kernel.simt) return ir::print(ir::run_passes(kernel, ir::pipeline_of(kernel)));
      const auto mapped = map_for_gpu(kernel);
      return mapped ? ir::print(*mapped) : kNotForGpus;
    }
    case Emit::ptx: {
      const auto code = compile_ptx(kernel, kCapability);
      return code ? code->ptx : kNotForGpus;
    }
    default: return "";
  }
}

}  // namespace

std::shared_ptr<const int64_t> emit_plans(Engine& engine, const Options& options) {
  check_pass_name(options.after_pass);
  auto count = std::make_shared<int64_t>(0);
  const bool of_host = options.emit == Emit::loops || options.emit == Emit::llvm || options.emit == Emit::assembly;
  if (of_host || options.emit == Emit::grid || options.emit == Emit::ptx)
    functions::observe_function_kernels([&engine, &options, count, of_host](const ir::Kernel& kernel) {
      if (kernel.simt == of_host) return;  // the host runs regions, GPUs the grids made of them
      ++*count;
      write_stdout(emitted(engine, options, kernel) + "\n");
      flush_stdout();
    });
  engine.observe_plans([&engine, &options, count](Engine::PlanStage stage, const std::vector<graph::NodeRef>& roots,
                                                  const std::vector<KernelReport>& kernels) {
    if (stage != Engine::PlanStage::planned) return;
    ++*count;
    if (options.emit == Emit::graph) {
      write_stdout(graph::print(plan::expand(roots)) + "\n");
    } else {
      for (const KernelReport& kernel : kernels)
        write_stdout((kernel.kernel ? emitted(engine, options, *kernel.kernel) : kernel.text) + "\n");
    }
    flush_stdout();
  });
  return count;
}

}  // namespace gasell::cli
