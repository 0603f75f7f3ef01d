// Host memory that the driver has pinned, so that copies run at the link's speed and beside other work. Pinning costs about as much as a
// copy of the memory: blocks that are not used wait for the next one who needs their size.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/gpu/cuda/context.h"

namespace gasell::cuda {

class PinnedMemory : public std::enable_shared_from_this<PinnedMemory> {
 public:
  /// `keep`: bytes of unused blocks that may wait.
  PinnedMemory(ContextRef context, int64_t keep) : context_(std::move(context)), keep_(keep) {}
  ~PinnedMemory();

  /// At least `bytes`, aligned to a page; null when there is none to have. Its owner must not drop it while a copy uses it.
  std::shared_ptr<void> take(int64_t bytes);
  /// Frees what waits; from now on nothing waits any more.
  void close() noexcept;

 private:
  void give_back(void* block, int64_t bytes) noexcept;
  void* pin(int64_t bytes) noexcept;
  void unpin(void* block) noexcept;
  /// Frees waiting blocks until at most `most` bytes wait.
  void shrink(int64_t most) noexcept;

  ContextRef context_;
  std::mutex mutex_;
  int64_t keep_;
  int64_t waiting_bytes_ = 0;
  std::multimap<int64_t, void*> waiting_;  // by size
};

/// Whether all of it is pinned memory of some PinnedMemory: every GPU of the process copies from and to it directly.
bool is_pinned(const void* memory, int64_t bytes);

}  // namespace gasell::cuda
