// A GPU that is played by the host: to test everything between the engine and a GPU on any machine, and to show faults that a real one
// hides.
//
// - Its memory is its own: addresses are handles that fault when the host follows them, fresh memory holds a pattern (NaN, -1, true), and
//   every allocation stands between guards.
// - Operations wait in their streams until somebody asks for their result, and then only those run that the order of the streams and their
//   waits demand: where a wait is missing, stale bytes show.
// - Units of a kernel run in a shuffled order and check every address against the bytes that the launch may touch; on demand they also
//   check that they and their threads do not race.
// - Memory is limited, and faults can be injected.
#pragma once

#include <memory>

#include "runtime/device/host_device.h"
#include "runtime/gpu/gpu.h"
#include "runtime/gpu/simulated_faults.h"

namespace gasell {

struct SimulationOptions {
  int64_t memory = 1 << 30;                                                       // bytes each GPU has: GASELL_SIM_MEMORY
  std::shared_ptr<SimulatedFaults> faults = std::make_shared<SimulatedFaults>();  // GASELL_SIM_FAULT
  /// The threads of a block are checked for races (codegen/race_check.h): GASELL_CHECK. `compile` must then give code that does so.
  bool check_races = false;
  static SimulationOptions from_environment();
};

/// `compile` gives host code for a kernel, which should check bounds (JitOptions::check_bounds); no function where a GPU cannot run it.
std::unique_ptr<Gpu> make_simulated_gpu(int ordinal, KernelCompiler compile, const SimulationOptions& options);

}  // namespace gasell
