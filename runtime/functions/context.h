// What the `context` parameter of a compiled function points to: the memory that it allocates while it runs.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "compiler/codegen/jit.h"
#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/storage.h"

namespace gasell::functions {

/// Memory with counts of references, by address. Everything that is left when the call ends is freed with the context. Thread-safe:
/// iterations of a parallel loop allocate too.
class FunctionContext {
 public:
  /// `host` has the budget and runs what is parallel; `regions`: the function's (compiler/functions/function.h).
  FunctionContext(Device& host, std::span<const HostKernel> regions) : host_(host), budget_(host.budget()), regions_(regions) {}
  FunctionContext(const FunctionContext&) = delete;
  FunctionContext& operator=(const FunctionContext&) = delete;

  /// 64-byte aligned, uninitialised, with one reference; null where the budget (or the machine) has no room: refusal() says why.
  void* allocate(int64_t bytes) noexcept;
  /// Of addresses that allocate() gave; any other (an argument's memory) is left alone.
  void retain(void* address) noexcept;
  void release(void* address) noexcept;

  /// Runs a region; `arrays` and `scalars` as its kernel takes them. Begins no more units once `error` is set.
  void parallel(int64_t region, int64_t units, void* const* arrays, const int64_t* scalars) noexcept;
  /// Where the function's errors are noted.
  void set_error(const int64_t* error) { error_ = error; }

  /// The storage behind an address that allocate() gave, for an array that outlives the call; null for any other address.
  HostStorageRef storage(void* address) const;
  const std::optional<Error>& refusal() const { return refusal_; }

 private:
  struct Entry {
    HostStorageRef storage;
    int64_t references;
  };
  Device& host_;
  MemoryBudget& budget_;
  std::span<const HostKernel> regions_;
  const int64_t* error_ = nullptr;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Entry> entries_;
  std::optional<Error> refusal_;
};

/// Makes gasell_allocate(context, bytes), gasell_retain(context, address), gasell_release(context, address), gasell_address(address) and
/// gasell_parallel(context, region, units, arrays, scalars) known to compiled code.
/// Before the first function runs; once is enough.
void register_context_functions();

}  // namespace gasell::functions
