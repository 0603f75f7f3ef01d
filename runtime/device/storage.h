// Host memory that holds elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "compiler/graph/node.h"

namespace gasell {

/// Memory the host can address. Subclasses own it in their way: heap, mapped file, the embedding program's.
class HostStorage : public Storage {
 public:
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }
  /// The bytes [begin, end) were read by a streaming pass and are not needed soon: a mapped file gives their pages back. Default: nothing.
  virtual void release(int64_t begin, int64_t end);
  /// True when the memory is backed by a file, so that reading it streams and it does not count towards the memory budget.
  virtual bool is_mapped() const { return false; }

 protected:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  bool writable_ = true;
};
using HostStorageRef = std::shared_ptr<HostStorage>;

/// What a device may hold. Thread-safe; storages give their bytes back when they die.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit);
  int64_t limit() const;
  int64_t used() const;
  int64_t peak() const;
  /// Throws Error("MemoryError", "Unable to allocate 7.45 GiB for an array with shape … : 1.2 GiB of the 8 GiB budget are in use").
  void take(int64_t bytes);
  void give(int64_t bytes) noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
  friend HostStorageRef allocate(MemoryBudget& budget, int64_t bytes, bool zeroed);
};

/// 64-byte aligned heap memory (huge pages where large; lazily zeroed pages when `zeroed`). Counts towards the budget.
HostStorageRef allocate(MemoryBudget& budget, int64_t bytes, bool zeroed = false);
/// A file's bytes from `offset`, mapped read-only (or copy-on-write). Throws Error: FileNotFoundError, PermissionError, OSError, ValueError when shorter than offset + bytes.
HostStorageRef map_file(const std::filesystem::path& path, int64_t offset, int64_t bytes);
/// Memory of the embedding program; `release` runs when the last array over it is gone.
HostStorageRef external(void* data, int64_t bytes, bool writable, std::function<void()> release = {});

}  // namespace gasell
