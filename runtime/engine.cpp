#include "runtime/engine.h"

#include <chrono>
#include <thread>
#include <unordered_map>

#include "compiler/codegen/jit.h"
#include "compiler/ir/text.h"
#include "compiler/plan/plan.h"
#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/machine.h"

namespace gasell {
namespace {

using graph::NodeRef;

std::string shape_text(const graph::Shape& shape) {
  std::string text = "(";
  for (size_t k = 0; k < shape.size(); ++k) text += (k ? ", " : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// Gives a plan's temporaries memory when their first writer comes, and takes it back after their last reader.
class Temporaries {
 public:
  Temporaries(Device& device, const plan::Plan& plan) : device_(device) {
    for (size_t k = 0; k < plan.steps.size(); ++k)
      for (const StorageRef& s : plan.steps[k].storages) last_use_[s.get()] = k;
    for (const NodeRef& result : plan.results)
      if (const auto* b = result->as<graph::BufferNode>()) {
        last_use_[b->storage.get()] = plan.steps.size();
        results_[b->storage.get()] = result.get();
      }
  }

  /// The memory behind a storage of the plan.
  StorageRef resolve(const StorageRef& storage) {
    const auto* temporary = dynamic_cast<const plan::TemporaryStorage*>(storage.get());
    if (!temporary) return storage;
    StorageRef& memory = memory_[storage.get()];
    if (!memory) {
      try {
        memory = device_.allocate(temporary->bytes);
      } catch (Error& error) {
        if (auto result = results_.find(storage.get()); error.diagnostic().kind == "MemoryError" && result != results_.end()) {
          Diagnostic d = error.diagnostic();
          d.message += " for an array with shape " + shape_text(result->second->shape) + " and data type " + std::string(name_of(result->second->dtype));
          throw Error(std::move(d));
        }
        throw;
      }
    }
    return memory;
  }

  void done_with_step(size_t step, const plan::Step& which) {
    for (const StorageRef& s : which.storages)
      if (last_use_.at(s.get()) == step) memory_.erase(s.get());
  }

 private:
  Device& device_;
  std::unordered_map<const Storage*, size_t> last_use_;
  std::unordered_map<const Storage*, const graph::Node*> results_;
  std::unordered_map<const Storage*, StorageRef> memory_;
};

/// Passes that combine partial results belong to the report of the kernel they follow.
std::vector<KernelReport> report(const plan::Plan& plan) {
  std::vector<KernelReport> reports;
  for (const plan::Step& step : plan.steps) {
    if (step.combines) {
      ++reports.back().combining_passes;
      continue;
    }
    KernelReport r;
    r.name = step.kernel->name;
    r.text = ir::print(*step.kernel);
    r.kernel = step.kernel;
    r.stored_because = step.stored_because;
    r.elements = step.elements;
    r.bytes_read = step.bytes_read;
    r.bytes_written = step.bytes_written;
    r.operations = step.operations;
    reports.push_back(std::move(r));
  }
  return reports;
}

bool is_contiguous_buffer(const graph::Node& node) {
  const auto* b = node.as<graph::BufferNode>();
  if (!b) return false;
  const std::vector<int64_t> strides = graph::contiguous_strides(node.shape);
  for (size_t k = 0; k < strides.size(); ++k)
    if (node.shape[k] != 1 && b->strides[k] != strides[k]) return false;
  return true;
}

}  // namespace

struct Engine::State {
  explicit State(EngineOptions given) : options(std::move(given)), jit(JitOptions{options.cache, options.cache_directory}) {
    if (options.threads <= 0) options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (options.memory <= 0) options.memory = machine_memory() / 4 * 3;
    device = make_host_device(options.threads, options.memory, jit, interrupt);
  }

  plan::Plan make_plan(const std::vector<NodeRef>& nodes, const std::vector<plan::Destination>& destinations) {
    plan::PlanOptions plan_options;
    plan_options.fuse = options.fuse;
    plan_options.chunk = options.chunk;
    plan_options.memory = device->budget().limit() - device->budget().used();
    return plan::make_plan(nodes, plan_options, destinations);
  }

  std::vector<NodeRef> run(const std::vector<NodeRef>& nodes, const std::vector<plan::Destination>& destinations) {
    if (interrupt.exchange(false)) throw Interrupted();
    plan::Plan plan = make_plan(nodes, destinations);
    if (observer) observer(PlanStage::planned, nodes, reports = report(plan));
    double total = 0;
    for (const plan::Step& step : plan.steps) total += step.elements;
    std::vector<double> seconds, compile_seconds;
    Temporaries temporaries(*device, plan);
    {
      Progress progress(options.progress, total, "elements");
      for (size_t k = 0; k < plan.steps.size(); ++k) {
        const plan::Step& step = plan.steps[k];
        Launch launch;
        launch.kernel = step.kernel.get();
        launch.loaded = device->load(*step.kernel);
        for (const StorageRef& s : step.storages) launch.storages.push_back(temporaries.resolve(s));
        launch.byte_offsets = step.byte_offsets;
        launch.scalars = step.scalars;
        launch.units = step.units;
        launch.elements = step.elements;
        launch.bytes = step.bytes_read + step.bytes_written;
        add_streams(launch);
        const auto start = std::chrono::steady_clock::now();
        try {
          device->run(launch, progress);
        } catch (const Interrupted&) {
          interrupt = false;
          throw;
        }
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        compile_seconds.push_back(launch.loaded->compile_seconds);
        temporaries.done_with_step(k, step);
      }
    }
    if (observer) {
      reports = report(plan);
      size_t r = 0;
      for (size_t k = 0; k < plan.steps.size(); ++k) {
        if (!plan.steps[k].combines) r = k == 0 ? 0 : r + 1;
        reports[r].seconds += seconds[k];
        reports[r].compile_seconds += compile_seconds[k];
      }
      observer(PlanStage::ran, nodes, reports);
    }
    std::vector<NodeRef> results;
    for (const NodeRef& result : plan.results) {
      const auto& b = *result->as<graph::BufferNode>();
      results.push_back(graph::buffer(temporaries.resolve(b.storage), result->dtype, result->shape, b.strides, b.offset));
    }
    return results;
  }

  /// Mapped arrays that the units walk through in order give their pages back behind the pass.
  static void add_streams(Launch& launch) {
    if (launch.units < 2) return;
    for (size_t k = 0; k < launch.storages.size(); ++k) {
      const auto* host = dynamic_cast<const HostStorage*>(launch.storages[k].get());
      if (host && host->is_mapped())
        launch.streamed.push_back({static_cast<int>(k), static_cast<double>(host->bytes() - launch.byte_offsets[k]) / static_cast<double>(launch.units)});
    }
  }

  EngineOptions options;
  std::atomic<bool> interrupt{false};
  Jit jit;
  std::unique_ptr<Device> device;
  std::vector<KernelReport> reports;
  PlanObserver observer;
};

Engine::Engine(EngineOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Engine::~Engine() = default;

const EngineOptions& Engine::options() const { return state_->options; }
Device& Engine::device() { return *state_->device; }
Jit& Engine::jit() { return state_->jit; }

std::vector<NodeRef> Engine::force(const std::vector<NodeRef>& nodes) {
  bool done = true;
  for (const NodeRef& node : nodes) done = done && is_contiguous_buffer(*node);
  return done ? nodes : state_->run(nodes, {});
}

NodeRef Engine::force(const NodeRef& node) { return force(std::vector{node})[0]; }

void Engine::force_into(const NodeRef& node, const HostStorageRef& storage, const std::vector<int64_t>& strides, int64_t offset) {
  state_->run({node}, {{storage, strides, offset}});
}

std::vector<KernelReport> Engine::explain(const std::vector<NodeRef>& nodes) { return report(state_->make_plan(nodes, {})); }
const std::vector<KernelReport>& Engine::last_reports() const { return state_->reports; }
void Engine::observe_plans(PlanObserver observer) { state_->observer = std::move(observer); }

void Engine::interrupt() noexcept { state_->interrupt.store(true, std::memory_order_relaxed); }
void Engine::clear_interrupt() noexcept { state_->interrupt.store(false, std::memory_order_relaxed); }
bool Engine::interrupted() const noexcept { return state_->interrupt.load(std::memory_order_relaxed); }

}  // namespace gasell
