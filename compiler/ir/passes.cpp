#include "compiler/ir/passes.h"

#include <chrono>

#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/dead_code.h"
#include "compiler/ir/fuse_thread_loops.h"
#include "compiler/ir/gather_checks.h"
#include "compiler/ir/hoist_checks.h"
#include "compiler/ir/local_allocations.h"
#include "compiler/ir/narrow_integers.h"
#include "compiler/ir/poll_interrupts.h"
#include "compiler/ir/propagate.h"
#include "compiler/ir/share_sums.h"
#include "compiler/ir/text.h"

namespace gasell::ir {

namespace {

std::vector<Pass> fused_expressions(DType narrowest) {
  return {
      {"propagate", propagate_constants, "first: what it folds makes more expressions equal, and names dead"},
      {"cse", eliminate_common_subexpressions, "after constants are in place; LLVM sees fewer instructions, which it would only merge"},
      {"narrow_integers", [=](const Kernel& kernel) { return narrow_integers(kernel, narrowest); },
       "behind constants: ranges follow from them"},
      {"dce", eliminate_dead_code, "last: takes out what the others left without readers"},
  };
}
/// Of a thread among many: it needs no vectors.
std::vector<Pass> a_thread() {
  std::vector<Pass> passes = fused_expressions(DType::i32);
  passes.insert(passes.end() - 1, {"share_sums", share_sums, "behind narrower types, which make sums of several types sums of one"});
  return passes;
}

}  // namespace

const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> kPasses = fused_expressions(DType::i16);
  return kPasses;
}

const std::vector<Pass>& function_pipeline() {
  static const std::vector<Pass> kPasses = {
      {"propagate", propagate_constants, "first: what it folds makes more expressions equal, and indices simpler"},
      {"cse", eliminate_common_subexpressions,
       "after constants are in place; checks that are repeated go, too, so fewer are left to hoist"},
      {"local_allocations", local_allocations,
       "when sizes are constants that are computed from constants; before code that counts references comes twice"},
      {"hoist_checks", hoist_checks, "before what changes indices or loops; loops without checks are what LLVM makes vectors of"},
      {"narrow_integers", [](const Kernel& kernel) { return narrow_integers(kernel); },
       "when indices that are checked have their final form: they stay wide"},
      {"dce", eliminate_dead_code, "after the others, which leave names without readers"},
      {"poll_interrupts", poll_interrupts, "last: it cuts loops up, and polls in what is dead would keep it"},
  };
  return kPasses;
}

const std::vector<Pass>& pipeline_of(const Kernel& kernel) {
  // No second version of loops, whose barriers would be others.
  static const std::vector<Pass> kThreads = a_thread();
  static const std::vector<Pass> kSimt = [] {
    std::vector<Pass> passes = a_thread();
    passes.push_back({"gather_checks", gather_checks, "behind the others: where each stands follows from what is left"});
    passes.push_back({"poll_interrupts", poll_interrupts, "last: it cuts loops up, and polls in what is dead would keep it"});
    return passes;
  }();
  if (!kernel.function) return pipeline();
  return kernel.simt ? kSimt : kernel.threads ? kThreads : function_pipeline();
}

const std::vector<Pass>& grid_pipeline() {
  static const std::vector<Pass> kPasses = [] {
    std::vector<Pass> passes = a_thread();
    passes.push_back(
        {"fuse_thread_loops", fuse_thread_loops, "after dead loops are gone; what it joins, map_to_grid spreads over threads at once"});
    return passes;
  }();
  return kPasses;
}

Kernel run_passes(const Kernel& kernel, const std::vector<Pass>& passes, const Observer& observer) {
  if (observer) observer("input", kernel, 0);
  Kernel current = kernel;
  for (const Pass& pass : passes) {
    const auto start = std::chrono::steady_clock::now();
    current = pass.run(current);
    verify(current);
    if (observer) observer(pass.name, current, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return current;
}

}  // namespace gasell::ir
