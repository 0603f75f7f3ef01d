#include "runtime/functions/context.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "compiler/codegen/externals.h"

namespace gasell::functions {

void* FunctionContext::allocate(int64_t bytes) noexcept {
  // Nothing may be thrown through compiled code: it asks refusal()'s reader to.
  try {
    HostStorageRef storage = gasell::allocate(budget_, std::max<int64_t>(bytes, 1));
    void* const address = storage->write();
    const std::lock_guard lock(mutex_);
    entries_.insert_or_assign(address, Entry{std::move(storage), 1});
    return address;
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!refusal_) refusal_ = error;
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    if (!refusal_) refusal_ = Error("MemoryError", "Unable to allocate " + memory_text(bytes), {}, Blame::environment);
  }
  return nullptr;
}

void FunctionContext::retain(void* address) noexcept {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(address); found != entries_.end()) ++found->second.references;
}

void FunctionContext::release(void* address) noexcept {
  HostStorageRef freed;  // declared first: given back when the lock is
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(address);
  if (found == entries_.end() || --found->second.references > 0) return;
  freed = std::move(found->second.storage);
  entries_.erase(found);
}

void FunctionContext::parallel(int64_t region, int64_t units, void* const* arrays, const int64_t* scalars) noexcept {
  const HostKernelFunction function = regions_[static_cast<size_t>(region)].function;
  host_.share(
      units, [&](int64_t begin, int64_t end) { function(arrays, scalars, begin, end); },
      [&] { return std::atomic_ref(const_cast<int64_t&>(*error_)).load(std::memory_order_relaxed) != 0; });
}

HostStorageRef FunctionContext::storage(void* address) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(address);
  return found == entries_.end() ? nullptr : found->second.storage;
}

namespace {

extern "C" {
void* gasell_allocate(void* context, int64_t bytes) { return static_cast<FunctionContext*>(context)->allocate(bytes); }
void gasell_retain(void* context, void* address) { static_cast<FunctionContext*>(context)->retain(address); }
void gasell_release(void* context, void* address) { static_cast<FunctionContext*>(context)->release(address); }
int64_t gasell_address(int64_t address) { return address; }
void gasell_parallel(void* context, int64_t region, int64_t units, void* const* arrays, const int64_t* scalars) {
  static_cast<FunctionContext*>(context)->parallel(region, units, arrays, scalars);
}
}

}  // namespace

void register_context_functions() {
  static const bool once = [] {
    register_external("gasell_allocate", reinterpret_cast<void*>(&gasell_allocate));
    register_external("gasell_retain", reinterpret_cast<void*>(&gasell_retain));
    register_external("gasell_release", reinterpret_cast<void*>(&gasell_release));
    register_external("gasell_address", reinterpret_cast<void*>(&gasell_address));
    register_external("gasell_parallel", reinterpret_cast<void*>(&gasell_parallel));
    return true;
  }();
  (void)once;
}

}  // namespace gasell::functions
