// Engines over simulated GPUs, for tests.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "catch.h"
#include "runtime/array/array.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/gpu/gpu_memory.h"

namespace gasell {

/// An engine on simulated GPUs with so much memory each and these faults.
class SimulatedEngine {
 public:
  explicit SimulatedEngine(int gpus, const std::string& memory = "1GiB", const std::string& faults = "", int64_t split_from = 0,
                           bool steal = false) {
    setenv("GASELL_SIM_MEMORY", memory.c_str(), 1);
    setenv("GASELL_SIM_FAULT", faults.c_str(), 1);
    EngineOptions options;
    options.cache = false;
    options.threads = 2;
    options.memory = int64_t{2} << 30;
    options.device = "sim:" + std::to_string(gpus);
    options.split_from = split_from;
    options.steal = steal;
    engine = std::make_unique<Engine>(options);
    unsetenv("GASELL_SIM_MEMORY");
    unsetenv("GASELL_SIM_FAULT");
  }
  const GpuCounts& counts() const { return engine->gpus()->counts(); }

  std::unique_ptr<Engine> engine;
};

inline graph::NodeRef ramp(int64_t n) { return graph::iota(n, Scalar::of_float(0), Scalar::of_float(1)); }
inline graph::NodeRef number(double v) { return graph::constant(Scalar::of_float(v)); }
inline graph::NodeRef plus(const graph::NodeRef& a, const graph::NodeRef& b) { return graph::map(ScalarOp::add, {a, b}); }
inline graph::NodeRef times(const graph::NodeRef& a, const graph::NodeRef& b) { return graph::map(ScalarOp::mul, {a, b}); }
inline graph::NodeRef sum(const graph::NodeRef& x) {
  std::vector<int> axes;
  for (int k = 0; k < x->rank(); ++k) axes.push_back(k);
  return graph::reduce(graph::ReduceOp::sum, x, axes);
}
inline HostStorage& storage_of(const graph::NodeRef& buffer) {
  return static_cast<HostStorage&>(*buffer->as<graph::BufferNode>()->storage);
}
inline double value(Engine& engine, const graph::NodeRef& node) { return Array(node).elements(engine)[0].c.real(); }

}  // namespace gasell
