#include "runtime/plan_run.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/device/trace.h"
#include "runtime/device/workers.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/linalg/products.h"

namespace gasell {
namespace {

std::string shape_text(const graph::Shape& shape) {
  std::string text = "(";
  for (size_t k = 0; k < shape.size(); ++k) text += (k ? ", " : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// Mapped arrays that the units walk through in order give their pages back behind the pass.
void add_streams(Launch& launch) {
  if (launch.units < 2) return;
  for (size_t k = 0; k < launch.storages.size(); ++k) {
    const auto* host = dynamic_cast<const HostStorage*>(launch.storages[k].get());
    if (host && host->is_mapped())
      launch.streamed.push_back(
          {static_cast<int>(k), static_cast<double>(host->bytes() - launch.byte_offsets[k]) / static_cast<double>(launch.units)});
  }
}

}  // namespace

PlanMemory::PlanMemory(Device& device, const PreparedPlan& plan, std::vector<StorageRef> memories)
    : device_(device), plan_(plan), slots_(std::move(memories)) {
  slots_.resize(plan.memories + plan.temporary_bytes.size());
  for (const StorageRef& memory : slots_) {
    const auto* host = dynamic_cast<const HostStorage*>(memory.get());
    if (host && host->is_mapped()) mapped_.push_back(host);
  }
}

const StorageRef& PlanMemory::of(int slot) {
  StorageRef& memory = slots_[static_cast<size_t>(slot)];
  if (memory) return memory;
  try {
    memory = device_.allocate(plan_.temporary_bytes[static_cast<size_t>(slot) - plan_.memories]);
  } catch (Error& error) {
    describe(error, slot);
    throw;
  }
  return memory;
}

void PlanMemory::describe(Error& error, int slot) const {
  const auto result =
      std::find_if(plan_.results.begin(), plan_.results.end(), [slot](const PreparedPlan::Result& r) { return r.slot == slot; });
  if (error.diagnostic().kind == "MemoryError" && result != plan_.results.end())
    error.diagnostic().message +=
        " for an array with shape " + shape_text(result->shape) + " and data type " + std::string(name_of(result->dtype));
}

void PlanMemory::end(const std::vector<int>& slots) {
  for (const int slot : slots) slots_[static_cast<size_t>(slot)].reset();
}

void PlanMemory::return_shared() const {
  for (size_t k = 0; k < plan_.memories; ++k) {
    auto& storage = static_cast<HostStorage&>(*slots_[k]);
    if (storage.is_shared()) storage.write();
  }
}

void PlanMemory::check() const {
  for (const HostStorage* storage : mapped_) storage->check();
}

PlanMemory PlanRun::operator()(std::vector<StorageRef> memories) const {
  if (gpus) return on_gpus(memories);
  PlanMemory memory(host, plan, std::move(memories));
  steps(host, memory);
  return memory;
}

PlanMemory PlanRun::on_gpus(const std::vector<StorageRef>& memories) const {
  while (gpus->any_alive()) {
    PlanMemory memory(*gpus, plan, memories);
    try {
      steps(*gpus, memory);
      memory.return_shared();
      return memory;
    } catch (const WorkLost&) {
      gpus->abandon();
    } catch (...) {
      gpus->abandon();
      throw;
    }
  }
  PlanMemory memory(host, plan, memories);
  steps(host, memory);
  return memory;
}

/// Compiles the kernels that a plan still needs, several beside each other; gives where it put them. Afterwards the plan stays as it is:
/// others may run it at the same time.
std::vector<const LoadedKernelRef*> PlanRun::load_together(Device& where) const {
  std::vector<PreparedPlan::Step*> missing;
  const bool on_gpus = runs_on_gpus(where);
  const std::lock_guard lock(*plan.loading);
  for (PreparedPlan::Step& step : plan.steps)
    if (step.plan.kernel && !(on_gpus ? step.loaded_on_gpus : step.loaded)) missing.push_back(&step);
  std::vector<const LoadedKernelRef*> loaded(missing.size());
  const auto load = [&](int64_t number) {
    const auto k = static_cast<size_t>(number);
    LoadedKernelRef& to = on_gpus ? missing[k]->loaded_on_gpus : missing[k]->loaded;
    to = where.load(*missing[k]->plan.kernel);
    loaded[k] = &to;
  };
  const auto count = static_cast<int64_t>(missing.size());
  if (count < 2 || options.threads < 2)
    for (int64_t k = 0; k < count; ++k) load(k);
  else
    in_parallel(count, load);
  return loaded;
}

void PlanRun::steps(Device& where, PlanMemory& memory) const {
  const bool on_gpus = runs_on_gpus(where);
  Progress progress(options.progress, plan.elements, "elements", trace.progress());
  if (times) *times = {};
  try {
    const std::vector<const LoadedKernelRef*> fresh = load_together(where);
    for (const PreparedPlan::Step& step : plan.steps) {
      if (step.plan.contraction) {
        contraction(step, where, memory, progress);
      } else {
        const LoadedKernelRef& loaded = on_gpus ? step.loaded_on_gpus : step.loaded;
        kernel(step, where, memory, std::find(fresh.begin(), fresh.end(), &loaded) != fresh.end(), progress);
      }
      memory.end(step.ends);
    }
    if (on_gpus) {
      // Not destinations: should a GPU be lost, what the host had of them must still be there.
      for (const PreparedPlan::Result& result : plan.results)
        if (host_reads && static_cast<size_t>(result.slot) >= plan.memories) gpus->send_home(memory.of(result.slot));
      gpus->finish();
    }
  } catch (const Interrupted&) {
    interrupt = false;
    throw;
  }
}

void PlanRun::kernel(const PreparedPlan::Step& step, Device& where, PlanMemory& memory, bool fresh, Progress& progress) const {
  const bool on_gpus = runs_on_gpus(where);
  const LoadedKernelRef& loaded = on_gpus ? step.loaded_on_gpus : step.loaded;
  Launch launch;
  launch.kernel = step.plan.kernel.get();
  launch.loaded = loaded;
  launch.storages.reserve(step.slots.size());
  for (const int slot : step.slots) launch.storages.push_back(memory.of(slot));
  launch.byte_offsets = step.plan.byte_offsets;
  launch.scalars = step.plan.scalars;
  launch.units = step.plan.units;
  launch.elements = step.plan.elements;
  launch.bytes = step.plan.bytes_read + step.plan.bytes_written;
  add_streams(launch);
  if (!step.plan.walks.empty()) launch.walks = &step.plan.walks;
  launch.together = step.plan.together;
  launch.interrupt = &interrupt;
  const auto start = std::chrono::steady_clock::now();
  try {
    where.run(launch, progress);
    if (on_gpus && times) gpus->finish();
  } catch (Error& error) {
    if (on_gpus) memory.describe(error, step.slots.back());
    throw;
  }
  if (!times) return;
  times->seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  times->compile_seconds.push_back(fresh ? loaded->compile_seconds : 0);
}

/// A product of matrices, where the plan runs, or on the host where the GPUs cannot.
void PlanRun::contraction(const PreparedPlan::Step& step, Device& where, PlanMemory& memory, Progress& progress) const {
  const auto start = std::chrono::steady_clock::now();
  const StorageRef storages[] = {memory.of(step.slots[0]), memory.of(step.slots[1]), memory.of(step.slots[2])};
  const bool done = runs_on_gpus(where) && gpus->contract(*step.plan.contraction, storages, step.plan.byte_offsets);
  if (!done) {
    const auto at = [&](size_t k) -> HostStorage& { return static_cast<HostStorage&>(*storages[k]); };
    char* const result = static_cast<char*>(at(2).write());
    const auto* left = static_cast<const char*>(at(0).read());
    const auto* right = static_cast<const char*>(at(1).read());
    linalg::contract(host, *step.plan.contraction, left + step.plan.byte_offsets[0], right + step.plan.byte_offsets[1],
                     result + step.plan.byte_offsets[2], interrupt);
  }
  progress.advance(step.plan.elements);
  if (!times) return;
  if (done) gpus->finish();
  times->seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  times->compile_seconds.push_back(0);
}

}  // namespace gasell
