// A plan made ready to run, and run again: the graph `a * b + c` over other memory of the same shapes needs no new plan, kernel text or
// look-up.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/plan/plan.h"
#include "runtime/device/device.h"

namespace gasell {

/// What a plan depends on: two graphs with one key have one plan, but for the memories, which come apart, in the order of their first
/// appearance.
struct GraphStructure {
  std::string key;  // empty: not worth keeping (random numbers have another stream each time)
  std::vector<StorageRef> memories;
};
GraphStructure structure_of(const std::vector<graph::NodeRef>& roots, const std::vector<plan::Destination>& destinations);

/// A plan whose storages are numbered slots: the first are the structure's memories, the others temporaries that each run allocates.
struct PreparedPlan {
  struct Step {
    plan::Step plan;  // its storages are empty: see slots
    std::vector<int> slots;
    std::vector<int> ends;                   // temporaries that no later step and no result uses
    LoadedKernelRef loaded, loaded_on_gpus;  // null until the first run there
  };
  struct Result {
    int slot;
    DType dtype;
    graph::Shape shape;
    std::vector<int64_t> strides;
    int64_t offset;
  };
  size_t memories = 0;
  std::vector<int64_t> temporary_bytes;  // of slot `memories` + k
  std::vector<Step> steps;
  std::vector<Result> results;
  double elements = 0, bytes = 0, operations = 0;  // of all steps
  /// Held while kernels are loaded: the rest stays as it is, for several that run it.
  std::unique_ptr<std::mutex> loading = std::make_unique<std::mutex>();
};
PreparedPlan prepare(plan::Plan plan, const std::vector<StorageRef>& memories);

/// Prepared plans by key; forgets all when there are too many. Thread-safe.
class PlanCache {
 public:
  /// Null when there is none.
  std::shared_ptr<PreparedPlan> find(const std::string& key) const;
  void keep(const std::string& key, std::shared_ptr<PreparedPlan> plan);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<PreparedPlan>> plans_;
};

}  // namespace gasell
