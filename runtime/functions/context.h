// What the `context` parameter of a compiled function points to: the memory that it allocates while it runs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/codegen/jit.h"
#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/storage.h"
#include "runtime/engine.h"
#include "runtime/functions/lists.h"
#include "runtime/functions/output.h"
#include "runtime/functions/region_grids.h"
#include "runtime/functions/region_kernels.h"
#include "runtime/functions/tables.h"

namespace gasell::functions {

/// Memory with counts of references, by address. Everything that is left when the call ends is freed with the context. Thread-safe:
/// iterations of a parallel loop allocate too.
class FunctionContext {
 public:
  /// The engine's host has the budget and runs what is parallel; `regions`, `instances`: the function's (compiler/functions/function.h).
  FunctionContext(Engine& engine, RegionKernels* regions, std::span<const HostKernel> instances = {})
      : engine_(engine), host_(engine.device()), budget_(host_.budget()), regions_(regions), instances_(instances) {}
  /// Regions run on a GPU where they can; null: on the host.
  void use_grids(RegionGrids* grids) { grids_ = grids; }
  FunctionContext(const FunctionContext&) = delete;
  FunctionContext& operator=(const FunctionContext&) = delete;

  /// 64-byte aligned, uninitialised, with one reference; null where the budget (or the machine) has no room: refusal() says why.
  void* allocate(int64_t bytes) noexcept;
  /// Of addresses that allocate() gave; any other (an argument's memory) is left alone.
  void retain(void* address) noexcept;
  void release(void* address) noexcept;

  /// An empty list with one reference, whose items have so many slots; bit k of `references`: slot k of an item is the address of memory
  /// that the list holds a reference to. Null where there is no room.
  ListHeader* new_list(int64_t slots, int64_t references) noexcept;
  /// The same for a dict or a set (tables.h); `slots` of an entry, the hash's among them.
  TableHeader* new_table(int64_t slots, int64_t references, int64_t key_slots, int64_t floats) noexcept;
  /// Makes room for so many items. False: there is none.
  bool grow(ListHeader& list, int64_t items) noexcept;

  /// Runs an instance: 0, 1 where it noted an error, 2 where the stack has no room for another call.
  int64_t call(int64_t instance, void* const* arrays, const int64_t* scalars) noexcept;

  /// Runs a region; `arrays` and `scalars` as its kernel takes them. Begins no more units once `error` is set.
  /// `extents`: of its grid, where that runs.
  void parallel(int64_t region, int64_t units, void* const* arrays, const int64_t* scalars, std::array<int64_t, 3> extents) noexcept;
  /// Runs a region of one unit on this thread, as a part of what calls it.
  void alone(int64_t region, void* const* arrays, const int64_t* scalars) noexcept;
  /// How many pieces a reduction has that the host does in so many.
  int64_t pieces(int64_t on_host, int64_t iterations) const noexcept { return grids_ ? RegionGrids::pieces(iterations) : on_host; }
  /// The host's code will use what lies at this address.
  void host(const void* address, bool writes) noexcept {
    if (grids_) [[unlikely]]
      bring_home(address, writes);
  }
  /// Where the function's errors are noted. kFailed stands for what refusal() says.
  void set_error(int64_t* error) { error_ = error; }
  static constexpr int64_t kFailed = -2;
  /// The texts that the function prints.
  void set_texts(std::span<const std::string> texts) { texts_ = texts; }
  const std::string& text(int64_t k) const { return texts_[static_cast<size_t>(k)]; }
  /// What the thread that made this prints to; may be null.
  const FunctionOutput* output() const { return output_; }
  /// Writes a line there. Compiled code knows no exceptions: the first one waits for check_output(), and what comes after it is lost.
  void print(std::string_view line) noexcept;
  /// Throws what print() met, once the function has ended.
  void check_output() const {
    if (output_failure_) [[unlikely]]
      std::rethrow_exception(output_failure_);
  }

  /// The storage behind an address that allocate() gave, for an array that outlives the call; null for any other address.
  HostStorageRef storage(void* address) const;
  /// What runs work that calls of the function share among threads, and how many there are for that: one within a parallel loop.
  Device& host() const { return host_; }
  int threads() const;
  Engine& engine() const { return engine_; }
  const std::optional<Error>& refusal() const { return refusal_; }
  /// Notes an error that ends the function: refusal() says which.
  void fail(const Error& error) noexcept;

 private:
  struct Entry {
    HostStorageRef storage;
    int64_t references;
    int64_t list_references = kNoList;  // of a list: which slots of its items are references
  };
  static constexpr int64_t kNoList = -1;
  using Block = std::pair<void* const, Entry>;
  /// Held while what stands here is looked at or changed; nothing where no other thread could do so, since code asks for memory in its
  /// innermost loops.
  std::unique_lock<std::mutex> alone_here() const { return shared_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>(); }
  /// The block at an address that allocate() gave, else null.
  Block* find(void* address) noexcept;
  /// Keeps a block that nobody refers to for the next one of its size, or gives up its storage.
  HostStorageRef retire(Block& block) noexcept;
  Engine& engine_;
  Device& host_;
  MemoryBudget& budget_;
  RegionKernels* const regions_;
  std::span<const HostKernel> instances_;
  /// Null where it cannot be compiled: an error is noted.
  HostKernelFunction region_function(int64_t region) noexcept;
  void bring_home(const void* address, bool writes) noexcept;
  /// Memory of a list or a table, whose items hold these references.
  void* new_header(size_t bytes, int64_t references) noexcept;

  RegionGrids* grids_ = nullptr;
  int64_t* error_ = nullptr;
  std::span<const std::string> texts_;
  const FunctionOutput* const output_ = function_output();
  std::exception_ptr output_failure_;
  mutable std::mutex mutex_;
  bool shared_ = false;  // units of a region run, on any number of threads
  std::unordered_map<void*, Entry> entries_;
  /// What find() found last, by address: nearly every address comes again soon.
  struct Found {
    void* address = nullptr;
    Block* block = nullptr;
  };
  static constexpr size_t kFound = 32;
  std::array<Found, kFound> found_;
  Found& found_at(void* address) noexcept { return found_[(reinterpret_cast<uintptr_t>(address) / kLeastBlock) % kFound]; }
  /// Small blocks come in powers of two. Those that nobody refers to wait here, with their entries, for the next one of their size: loops
  /// that make an array in every iteration make it once.
  static constexpr int64_t kLeastBlock = 64, kMostWaiting = 64 << 10;
  static constexpr size_t kSizes = 11;
  static size_t size_number(int64_t bytes) { return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(bytes - 1) / kLeastBlock)); }
  std::array<std::vector<Block*>, kSizes> waiting_;
  std::optional<Error> refusal_;
};

/// Makes gasell_allocate(context, bytes), gasell_retain(context, address), gasell_release(context, address), gasell_address(address) and
/// gasell_parallel(context, region, units, arrays, scalars, x, y, z), gasell_alone(context, region, arrays, scalars),
/// gasell_pieces(context, pieces, iterations), gasell_host(context, address, writes), gasell_call(context, instance, arrays, scalars),
/// gasell_list_new(context, slots, references) and gasell_list_grow(context, list, items), true where it failed, known to compiled code.
/// Before the first function runs; once is enough.
void register_context_functions();

}  // namespace gasell::functions
