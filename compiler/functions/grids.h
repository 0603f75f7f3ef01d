// Parallel loops as kernels of threads: what a GPU runs in place of a region.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace gasell::functions {

/// What lowering knows of the parallel loops that a unit loop's body does not tell.
struct ParallelLoops {
  /// `for k in low .. high` in the unit loop's body, where it has pieces of `count` iterations; a piece whose `high` is count has the last.
  struct Region {
    std::string counter, high;
    ir::ExprRef count;
    /// Memories that have a unit's part of a reduction, and what combines two parts.
    std::map<std::string, std::function<ir::ExprRef(const ir::ExprRef&, const ir::ExprRef&)>> partial;
  };
  std::map<std::string, Region> regions;  // by the unit loop's variable
  /// Counters of loops in them whose iterations depend on each other no more than those around: in memory; what they carry in variables,
  /// their statements show.
  std::set<std::string> independent;
};

struct Grid {
  ir::Body body;  // of one thread (ir::Kernel::simt)
  /// How many iterations there are, along x, y and z; expressions of names from around the region. One of reductions has none: it takes a
  /// block of kReducingThreads for each unit.
  std::vector<ir::ExprRef> extents;
};
inline constexpr int64_t kReducingThreads = 256;

/// The grid of a region: each thread has iterations of its own, which lie apart from each other by the number of threads, so that
/// neighbours in a warp use neighbours in memory. Loops that directly nest in each other, and are independent, are spread over axes: the
/// innermost over x.
///
///   for u in 0 .. units unit { let high = …  for k in low .. high { for j in 1 .. m { y[k * n + j] = … } } }
///   →  for p in 0 .. trips { let k = y_of_thread + p * threads_y  for q in 0 .. trips_x { let j = 1 + x_of_thread + q * threads_x … } }
///
/// Where all indices can be seen to be inside before the loops begin, the threads do not look at them (ir/hoist_checks.h).
///
/// `parameters`: of the region's kernel. nullopt: the region does what threads of a GPU cannot (it allocates, or calls the runtime).
std::optional<Grid> grid_of(const ir::Stmt& region, const std::vector<ir::Parameter>& parameters, const ParallelLoops& loops);

}  // namespace gasell::functions
