// Counts what sessions with a limit of memory take of the heap. The linker gives this library's calls of operator new and delete these
// functions (--wrap, tools/CMakeLists.txt); the operators are the program's, as they were.
//
// A block on a session's account ends in a mark. So blocks that others made (libstdc++, plugins, scopes that are Uncounted) are told apart
// when they are freed; what others free of ours stays on the account.
#include <dlfcn.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "lang/heap_account.h"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
extern "C" {
void* __real__Znwm(size_t bytes);
void* __real__Znam(size_t bytes);
void __real__ZdlPv(void* block) noexcept;
void __real__ZdaPv(void* block) noexcept;
}

namespace {

using gasell::HeapTally;

constexpr size_t kLarge = size_t{64} << 10;  // where less is left, refused; smaller ones are told of at the script's next step
constexpr uint64_t kSalt = 0x9E3779B97F4A7C15;

const void* object_of(const void* function) {
  Dl_info info;
  return dladdr(function, &info) ? info.dli_fbase : nullptr;
}

/// Whether operator new gives memory of malloc, whose blocks know their sizes: unless the program has put another one in its place.
bool is_of_malloc() {
  static const bool is = [] {
    const void* const object = object_of(reinterpret_cast<const void*>(&__real__Znwm));
    return object && (object == object_of(reinterpret_cast<const void*>(&std::get_terminate)) ||
                      object == object_of(reinterpret_cast<const void*>(&std::malloc)));
  }();
  return is;
}

char* mark_of(void* block, size_t usable) { return static_cast<char*>(block) + usable - sizeof(uint64_t); }
uint64_t mark(const void* block) { return reinterpret_cast<uintptr_t>(block) * kSalt ^ kSalt; }

/// A block from `take`, on the account of what the thread runs.
template <class Take>
void* counted(size_t bytes, Take take) {
  HeapTally& tally = HeapTally::of_thread();
  if (!tally.account()) [[likely]]
    return take(bytes);
  if (!is_of_malloc()) return take(bytes);
  if (bytes >= kLarge && !tally.account()->has_room(static_cast<int64_t>(bytes))) throw std::bad_alloc();
  void* const block = take(bytes + sizeof(uint64_t));
  const size_t usable = malloc_usable_size(block);
  const uint64_t written = mark(block);
  std::memcpy(mark_of(block, usable), &written, sizeof written);
  tally.add(static_cast<int64_t>(usable));
  return block;
}

/// Before a block is freed.
void forget(void* block) noexcept {
  HeapTally& tally = HeapTally::of_thread();
  if (!tally.account() || !block) [[likely]]
    return;
  if (!is_of_malloc()) return;
  const size_t usable = malloc_usable_size(block);
  uint64_t found = 0;
  if (usable < sizeof found) return;
  char* const at = mark_of(block, usable);
  std::memcpy(&found, at, sizeof found);
  if (found != mark(block)) return;
  std::memset(at, 0, sizeof found);
  tally.add(-static_cast<int64_t>(usable));
}

}  // namespace

extern "C" {

void* __wrap__Znwm(size_t bytes) { return counted(bytes, __real__Znwm); }
void* __wrap__Znam(size_t bytes) { return counted(bytes, __real__Znam); }
void __wrap__ZdlPv(void* block) noexcept {
  forget(block);
  __real__ZdlPv(block);
}
// A block that is longer than was asked for has no size to be told.
void __wrap__ZdlPvm(void* block, size_t) noexcept { __wrap__ZdlPv(block); }
void __wrap__ZdaPv(void* block) noexcept {
  forget(block);
  __real__ZdaPv(block);
}
void __wrap__ZdaPvm(void* block, size_t) noexcept { __wrap__ZdaPv(block); }

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
