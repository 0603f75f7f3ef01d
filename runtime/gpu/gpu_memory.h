// Where the bytes of storages are: on which GPUs, on the host, and which of these copies are valid.
//
// A storage's copy on a GPU is a set of pieces: allocations for a range of its bytes, each with the part of them that is valid. Whole
// arrays have one piece; arrays that a launch split over several GPUs have a piece on each. After a launch has written a range, it is valid
// there and nowhere else; bytes that are copied are valid in both places; fresh memory is valid nowhere, and needs no copy.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "runtime/device/storage.h"
#include "runtime/gpu/gpu.h"
#include "runtime/gpu/intervals.h"

namespace gasell {

class GpuCopies;

/// A copy that a bound piece still waits for, from the host or (`from_host` null) from elsewhere on its GPU; whoever bound the piece gives
/// it to the copy_in stream, in order.
struct Transfer {
  GpuAddress to;
  const char* from_host;
  GpuAddress from;
  int64_t bytes;
};

/// What GPUs were given so far, for --profile and for tests that must see the way something took.
struct GpuCounts {
  std::atomic<int64_t> launches{0};  // given to a GPU, each range of units one
  std::atomic<int64_t> split{0};     // kernels that went to several GPUs
  std::atomic<int64_t> stolen{0};    // pieces of a split kernel that went to another GPU than planned
  std::atomic<int64_t> streamed{0};  // chunks of arrays that passed through a GPU's memory
  std::atomic<int64_t> on_host{0};   // kernels that the GPUs could not run
  std::atomic<int64_t> evicted{0};   // pieces that had to go
  std::atomic<int64_t> bytes_in{0}, bytes_out{0}, bytes_between{0};
};

/// The GPUs of an engine and what they hold. Storages that have copies keep it alive. Thread-safe.
class GpuMemory : public std::enable_shared_from_this<GpuMemory> {
 public:
  /// `interrupt`: somebody wants what runs to end; looked at until ignore_interrupts().
  GpuMemory(std::vector<std::unique_ptr<Gpu>> gpus, const std::atomic<bool>& interrupt);
  void watch(const std::atomic<bool>& interrupt) { interrupt_ = &interrupt; }
  void ignore_interrupts() { interrupt_ = nullptr; }

  int count() const { return static_cast<int>(gpus_.size()); }
  Gpu& gpu(int g) { return *gpus_[static_cast<size_t>(g)]; }
  bool alive(int g) const { return !lost_[static_cast<size_t>(g)]; }
  bool any_alive() const { return lost_count() < count(); }
  int lost_count() const;
  GpuCounts& counts() { return counts_; }

  /// Until a stream of GPU g has done what it was given, in about `expected` seconds where that is known. Throws Interrupted, GpuLost.
  void wait(int g, GpuStream stream, double expected = 0);
  /// Asks kernels to end and waits for all streams; buries the GPUs that are lost.
  void stop();
  /// How often that was; kernels that were running have noted it where they note errors.
  int64_t stops() const { return stops_; }

  /// Memory on the host, to come when it is read there, for what the GPUs compute.
  HostStorageRef allocate(MemoryBudget& host, int64_t bytes);

  /// The storage's bytes are at this address of GPU g, in memory of another library's.
  void adopt(int g, HostStorage& storage, GpuAddress address);
  /// What keeps the allocation on GPU g that has the storage's bytes from this address on; null: it is another library's.
  std::shared_ptr<const void> holder(int g, const HostStorage& storage, GpuAddress address);

  /// What is bound from now on stays on its GPU until the next call.
  void begin_use();
  /// All transfers that were wanted on GPU g are given.
  void given(int g);
  /// Transfers that were wanted since then may not have been given: what they would have brought is not there.
  void drop_awaited();
  /// What is bound on GPU g may go.
  void end_use(int g);
  /// The bytes `range` of the storage on GPU g in one piece; with `fill`, valid as far as they are valid anywhere. `transfers` gets the
  /// copies that the piece waits for. Throws MemoryError when there is no room even without all that is not in use, RuntimeError when the
  /// bytes are lost.
  /// `filled` gets the bytes that were not there, of which some may be under way now.
  GpuArray bind(int g, HostStorage& storage, ByteRange range, bool fill, std::vector<Transfer>& transfers,
                std::vector<ByteRange>* filled = nullptr);
  /// A launch on GPU g was given that writes the bytes of a range bound there: other copies are stale.
  void written(int g, HostStorage& storage, ByteRange range);
  /// The same by somebody who writes the host's bytes beside the storage's write().
  void written_on_host(HostStorage& storage, ByteRange range);
  /// What was written there is not computed again: the host's bytes as they were before do not count when the writer is lost.
  void written_for_good(HostStorage& storage, ByteRange range);
  /// Starts to bring home what the host has not of a storage; commit() says that it has come. The GPUs whose copy_out
  /// streams bring it.
  std::vector<int> send_home(HostStorage& storage);
  /// All that was given so far is done. Until then the host's bytes as they were before count as valid again when the writer is lost.
  void commit();

  /// Bytes of the range that are valid on GPU g.
  int64_t valid_bytes(int g, const HostStorage& storage, ByteRange range);
  /// Bytes of the range that some GPU has and the host has not.
  int64_t away_from_host(const HostStorage& storage, ByteRange range);
  /// Whether bind() would allocate nothing and copy nothing.
  bool is_there(int g, const HostStorage& storage, ByteRange range);
  /// An allocation that belongs to no storage; makes room as binding does.
  GpuAddress allocate_buffer(int g, int64_t bytes);
  void free_buffer(int g, GpuAddress address) noexcept { gpu(g).free(address); }
  /// Brings home what is not in use and gives its memory back.
  void evict_all(int g);

  /// GPU g is lost, with what only it held. Says so (log_warning).
  void bury(int g, const std::string& because);
  /// Waits for all GPUs and buries those that are lost.
  void bury_lost();

 private:
  friend class GpuCopies;
  struct Victim;

  GpuCopies& copies_of(HostStorage& storage);
  GpuAddress allocate_locked(int g, int64_t bytes);
  bool evict_one(int g);

  std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<char> lost_;
  std::unordered_set<GpuCopies*> all_;
  std::unordered_set<GpuCopies*> uncommitted_;  // with writes or copies under way
  GpuCounts counts_;
  uint64_t use_ = 1;
  int64_t stops_ = 0;
  const std::atomic<bool>* interrupt_;
};

}  // namespace gasell
