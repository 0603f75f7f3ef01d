// Memory that holds elements: the host's, of which other devices may have copies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/graph/node.h"
#include "runtime/device/spill.h"

namespace gasell {

class HostStorage;
using HostStorageRef = std::shared_ptr<HostStorage>;

/// What other devices hold of a storage's contents. The host's bytes are one copy among several; any of them may be stale.
class RemoteCopies {
 public:
  virtual ~RemoteCopies() = default;  // frees them
  /// Makes the host's bytes [begin, end) valid. Thread-safe. Throws MemoryError, or what became of a device that was lost.
  virtual void bring_home(const HostStorage& storage, int64_t begin, int64_t end) = 0;
};

/// Memory the host can address. Subclasses own it in their way: heap, mapped file, the embedding program's.
class HostStorage : public Storage {
 public:
  /// The bytes, for reading: what only other devices have is copied here first.
  const void* read() const { return read(0, bytes_); }
  /// The same where only the bytes [begin, end) of them are wanted.
  const void* read(int64_t begin, int64_t end) const {
    if (copies_) [[unlikely]]
      copies_->bring_home(*this, begin, end);
    return host_memory();
  }
  /// The bytes, for reading and writing: afterwards no other device has a copy.
  void* write() {
    if (copies_) [[unlikely]]
      drop_copies();
    return host_memory();
  }
  int64_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }
  /// The bytes [begin, end) were used by a streaming pass and are not needed soon: a mapped file gives their pages back, those at the
  /// borders too (they come back by themselves when touched). Never changes what the memory holds. Default: nothing.
  virtual void release(int64_t begin, int64_t end);
  /// The bytes [begin, end) will be read soon: a mapped file starts reading them from the disk. Default: nothing.
  virtual void expect(int64_t begin, int64_t end);
  /// True when the memory is backed by a file, so that a pass over it streams and it does not count towards the memory budget.
  virtual bool is_mapped() const { return false; }
  /// Before and after a use of the contents: OSError when a mapped file was made shorter, so that part of them is not there. Default:
  /// nothing.
  virtual void check() const {}
  /// True when others than the engine see this memory or write to it: what devices computed is brought home, and their copies are dropped,
  /// before a call of the engine returns.
  virtual bool is_shared() const { return false; }

  // For who keeps the copies.
  RemoteCopies* copies() const { return copies_.get(); }
  void keep_copies(std::unique_ptr<RemoteCopies> copies) { copies_ = std::move(copies); }
  /// The host's bytes, valid or not; allocated now where they were not needed before.
  void* host_memory() const {
    if (void* const data = data_.load(std::memory_order_acquire)) [[likely]]
      return data;
    provide();
    return data_.load(std::memory_order_acquire);
  }
  bool has_host_memory() const { return data_.load(std::memory_order_acquire); }
  /// Contents that nobody wanted yet (deferred()).
  bool is_waiting() const { return !data_.load(std::memory_order_acquire) && !copies_ && bytes_ > 0 && !made(); }
  /// They will be wanted at once, together with others' that are announced now.
  virtual void announce() const {}
  /// Makes contents that nobody wanted yet.
  virtual void make() const {}
  /// Of contents that nobody wanted yet: memory that holds the bytes [begin, end) of them alone, where those cost less than all. Null: all
  /// shall be made.
  virtual HostStorageRef part(int64_t /*begin*/, int64_t /*end*/) const { return nullptr; }
  /// Of deferred() memory whose contents were made: what holds them, on whatever device. Who writes them does so there.
  virtual HostStorageRef made() const { return nullptr; }

 protected:
  /// Sets data_ of a storage that had none; calls may come from several threads. Throws MemoryError, or what making the contents throws.
  virtual void provide() const {}

  /// Null only where there are copies, no bytes, or contents that nobody wanted yet. provide() sets it while other threads read it, and
  /// they then read what it points to: a release of what was written there before, for their acquire.
  mutable std::atomic<void*> data_{nullptr};
  int64_t bytes_ = 0;
  bool writable_ = true;

 private:
  void drop_copies();
  std::unique_ptr<RemoteCopies> copies_;
};

/// What a device may hold. Thread-safe; storages give their bytes back when they die. Freed blocks of 64 KiB and more wait in a pool for
/// the next allocation of about their size, so that a loop does not pay page faults each time; live and waiting blocks together stay below
/// the limit, and waiting ones give way. What exceeds the limit is memory on disk, where there is a place for it; then blocks of 4 MiB and
/// more leave the last eighth of the limit to smaller ones.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit, SpillPlace place = {});
  int64_t limit() const;
  int64_t used() const;
  int64_t peak() const;
  /// Bytes of freed blocks that wait for reuse; not part of used().
  int64_t pooled() const;
  /// Bytes on disk now.
  int64_t spilled() const;
  /// Throws Error("MemoryError", "Unable to allocate 7.45 GiB", hint "1.20 GiB of the memory budget of 8.00 GiB are in use …"): who knows
  /// the array appends " for an array with shape (1000000000,) and data type float64".
  void take(int64_t bytes);
  void give(int64_t bytes) noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
  friend HostStorageRef allocate(MemoryBudget& budget, int64_t bytes, bool zeroed);
  friend HostStorageRef allocate_later(MemoryBudget& budget, int64_t bytes);
};

/// 64-byte aligned heap memory (huge pages where large; lazily zeroed pages when `zeroed`) that counts towards the budget; or memory on
/// disk where the budget is used up. Throws as take() does when there is no place on disk, or no room.
HostStorageRef allocate(MemoryBudget& budget, int64_t bytes, bool zeroed = false);
/// The same, but the memory is taken when somebody wants it: for what another device computes. The caller keeps its copies at once.
HostStorageRef allocate_later(MemoryBudget& budget, int64_t bytes);
/// Contents that `make` computes when somebody first reads them; it runs once, unless it throws. `announce` is called before where several
/// are read together, so that what makes them (a pass over a file) can make them at once. `part` gives HostStorage::part() and is asked from
/// one thread at a time.
HostStorageRef deferred(int64_t bytes, std::function<HostStorageRef()> make, std::function<void()> announce = {},
                        std::function<HostStorageRef(int64_t begin, int64_t end)> part = {});
/// Makes what is waiting among these, and puts what holds the contents in the place of deferred() memory.
void make_ready(std::vector<StorageRef>& storages);
/// A file's bytes from `offset`, mapped read-only. Throws Error: FileNotFoundError, PermissionError, IsADirectoryError, OSError; ValueError
/// when the file is shorter than offset + bytes. A file that is made shorter later is found by check().
HostStorageRef map_file(const std::filesystem::path& path, int64_t offset, int64_t bytes);
/// The same of an open descriptor, which stays the caller's; `shown` names the file in errors. `writable`: writes reach the file
/// (MAP_SHARED); its space must have been reserved (posix_fallocate), since a full disk shows as a bus error otherwise.
HostStorageRef map_descriptor(int descriptor, const std::filesystem::path& shown, int64_t offset, int64_t bytes, bool writable = false);
/// Memory of the embedding program; `release` runs when the last array over it is gone.
HostStorageRef external(void* data, int64_t bytes, bool writable, std::function<void()> release = {});

/// "7.45 GiB": a number of bytes with three digits, as NumPy writes it in its MemoryError.
std::string memory_text(int64_t bytes);

}  // namespace gasell
