#include "runtime/functions/context.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <new>
#include <utility>

#include <pthread.h>

#include "compiler/codegen/externals.h"
#include "lang/large_stack.h"
#include "runtime/functions/generator.h"
#include "runtime/functions/host_function.h"
#include "runtime/functions/linalg.h"
#include "runtime/functions/random.h"

namespace gasell::functions {

void* FunctionContext::allocate(int64_t bytes) noexcept {
  // Nothing may be thrown through compiled code: it asks refusal()'s reader to.
  try {
    bytes = std::max<int64_t>(bytes, 1);
    if (bytes <= kMostWaiting && !grids_) {
      const size_t size = size_number(bytes);
      const auto lock = alone_here();
      if (!waiting_[size].empty()) {
        Block* const block = waiting_[size].back();
        waiting_[size].pop_back();
        block->second.references = 1;
        found_at(block->first) = {block->first, block};
        return block->first;
      }
      bytes = kLeastBlock << size;
    }
    HostStorageRef storage = grids_ ? grids_->allocate(bytes) : gasell::allocate(budget_, bytes);
    void* const address = storage->host_memory();
    if (grids_) grids_->add(*storage);
    const auto lock = alone_here();
    Block& block = *entries_.insert_or_assign(address, Entry{std::move(storage), 1}).first;
    found_at(address) = {address, &block};
    return address;
  } catch (const Error& error) {
    const auto lock = alone_here();
    if (!refusal_) refusal_ = error;
  } catch (const std::bad_alloc&) {
    const auto lock = alone_here();
    if (!refusal_) refusal_ = Error("MemoryError", "Unable to allocate " + memory_text(bytes), {}, Blame::environment);
  }
  return nullptr;
}

FunctionContext::Block* FunctionContext::find(void* address) noexcept {
  Found& last = found_at(address);
  if (last.address != address) {
    const auto found = entries_.find(address);
    last = {address, found == entries_.end() ? nullptr : &*found};
  }
  return last.block;
}

void FunctionContext::retain(void* address) noexcept {
  const auto lock = alone_here();
  if (Block* const block = find(address)) ++block->second.references;
}

HostStorageRef FunctionContext::retire(Block& block) noexcept {
  auto& [at, entry] = block;
  void* const address = at;
  if (!grids_ && entry.storage->bytes() <= kMostWaiting) {
    waiting_[size_number(entry.storage->bytes())].push_back(&block);
    return nullptr;
  }
  HostStorageRef freed = std::move(entry.storage);
  found_at(address) = {};
  entries_.erase(address);
  return freed;
}

void FunctionContext::release(void* address) noexcept {
  HostStorageRef freed;  // without the lock
  Block* block = nullptr;
  int64_t references = kNoList;
  {
    const auto lock = alone_here();
    block = find(address);
    if (!block || --block->second.references > 0) return;
    references = std::exchange(block->second.list_references, kNoList);
    if (references == kNoList) freed = retire(*block);
  }
  if (references != kNoList) {
    const auto& list = *static_cast<const ListHeader*>(address);
    if (references)
      for (int64_t k = 0; k < list.length; ++k)
        for (int64_t slot = 0; slot < list.slots; ++slot)
          if (references >> slot & 1) release(reinterpret_cast<void*>(list.data[k * list.slots + slot]));
    if (list.data) release(list.data);
    const auto lock = alone_here();
    freed = retire(*block);
  }
  if (freed && grids_) grids_->remove(*freed);
}

void* FunctionContext::new_header(size_t bytes, int64_t references) noexcept {
  void* const memory = allocate(static_cast<int64_t>(bytes));
  if (!memory) return nullptr;
  const auto lock = alone_here();
  entries_.at(memory).list_references = references;
  return memory;
}

ListHeader* FunctionContext::new_list(int64_t slots, int64_t references) noexcept {
  void* const memory = new_header(sizeof(ListHeader), references);
  return memory ? new (memory) ListHeader{0, 0, nullptr, slots} : nullptr;
}

TableHeader* FunctionContext::new_table(int64_t slots, int64_t references, int64_t key_slots, int64_t floats) noexcept {
  void* const memory = new_header(sizeof(TableHeader), references);
  return memory ? new (memory) TableHeader{{0, 0, nullptr, slots}, 0, 0, key_slots, floats, 0, 0} : nullptr;
}

bool FunctionContext::grow(ListHeader& list, int64_t items) noexcept {
  if (items <= list.room) return true;
  constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max() / 2;
  if (items > kMostBytes / (list.slots * 8)) return false;
  const int64_t room = std::max({items, 2 * list.room, int64_t{4}});
  auto* const data = static_cast<int64_t*>(allocate(room * list.slots * 8));
  if (!data) return false;
  if (list.data) {
    std::copy_n(list.data, list.length * list.slots, data);
    release(list.data);
  }
  list.data = data;
  list.room = room;
  return true;
}

namespace {

/// How far the stack of this thread may grow down: recursion as deep as that is taken for endless. Of a stack as large as scripts have
/// (lang/large_stack.h) a part is enough.
const char* stack_limit() {
  constexpr size_t kReserve = size_t{256} << 10, kMost = size_t{128} << 20;
  if (const char* const bottom = large_stack_bottom()) return bottom + kLargeStackBytes - kMost;
  static thread_local const char* const limit = [] {
    pthread_attr_t attributes;
    void* low = nullptr;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &low, &size);
      pthread_attr_destroy(&attributes);
    }
    const char* const here = static_cast<const char*>(__builtin_frame_address(0));
    if (!low) return here - kReserve;
    return std::max(static_cast<const char*>(low) + kReserve, here - kMost);
  }();
  return limit;
}

}  // namespace

int64_t FunctionContext::call(int64_t instance, void* const* arrays, const int64_t* scalars) noexcept {
  if (static_cast<const char*>(__builtin_frame_address(0)) < stack_limit()) return 2;
  instances_[static_cast<size_t>(instance)].function(arrays, scalars, 0, 1);
  return *error_ != 0;
}

namespace {

thread_local bool in_region = false;  // this thread runs iterations of a parallel loop

}  // namespace

int FunctionContext::threads() const { return in_region ? 1 : host_.properties().threads; }

void FunctionContext::fail(const Error& error) noexcept {
  const auto lock = alone_here();
  if (!refusal_) refusal_ = error;
  if (error_[0] == 0) error_[0] = kFailed;
}

void FunctionContext::print(std::string_view line) noexcept {
  static std::mutex one_line;  // of any call
  const std::lock_guard lock(one_line);
  if (output_failure_) return;
  try {
    if (output_)
      output_->write(line);
    else
      std::fwrite(line.data(), 1, line.size(), stdout);
  } catch (...) {
    output_failure_ = std::current_exception();
  }
}

void FunctionContext::bring_home(const void* address, bool writes) noexcept {
  if (const auto failure = grids_->bring_home(address, writes)) fail(*failure);
}

HostKernelFunction FunctionContext::region_function(int64_t region) noexcept {
  try {
    return regions_->function(static_cast<size_t>(region));
  } catch (const Error& error) {
    fail(error);
    return nullptr;
  }
}

void FunctionContext::alone(int64_t region, void* const* arrays, const int64_t* scalars) noexcept {
  if (const HostKernelFunction function = region_function(region)) function(arrays, scalars, 0, 1);
}

void FunctionContext::parallel(int64_t region, int64_t units, void* const* arrays, const int64_t* scalars,
                               std::array<int64_t, 3> extents) noexcept {
  if (grids_) {
    const RegionGrids::Outcome outcome = grids_->run(static_cast<size_t>(region), units, arrays, scalars, extents);
    if (outcome.failure) fail(*outcome.failure);
    if (outcome.interrupted) error_[0] = ir::kInterrupted;
    if (outcome.error[0] != 0) std::copy(outcome.error.begin(), outcome.error.end(), error_);
    if (outcome.ran || error_[0] != 0) return;
  }
  const HostKernelFunction function = region_function(region);
  if (!function) return;
  const uint64_t random = next_random_loop();
  const bool outermost = !in_region;
  if (outermost) shared_ = true;
  host_.share(
      units,
      [&](int64_t begin, int64_t end) {
        const bool outer = std::exchange(in_region, true);
        for (int64_t unit = begin; unit < end; ++unit) {
          const RandomPiece piece(random, unit);
          function(arrays, scalars, unit, unit + 1);
        }
        in_region = outer;
      },
      [&] { return std::atomic_ref(*error_).load(std::memory_order_relaxed) != 0; });
  if (outermost) shared_ = false;
}

HostStorageRef FunctionContext::storage(void* address) const {
  const auto lock = alone_here();
  const auto found = entries_.find(address);
  return found == entries_.end() || found->second.references == 0 ? nullptr : found->second.storage;
}

namespace {

extern "C" {
void* gasell_allocate(void* context, int64_t bytes) { return static_cast<FunctionContext*>(context)->allocate(bytes); }
void gasell_retain(void* context, void* address) { static_cast<FunctionContext*>(context)->retain(address); }
void gasell_release(void* context, void* address) { static_cast<FunctionContext*>(context)->release(address); }
int64_t gasell_address(int64_t address) { return address; }
int64_t gasell_call(void* context, int64_t instance, void* const* arrays, const int64_t* scalars) {
  return static_cast<FunctionContext*>(context)->call(instance, arrays, scalars);
}
int64_t gasell_list_new(void* context, int64_t slots, int64_t references) {
  return reinterpret_cast<int64_t>(static_cast<FunctionContext*>(context)->new_list(slots, references));
}
int64_t gasell_list_grow(void* context, ListHeader* list, int64_t items) {
  return !static_cast<FunctionContext*>(context)->grow(*list, items);
}
void gasell_parallel(void* context, int64_t region, int64_t units, void* const* arrays, const int64_t* scalars, int64_t x, int64_t y,
                     int64_t z) {
  static_cast<FunctionContext*>(context)->parallel(region, units, arrays, scalars, {x, y, z});
}
void gasell_alone(void* context, int64_t region, void* const* arrays, const int64_t* scalars) {
  static_cast<FunctionContext*>(context)->alone(region, arrays, scalars);
}
int64_t gasell_pieces(void* context, int64_t on_host, int64_t iterations) {
  return static_cast<FunctionContext*>(context)->pieces(on_host, iterations);
}
void gasell_host(void* context, const void* address, int64_t writes) { static_cast<FunctionContext*>(context)->host(address, writes != 0); }
}

}  // namespace

void register_context_functions() {
  register_host_functions();
  static const bool once = [] {
    register_random_functions();
    register_generator_functions();
    register_print_functions();
    register_table_functions();
    register_external("gasell_allocate", reinterpret_cast<void*>(&gasell_allocate));
    register_external("gasell_retain", reinterpret_cast<void*>(&gasell_retain));
    register_external("gasell_release", reinterpret_cast<void*>(&gasell_release));
    register_external("gasell_address", reinterpret_cast<void*>(&gasell_address));
    register_external("gasell_call", reinterpret_cast<void*>(&gasell_call));
    register_external("gasell_list_new", reinterpret_cast<void*>(&gasell_list_new));
    register_external("gasell_list_grow", reinterpret_cast<void*>(&gasell_list_grow));
    register_external("gasell_parallel", reinterpret_cast<void*>(&gasell_parallel));
    register_external("gasell_alone", reinterpret_cast<void*>(&gasell_alone));
    register_linalg_functions();
    register_external("gasell_pieces", reinterpret_cast<void*>(&gasell_pieces));
    register_external("gasell_host", reinterpret_cast<void*>(&gasell_host));
    return true;
  }();
  (void)once;
}

}  // namespace gasell::functions
