// The memory budget: blocks that count towards it, those that wait for reuse, and those on disk, whose pages are given back.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/device/pages.h"
#include "runtime/device/sandbox.h"
#include "runtime/device/storage.h"

namespace gasell {
namespace {

constexpr int64_t kPoolFrom = 64 << 10;  // smaller blocks are malloc's business
constexpr int64_t kMapFrom = 4 << 20;    // larger ones are mapped, in huge pages
constexpr int64_t kHugePage = 2 << 20;
constexpr size_t kPoolBlocks = 64;
constexpr int64_t kMostOnDisk = int64_t{1} << 60;
constexpr int64_t kLeftToSmallOnes = 8;  // this part of a budget that spills
constexpr std::chrono::milliseconds kKeeperPause{20};
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPooling = false;  // so that each allocation's use after free shows
#else
constexpr bool kPooling = true;
#endif

/// Memory without an owner.
struct Block {
  void* data = nullptr;
  int64_t capacity = 0;
  bool on_disk = false;
};

/// Pages of zeros, beginning at a huge page's border; null when the system has none left.
void* map_zero_pages(int64_t bytes) {
  void* const raw = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<int64_t>(raw);
  const int64_t first = round_up(address, kHugePage);
  if (first > address) munmap(raw, first - address);
  if (const int64_t rest = address + kHugePage - first) munmap(reinterpret_cast<void*>(first + bytes), rest);
  madvise(reinterpret_cast<void*>(first), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(first);
}

/// Bytes of files that this process has in memory now: of mapped ones and of its program.
int64_t resident_file_bytes() {
  std::ifstream facts("/proc/self/statm");
  int64_t all = 0, resident = 0, of_files = 0;
  facts >> all >> resident >> of_files;
  return of_files * page_size();
}

void free_block(const Block& block) {
  if (block.on_disk || block.capacity >= kMapFrom)
    munmap(block.data, block.capacity);
  else
    std::free(block.data);
}

int64_t capacity_for(int64_t bytes) {
  return bytes >= kPoolFrom ? round_up(bytes, page_size()) : round_up(std::max<int64_t>(bytes, 1), kAlignment);
}

/// What a budget and the storages under it share.
struct Ledger {
  Ledger(int64_t limit, SpillPlace place) : limit(limit), place(std::move(place)) {}
  ~Ledger() {
    if (keeper.joinable()) {
      {
        const std::lock_guard lock(mutex);
        closing = true;
      }
      wake.notify_one();
      keeper.join();
    }
    for (const Block& block : pool) free_block(block);
  }

  const int64_t limit;
  const SpillPlace place;
  std::mutex mutex;
  std::mutex providing;  // one storage at a time takes the memory that it put off
  int64_t used = 0, peak = 0, pooled = 0, spilled = 0;
  std::vector<Block> pool;     // oldest first
  std::vector<Block> on_disk;  // in use
  std::thread keeper;          // gives the pages of `on_disk` back
  std::condition_variable wake;
  bool closing = false;

  /// Counts `bytes` as used; evicts waiting blocks for room.
  void take(int64_t bytes) {
    if (try_take(bytes, limit)) return;
    const std::lock_guard lock(mutex);
    throw refusal(bytes, "");
  }
  /// The same where no more than `most` are used then.
  bool try_take(int64_t bytes, int64_t most) {
    std::vector<Block> evicted;
    {
      const std::lock_guard lock(mutex);
      if (bytes > most - used) return false;
      used += bytes;
      peak = std::max(peak, used);
      evict_until(limit - used, kPoolBlocks, evicted);
    }
    for (const Block& block : evicted) free_block(block);
    return true;
  }

  /// Bytes that a block of this capacity may fill the budget up to.
  int64_t limit_for(int64_t capacity) const {
    return place.directory.empty() || capacity < kMapFrom ? limit : limit - limit / kLeftToSmallOnes;
  }

  /// Memory on disk, of zeros. Throws MemoryError where that is not to be had.
  Block spill(int64_t bytes) {
    int64_t capacity = 0;
    {
      const std::lock_guard lock(mutex);
      if (place.directory.empty()) throw refusal(bytes, "");
      if (bytes > kMostOnDisk) throw refusal(bytes, "the disk has no room for it");
      capacity = round_up(std::max<int64_t>(bytes, 1), page_size());
      if (capacity > place.most - spilled)
        throw refusal(bytes, fmt::format("{} of the {} of GASELL_SPILL are on disk", memory_text(spilled), memory_text(place.most)));
      spilled += capacity;
    }
    std::string why;
    void* const memory = map_temporary_file(place.directory, capacity, why);
    const std::lock_guard lock(mutex);
    if (memory) {
      on_disk.push_back({memory, capacity, true});
      if (!keeper.joinable()) start_keeper();
      wake.notify_one();
      return on_disk.back();
    }
    spilled -= capacity;
    throw refusal(bytes, why);
  }

  void give(int64_t bytes) noexcept {
    const std::lock_guard lock(mutex);
    used -= bytes;
  }

  /// A waiting block of at least `capacity` and at most an eighth more, counted as used; or none.
  Block reuse(int64_t capacity) {
    const std::lock_guard lock(mutex);
    for (auto block = pool.rbegin(); block != pool.rend(); ++block) {
      // Blocks are freed by their capacity, so a reused one must be of the same making.
      const bool same_making = (block->capacity >= kMapFrom) == (capacity >= kMapFrom);
      if (!same_making || block->capacity < capacity || block->capacity - capacity > capacity / 8 ||
          block->capacity > limit_for(capacity) - used)
        continue;
      const Block found = *block;
      pool.erase(std::next(block).base());
      pooled -= found.capacity;
      used += found.capacity;
      peak = std::max(peak, used);
      return found;
    }
    return {};
  }

  void retire(const Block& block) noexcept {
    std::vector<Block> evicted;
    {
      const std::lock_guard lock(mutex);
      (block.on_disk ? spilled : used) -= block.capacity;
      if (block.on_disk) std::erase_if(on_disk, [&](const Block& b) { return b.data == block.data; });
      if (kPooling && !block.on_disk && block.capacity >= kPoolFrom && block.capacity <= limit / 4) {
        evict_until(std::min(limit / 4, limit - used) - block.capacity, kPoolBlocks - 1, evicted);
        pool.push_back(block);
        pooled += block.capacity;
      } else {
        evicted.push_back(block);
      }
    }
    for (const Block& old : evicted) free_block(old);
  }

  /// `disk`: why the disk does not take it; empty where it was not asked.
  Error refusal(int64_t bytes, const std::string& disk) const {
    const std::string in_use = fmt::format("{} of the memory budget of {} are in use", memory_text(used), memory_text(limit));
    return Error("MemoryError", fmt::format("Unable to allocate {}", memory_text(bytes)),
                 disk.empty() ? in_use + "; --memory sets the budget"
                              : in_use + ", and " + disk + "; --memory sets the budget, GASELL_TMPDIR the place on disk",
                 Blame::environment);
  }

 private:
  /// Begins to watch how much of what is on disk is in memory, which nobody counts as it is read and written: what the budget has left, and
  /// the part that large blocks leave, is not exceeded for long.
  void start_keeper();
  void evict_until(int64_t most_bytes, size_t most_blocks, std::vector<Block>& evicted) {
    size_t count = 0;
    while (count < pool.size() && (pooled > most_bytes || pool.size() - count > most_blocks)) {
      pooled -= pool[count].capacity;
      evicted.push_back(pool[count++]);
    }
    pool.erase(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(count));
  }
};

void Ledger::start_keeper() {
  // Signals are other threads' business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  keeper = std::thread([this] {
    int64_t others = 0;  // the program's pages and those of files that are read
    std::unique_lock lock(mutex);
    while (!closing) {
      if (on_disk.empty()) {
        wake.wait(lock);
        continue;
      }
      wake.wait_for(lock, kKeeperPause);
      const int64_t resident = resident_file_bytes();
      others = std::min(others, resident);
      if (resident - others <= std::max(limit - used, limit / kLeftToSmallOnes)) continue;
      // A page that is in use now comes back from the system's cache.
      for (const Block& block : on_disk) madvise(block.data, static_cast<size_t>(block.capacity), MADV_DONTNEED);
      others = resident_file_bytes();
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// A block for `bytes`, counted as used; on disk where the budget does not hold it. `zeroed`: pages that are fresh are zero already.
Block obtain(Ledger& ledger, int64_t bytes, bool zeroed) {
  if (bytes > ledger.limit) return ledger.spill(bytes);
  const int64_t capacity = capacity_for(bytes);
  const bool fresh_zeros = zeroed && capacity >= kMapFrom;
  Block block = capacity >= kPoolFrom && !fresh_zeros ? ledger.reuse(capacity) : Block{};
  if (!block.data) {
    if (!ledger.try_take(capacity, ledger.limit_for(capacity))) return ledger.spill(bytes);
    block = {capacity >= kMapFrom ? map_zero_pages(capacity) : std::aligned_alloc(kAlignment, capacity), capacity};
    if (!block.data) {
      ledger.give(capacity);
      if (!ledger.place.directory.empty()) return ledger.spill(bytes);
      throw Error("MemoryError", fmt::format("Unable to allocate {}", memory_text(bytes)), "the system has no memory left",
                  Blame::environment);
    }
  }
  if (zeroed && !fresh_zeros) std::memset(block.data, 0, bytes);
  return block;
}

/// Memory under a budget, taken at once or when it is wanted.
class BudgetedStorage final : public HostStorage {
 public:
  BudgetedStorage(int64_t bytes, std::shared_ptr<Ledger> ledger) : ledger_(std::move(ledger)), account_(current_sandbox()) {
    if (account_) account_->take(bytes);
    bytes_ = bytes;
  }
  ~BudgetedStorage() override {
    if (block_.data) ledger_->retire(block_);
    if (account_) account_->give(bytes_);
  }
  /// Takes the memory at once.
  void fill(bool zeroed) {
    block_ = obtain(*ledger_, bytes_, zeroed);
    data_.store(block_.data, std::memory_order_relaxed);
  }
  bool is_mapped() const override { return has_host_memory() && block_.on_disk; }
  // Pages that are dropped are read again from the file.
  void release(int64_t begin, int64_t end) override { advise(begin, end, MADV_DONTNEED); }
  void expect(int64_t begin, int64_t end) override { advise(begin, end, MADV_WILLNEED); }

 private:
  void provide() const override {
    const std::lock_guard lock(ledger_->providing);
    if (has_host_memory()) return;
    block_ = obtain(*ledger_, bytes_, false);
    data_.store(block_.data, std::memory_order_release);
  }
  void advise(int64_t begin, int64_t end, int advice) const {
    if (is_mapped()) advise_pages(block_.data, block_.capacity, begin, std::min(end, bytes_), advice);
  }

  mutable Block block_;
  std::shared_ptr<Ledger> ledger_;
  const std::shared_ptr<Sandbox> account_;  // of the session that it was allocated for
};

}  // namespace

struct MemoryBudget::State : Ledger {
  using Ledger::Ledger;
};

MemoryBudget::MemoryBudget(int64_t limit, SpillPlace place) : state_(std::make_shared<State>(limit, std::move(place))) {}
int64_t MemoryBudget::limit() const { return state_->limit; }
int64_t MemoryBudget::used() const {
  const std::lock_guard lock(state_->mutex);
  return state_->used;
}
int64_t MemoryBudget::peak() const {
  const std::lock_guard lock(state_->mutex);
  return state_->peak;
}
int64_t MemoryBudget::pooled() const {
  const std::lock_guard lock(state_->mutex);
  return state_->pooled;
}
int64_t MemoryBudget::spilled() const {
  const std::lock_guard lock(state_->mutex);
  return state_->spilled;
}
void MemoryBudget::take(int64_t bytes) { state_->take(bytes); }
void MemoryBudget::give(int64_t bytes) noexcept { state_->give(bytes); }

HostStorageRef allocate(MemoryBudget& budget, int64_t bytes, bool zeroed) {
  const auto storage = std::make_shared<BudgetedStorage>(bytes, budget.state_);
  storage->fill(zeroed);
  return storage;
}

HostStorageRef allocate_later(MemoryBudget& budget, int64_t bytes) { return std::make_shared<BudgetedStorage>(bytes, budget.state_); }

}  // namespace gasell
