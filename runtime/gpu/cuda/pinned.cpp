#include "runtime/gpu/cuda/pinned.h"

#include <shared_mutex>

namespace gasell::cuda {
namespace {

/// The pinned blocks of the process: begin and end.
struct Blocks {
  std::shared_mutex mutex;
  std::map<uintptr_t, uintptr_t> ends;
};
Blocks& blocks() {
  static Blocks* const all = new Blocks;  // blocks may be given back while the process ends
  return *all;
}

/// Few sizes, so that blocks fit again: powers of two up to 1 MiB, then steps of an eighth.
int64_t rounded(int64_t bytes) {
  int64_t step = 4096;
  if (bytes <= step) return step;
  if (bytes <= 1 << 20) {
    while (step < bytes) step *= 2;
    return step;
  }
  while (step * 16 <= bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

}  // namespace

PinnedMemory::~PinnedMemory() { close(); }

std::shared_ptr<void> PinnedMemory::take(int64_t bytes) {
  const int64_t size = rounded(bytes);
  void* block = nullptr;
  int64_t block_size = size;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = waiting_.lower_bound(size); found != waiting_.end() && found->first <= size + size / 2) {
      block = found->second;
      block_size = found->first;
      waiting_bytes_ -= block_size;
      waiting_.erase(found);
    }
  }
  if (!block) block = pin(size);
  if (!block) {
    shrink(0);
    block = pin(size);
  }
  if (!block) return nullptr;
  return {block, [self = shared_from_this(), block_size](void* p) { self->give_back(p, block_size); }};
}

void PinnedMemory::give_back(void* block, int64_t bytes) noexcept {
  int64_t keep = 0;
  {
    const std::lock_guard lock(mutex_);
    keep = keep_;
    bool kept = bytes <= keep && !context_->lost();
    try {
      if (kept) waiting_.emplace(bytes, block);
    } catch (const std::bad_alloc&) {
      kept = false;
    }
    if (kept) {
      waiting_bytes_ += bytes;
      block = nullptr;
    }
  }
  if (block) return unpin(block);
  shrink(keep);
}

void PinnedMemory::shrink(int64_t most) noexcept {
  for (;;) {
    void* block = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_bytes_ <= most || waiting_.empty()) return;
      const auto largest = std::prev(waiting_.end());
      block = largest->second;
      waiting_bytes_ -= largest->first;
      waiting_.erase(largest);
    }
    unpin(block);
  }
}

void PinnedMemory::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    keep_ = 0;
  }
  shrink(0);
}

void* PinnedMemory::pin(int64_t bytes) noexcept {
  const Current current(*context_, std::nothrow);
  void* block = nullptr;
  if (!current.entered() || context_->driver().host_alloc(&block, static_cast<size_t>(bytes), kHostPortable) != Result::success)
    return nullptr;
  try {
    const std::lock_guard lock(blocks().mutex);
    const auto begin = reinterpret_cast<uintptr_t>(block);
    blocks().ends[begin] = begin + static_cast<uintptr_t>(bytes);
  } catch (const std::bad_alloc&) {
    context_->driver().host_free(block);
    return nullptr;
  }
  return block;
}

void PinnedMemory::unpin(void* block) noexcept {
  {
    const std::lock_guard lock(blocks().mutex);
    blocks().ends.erase(reinterpret_cast<uintptr_t>(block));
  }
  // On a lost GPU the memory stays until the context ends.
  if (const Current current(*context_, std::nothrow); current.entered()) context_->driver().host_free(block);
}

bool is_pinned(const void* memory, int64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const std::shared_lock lock(blocks().mutex);
  const auto after = blocks().ends.upper_bound(begin);
  return after != blocks().ends.begin() && begin + static_cast<uintptr_t>(bytes) <= std::prev(after)->second;
}

}  // namespace gasell::cuda
