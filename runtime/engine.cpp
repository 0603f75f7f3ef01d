#include "runtime/engine.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>

#include "compiler/codegen/jit.h"
#include "compiler/ir/text.h"
#include "compiler/plan/expand.h"
#include "compiler/plan/plan.h"
#include "lang/diagnostic.h"
#include "runtime/device/deferred.h"
#include "runtime/device/device.h"
#include "runtime/device/machine.h"
#include "runtime/device/trace.h"
#include "runtime/gpu/device_selection.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/gpu/traced_gpu.h"
#include "runtime/known_values.h"
#include "runtime/linalg/openblas.h"
#include "runtime/linalg/products.h"
#include "runtime/plan_run.h"
#include "runtime/prepared_plan.h"
#include "runtime/small_graphs.h"
#include "runtime/wanted_parts.h"

namespace gasell {
namespace {

using graph::NodeRef;

// Starting on a GPU takes some tenths of a second. Where it is not asked for, it waits until there was work that would have been worth it.
constexpr double kSearchSeconds = 0.25;
/// A value that is kept so that it need not be computed again takes at most this share of the memory that is left.
constexpr int64_t kShareOfKnown = 8;

/// Which report is about each step: passes that combine partial results belong to that of the kernel they follow, panels of a product to
/// that of its first one.
std::vector<size_t> reports_of(const std::vector<const plan::Step*>& steps) {
  std::vector<size_t> numbers;
  size_t next = 0;
  for (size_t k = 0; k < steps.size(); ++k)
    numbers.push_back(steps[k]->combines ? next - 1 : steps[k]->as_before ? numbers[k - steps[k]->as_before] : next++);
  return numbers;
}

std::vector<KernelReport> report(const std::vector<const plan::Step*>& steps) {
  std::vector<KernelReport> reports;
  std::vector<int> panels;
  const std::vector<size_t> numbers = reports_of(steps);
  for (size_t k = 0; k < steps.size(); ++k) {
    const plan::Step& step = *steps[k];
    if (step.combines) {
      ++reports[numbers[k]].combining_passes;
      continue;
    }
    if (step.as_before) {
      KernelReport& whole = reports[numbers[k]];
      ++panels[numbers[k]];
      whole.elements += step.elements;
      whole.bytes_read += step.bytes_read;
      whole.bytes_written += step.bytes_written;
      whole.operations += step.operations;
      continue;
    }
    KernelReport r;
    r.name = step.kernel ? step.kernel->name : "matrix_product";
    r.text = step.kernel ? ir::print(*step.kernel) : linalg::describe(*step.contraction);
    r.kernel = step.kernel;
    r.stored_because = step.stored_because;
    r.elements = step.elements;
    r.bytes_read = step.bytes_read;
    r.bytes_written = step.bytes_written;
    r.operations = step.operations;
    reports.push_back(std::move(r));
    panels.push_back(1);
  }
  for (size_t k = 0; k < reports.size(); ++k)
    if (panels[k] > 1) reports[k].stored_because += ", in " + std::to_string(panels[k]) + " panels, which exceed the memory together";
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

namespace {

/// What interrupts one of the engines that share devices. Flags stay in the list as long as what is shared, so that the handler of a signal
/// can walk it; those of engines that are gone are given to new ones.
struct InterruptFlag {
  std::atomic<bool> raised{false}, used{true};
  InterruptFlag* next = nullptr;
};

class InterruptFlags {
 public:
  InterruptFlags() = default;
  InterruptFlags(const InterruptFlags&) = delete;
  InterruptFlags& operator=(const InterruptFlags&) = delete;
  ~InterruptFlags() {
    for (InterruptFlag* flag = first_; flag;) delete std::exchange(flag, flag->next);
  }
  InterruptFlag& take() {
    for (InterruptFlag* flag = first_; flag; flag = flag->next) {
      bool free = false;
      if (!flag->used.compare_exchange_strong(free, true)) continue;
      flag->raised = false;
      return *flag;
    }
    auto made = std::make_unique<InterruptFlag>();
    made->next = first_;
    while (!first_.compare_exchange_weak(made->next, made.get())) {
    }
    return *made.release();
  }
  void raise() noexcept {
    for (InterruptFlag* flag = first_; flag; flag = flag->next) flag->raised.store(true, std::memory_order_relaxed);
  }

 private:
  std::atomic<InterruptFlag*> first_{nullptr};
};

}  // namespace

/// What engines made from each other have together. Thread-safe, but for the GPUs: these belong to whose turn it is.
struct Engine::Shared {
  explicit Shared(EngineOptions given)
      : options(std::move(given)),
        jit(JitOptions{.disk_cache = options.cache,
                       .cache_directory = options.cache_directory,
                       .check_bounds = options.check,
                       .check_thread_races = options.check}) {
    if (options.threads <= 0) options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (options.memory <= 0) options.memory = machine_memory() / 4 * 3;
    device = traced(make_host_device(options.threads, options.memory, jit, never), trace);
    if (options.trace) trace->start(true);
    choice = parse_device(options.device);
  }

  void find_gpus(const std::atomic<bool>& interrupt) {
    searched = true;
    std::vector<std::unique_ptr<Gpu>> found = make_gpus(choice, {options.cache, options.cache_directory});
    if (found.empty()) return;
    for (std::unique_ptr<Gpu>& gpu : found) gpu = traced(std::move(gpu), trace);
    GpuDeviceOptions gpu_options;
    if (options.split_from >= 0) gpu_options.split_from = options.split_from;
    gpu_options.steal_always = options.steal;
    gpus = std::make_unique<GpuDevice>(std::move(found), *device, gpu_options, interrupt);
  }

  EngineOptions options;
  const std::atomic<bool> never{false};  // every launch says what interrupts it
  InterruptFlags interrupts;
  Jit jit;
  const std::shared_ptr<Trace> trace = std::make_shared<Trace>();
  std::unique_ptr<Device> device;
  std::unique_ptr<GpuDevice> gpus;
  DeviceChoice choice;
  std::atomic<bool> searched{false};        // for GPUs
  std::atomic<bool> alone{true};            // no engine was made from the first one
  std::mutex search;                        // one looks for GPUs
  std::binary_semaphore turns{1};           // one uses them, on whichever of its threads
  std::atomic<const State*> user{nullptr};  // who has the turn
  std::atomic<double> host_work{0};         // seconds of work that the host was given before
  PlanCache plans;
};

struct Engine::State {
  explicit State(std::shared_ptr<Shared> all, bool first) : shared(std::move(all)), first(first) {
    // Who cuts kernels finely, or checks them, wants to see them run.
    if (options.small && options.fuse && options.chunk == 0 && !options.check) small = std::make_unique<SmallGraphs>(*device, known);
    const std::lock_guard lock(shared->search);
    // Found later, they would come while others compute without turns.
    if (!first) shared->alone = false;
    if (!shared->searched && (!first || choice.kind != DeviceChoice::Kind::automatic)) shared->find_gpus(interrupt);
    selections.push_back(selection_of(choice));
  }
  ~State() { flag.used = false; }

  void find_gpus() {
    if (shared->alone) shared->find_gpus(interrupt);
  }

  const DeviceSelection& selection() const { return selections.back(); }

  plan::Plan make_plan(const std::vector<NodeRef>& nodes, const std::vector<plan::Destination>& destinations, bool for_gpus) {
    plan::PlanOptions plan_options;
    plan_options.fuse = options.fuse;
    plan_options.library = [this, for_gpus] {
      return for_gpus ? gpus->library(GpuLibrary::products) != nullptr : linalg::OpenBlas::find() != nullptr;
    };
    if (for_gpus) plan_options.grain = gpus->grain();
    if (options.chunk > 0) plan_options.grain.chunk = options.chunk;
    plan_options.memory = device->budget().limit() - device->budget().used();
    return plan::make_plan(plan::expand(nodes), plan_options, destinations);
  }

  /// The plan of this structure, made unless there is one already. Plans for the GPUs are cut more finely.
  std::shared_ptr<PreparedPlan> prepared(GraphStructure& structure, const std::vector<NodeRef>& nodes,
                                         const std::vector<plan::Destination>& destinations, bool for_gpus) {
    const bool keeps = !structure.key.empty();
    if (for_gpus && keeps) structure.key += "on GPUs";
    if (auto known = keeps ? plans.find(structure.key) : nullptr) return known;
    auto made = std::make_shared<PreparedPlan>(prepare(make_plan(nodes, destinations, for_gpus), structure.memories));
    // A plan made while memory is short computes again what it could not store; that is no plan for better times.
    const MemoryBudget& budget = device->budget();
    if (keeps && budget.used() <= budget.limit() / 2) plans.keep(structure.key, made);
    return made;
  }

  /// The largest value that is kept so that it need not be computed again.
  int64_t most_known() const {
    int64_t left = device->budget().limit() - device->budget().used();
    if (gpus && gpus->any_alive()) left = std::min(left, gpus->properties().memory);
    return left / kShareOfKnown;
  }

  bool takes_small() const { return small && !observer && selection().kind != DeviceSelection::Kind::gpus; }

  std::vector<NodeRef> run(const std::vector<NodeRef>& roots, const std::vector<plan::Destination>& wanted_at, bool host_reads) {
    return any_part_waits() ? run_ready(with_wanted_parts(roots), wanted_at, host_reads) : run_ready(roots, wanted_at, host_reads);
  }

  /// No part of what these graphs read is waiting.
  std::vector<NodeRef> run_ready(const std::vector<NodeRef>& given, const std::vector<plan::Destination>& wanted_at, bool host_reads) {
    if (interrupt.exchange(false)) throw Interrupted();
    if (takes_small())
      if (auto results = small->evaluate(given, wanted_at)) return std::move(*results);
    KnownValues::Rewritten rewritten = known.rewrite(given, most_known());
    const std::vector<NodeRef>& nodes = rewritten.roots;
    std::vector<plan::Destination> destinations = wanted_at;
    if (!destinations.empty()) destinations.resize(nodes.size());
    GraphStructure structure = structure_of(nodes, destinations);
    std::vector<StorageRef> memories = structure.memories;
    make_ready(memories);
    if (gpus) gpus->use(selection().gpus);
    bool on_gpus = gpus && selection().kind == DeviceSelection::Kind::gpus && gpus->any_alive();
    std::shared_ptr<PreparedPlan> plan = prepared(structure, nodes, destinations, on_gpus);
    if (selection().kind == DeviceSelection::Kind::automatic && (gpus || !shared->searched) && pays_on_gpus(*plan, memories)) {
      on_gpus = true;
      plan = prepared(structure, nodes, destinations, true);
    }
    std::vector<const plan::Step*> steps;
    if (observer) {
      for (const PreparedPlan::Step& step : plan->steps) steps.push_back(&step.plan);
      observer(PlanStage::planned, nodes, reports = report(steps));
    }
    StepTimes times;
    const PlanRun run{*plan, *device, on_gpus ? gpus.get() : nullptr, options, interrupt, observer ? &times : nullptr, *trace, host_reads};
    PlanMemory memory = run(std::move(memories));
    memory.check();
    if (observer) {
      reports = report(steps);
      const std::vector<size_t> numbers = reports_of(steps);
      for (size_t k = 0; k < steps.size(); ++k) {
        reports[numbers[k]].seconds += times.seconds[k];
        reports[numbers[k]].compile_seconds += times.compile_seconds[k];
      }
      observer(PlanStage::ran, nodes, reports);
    }
    std::vector<NodeRef> results;
    for (const PreparedPlan::Result& result : plan->results)
      results.push_back(graph::buffer(memory.of(result.slot), result.dtype, result.shape, result.strides, result.offset));
    for (size_t k = given.size(); k < results.size(); ++k) known.keep(rewritten.wanted[k - given.size()], results[k]);
    // Numbers that other graphs use: beside whoever forces them and `given`, somebody holds them.
    rewritten.roots.clear();
    for (size_t k = 0; k < given.size() && wanted_at.empty(); ++k)
      if (given[k]->size() == 1 && !given[k]->inputs.empty() && given[k].use_count() > 2) known.keep(given[k], results[k]);
    results.resize(given.size());
    return results;
  }

  /// Whether the GPUs, of which nothing was said, are the place for a plan.
  bool pays_on_gpus(const PreparedPlan& plan, const std::vector<StorageRef>& memories) {
    if (!shared->searched) {
      const double work = host_seconds(plan.bytes, plan.operations, options.threads);
      if (shared->host_work.fetch_add(work) + work < kSearchSeconds) return false;
      find_gpus();
    }
    return gpus && gpus->any_alive() && gpus->pays(plan.bytes, plan.operations, static_cast<int>(plan.steps.size()), memories);
  }

  const std::shared_ptr<Shared> shared;
  const bool first;
  InterruptFlag& flag = shared->interrupts.take();
  std::atomic<bool>& interrupt = flag.raised;
  const EngineOptions& options = shared->options;
  Jit& jit = shared->jit;
  const std::shared_ptr<Trace>& trace = shared->trace;
  const std::unique_ptr<Device>& device = shared->device;
  const std::unique_ptr<GpuDevice>& gpus = shared->gpus;
  const DeviceChoice& choice = shared->choice;
  PlanCache& plans = shared->plans;
  std::vector<DeviceSelection> selections;  // the last counts; the first is the options'
  KnownValues known;
  std::unique_ptr<SmallGraphs> small;  // null: everything is done by kernels
  std::vector<KernelReport> reports;
  PlanObserver observer;
};

Engine::Engine(EngineOptions options) : state_(std::make_unique<State>(std::make_shared<Shared>(std::move(options)), true)) {}
Engine::Engine(Engine& other) : state_(std::make_unique<State>(other.state_->shared, false)) {}
Engine::~Engine() = default;

Engine::Turn::Turn(Engine& engine) {
  State& state = *engine.state_;
  Shared& shared = *state.shared;
  if (!shared.gpus || shared.alone || shared.user == &state) return;
  while (!shared.turns.try_acquire_for(std::chrono::milliseconds(20)))
    if (state.interrupt.exchange(false)) throw Interrupted();
  shared.user = &state;
  shared.gpus->watch(state.interrupt);
  engine_ = &engine;
}
Engine::Turn::~Turn() {
  if (!engine_) return;
  Shared& shared = *engine_->state_->shared;
  shared.user = nullptr;
  shared.turns.release();
}

const EngineOptions& Engine::options() const { return state_->options; }
Device& Engine::device() { return *state_->device; }
Trace& Engine::trace() const { return *state_->trace; }
GpuDevice* Engine::gpus() { return state_->gpus.get(); }
GpuDevice* Engine::chosen_gpus() {
  if (state_->selection().kind == DeviceSelection::Kind::host) return nullptr;
  if (!state_->shared->searched) state_->find_gpus();
  if (!state_->gpus || !state_->gpus->any_alive()) return nullptr;
  state_->gpus->use(state_->selection().gpus);
  return state_->gpus.get();
}
GpuDevice* Engine::gpus_for_function(double host_seconds) {
  if (state_->selection().kind != DeviceSelection::Kind::automatic) return chosen_gpus();
  constexpr double kWorthIt = 0.01, kWorthLooking = 0.25;
  if (host_seconds < kWorthIt || (!state_->shared->searched && host_seconds < kWorthLooking)) return nullptr;
  return chosen_gpus();
}
StorageRef Engine::allocate(int64_t bytes) {
  const bool on_host = !state_->gpus || state_->selection().kind == DeviceSelection::Kind::host;
  return on_host ? state_->device->allocate(bytes) : state_->gpus->allocate(bytes);
}
Jit& Engine::jit() { return state_->jit; }

void Engine::use_devices(const std::string& text) {
  const DeviceChoice wanted = parse_device(text);
  if (wanted.kind == DeviceChoice::Kind::gpu && !state_->shared->searched) state_->find_gpus();
  state_->selections.push_back(select_devices(text, wanted, state_->choice, state_->gpus.get()));
}
void Engine::restore_devices() noexcept {
  if (state_->selections.size() > 1) state_->selections.pop_back();
}

std::optional<Scalar> Engine::small_value(const NodeRef& node) {
  if (!state_->takes_small()) return std::nullopt;
  const auto results = state_->small->evaluate({node}, {});
  if (!results) return std::nullopt;
  const auto& buffer = *results->front()->as<graph::BufferNode>();
  const auto& storage = static_cast<const HostStorage&>(*buffer.storage);
  return Scalar::load(static_cast<const char*>(storage.read()) + buffer.offset * gasell::size_of(node->dtype), node->dtype);
}

std::vector<NodeRef> Engine::force(const std::vector<NodeRef>& nodes, bool host_reads) {
  if (any_part_waits()) {
    const std::vector<NodeRef> now = with_wanted_parts(nodes);
    if (now != nodes) return force(now, host_reads);
  }
  // No further holders for those that are not ready: who else holds a node decides whether its value is kept.
  std::vector<NodeRef> ready;
  for (const NodeRef& node : nodes) {
    NodeRef known = state_->known.find(node);
    const NodeRef& now = known ? known : node;
    if (!is_contiguous_buffer(*now)) break;
    ready.push_back(now);
  }
  if (ready.size() < nodes.size()) {
    ready.clear();
    return state_->run(nodes, {}, host_reads);
  }
  std::vector<StorageRef> memories;
  for (const NodeRef& node : ready) memories.push_back(node->as<graph::BufferNode>()->storage);
  make_ready(memories);
  for (size_t k = 0; k < ready.size(); ++k) {
    const auto& buffer = *ready[k]->as<graph::BufferNode>();
    if (memories[k] != buffer.storage)
      ready[k] = graph::buffer(memories[k], ready[k]->dtype, ready[k]->shape, buffer.strides, buffer.offset);
  }
  return ready;
}

NodeRef Engine::force(const NodeRef& node, bool host_reads) { return force(std::vector<NodeRef>(1, node), host_reads)[0]; }

void Engine::force_into(const NodeRef& node, const HostStorageRef& storage, const std::vector<int64_t>& strides, int64_t offset) {
  state_->run({node}, {{storage, strides, offset}}, false);
}

std::vector<KernelReport> Engine::explain(const std::vector<NodeRef>& nodes) {
  const plan::Plan plan = state_->make_plan(nodes, {}, state_->gpus && state_->selection().kind == DeviceSelection::Kind::gpus);
  std::vector<const plan::Step*> steps;
  for (const plan::Step& step : plan.steps) steps.push_back(&step);
  return report(steps);
}
const std::vector<KernelReport>& Engine::last_reports() const { return state_->reports; }
void Engine::observe_plans(PlanObserver observer) { state_->observer = std::move(observer); }

void Engine::interrupt() noexcept {
  if (state_->first)
    state_->shared->interrupts.raise();
  else
    state_->interrupt.store(true, std::memory_order_relaxed);
}
void Engine::clear_interrupt() noexcept { state_->interrupt.store(false, std::memory_order_relaxed); }
const std::atomic<bool>& Engine::interrupt_flag() const noexcept { return state_->interrupt; }
bool Engine::interrupted() const noexcept { return state_->interrupt.load(std::memory_order_relaxed); }

}  // namespace gasell
