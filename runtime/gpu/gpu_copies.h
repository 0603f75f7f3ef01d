// The copies of one storage; GpuMemory moves the bytes.
#pragma once

#include <list>
#include <optional>
#include <vector>

#include "runtime/gpu/gpu_memory.h"

namespace gasell {

/// An allocation for some bytes of a storage.
struct Piece {
  ByteRange range;
  GpuAddress address;  // of range.begin
  /// The allocation, which is freed with its last holder: others may have it too (GpuDevice::lend). Null: it is another library's.
  std::shared_ptr<const void> block;
  Intervals valid;
  uint64_t used = 0;      // GpuMemory's count of uses when it was bound last
  uint64_t awaiting = 0;  // and when there were transfers for it, of these bytes: until they are given, only its own GPU may count on them
  Intervals awaited;
  uint64_t received = 0;  // when it was copied to last, in that count; the largest: no kernel may have come behind

  /// Whether giving it up makes room.
  bool takes_room() const { return block.use_count() == 1; }
  void await(ByteRange part, uint64_t use) {
    if (awaiting != use) awaited.clear();
    awaiting = received = use;
    awaited.add(part);
  }
  /// What of `gap` another GPU can have from it now.
  std::vector<ByteRange> ready(ByteRange gap, uint64_t use) const {
    if (awaiting != use) return valid.within(gap);
    Intervals there = valid;
    for (const ByteRange& part : awaited.ranges()) there.remove(part);
    return there.within(gap);
  }
  GpuAddress at(int64_t byte) const { return address + static_cast<GpuAddress>(byte - range.begin); }
};

class GpuCopies final : public RemoteCopies {
 public:
  /// `on_host`: the host's bytes are valid.
  GpuCopies(std::shared_ptr<GpuMemory> memory, HostStorage& storage, bool on_host);
  ~GpuCopies() override;
  void bring_home(const HostStorage& storage, int64_t begin, int64_t end) override;

  // All below with the memory's mutex held.
  HostStorage& storage() const { return storage_; }
  std::list<Piece>& pieces(int g) { return pieces_[static_cast<size_t>(g)]; }
  const Intervals& on_host() const { return host_; }
  Intervals& on_host() { return host_; }

  /// A piece on GPU g for all of `range`, found or made; null when none is found and `make` is false.
  Piece* piece(int g, ByteRange range, bool make);
  /// Makes the piece's bytes `range` valid where any copy is.
  void fill(int g, Piece& piece, ByteRange range, std::vector<Transfer>& transfers);
  /// `range` was written in the copy `keeper` (null: on the host); all others are stale there.
  void written(ByteRange range, const Piece* keeper);
  void free(int g, Piece& piece) noexcept;
  /// All bytes are at this address of GPU g, in another library's memory.
  void adopt(int g, GpuAddress address);
  /// Drops what GPU g holds, and notes what is lost with it.
  void bury(int g, const std::string& name);
  /// Throws when bytes of the range were lost.
  void require_kept(ByteRange range) const;
  /// Bytes of the piece that no other place has.
  std::vector<ByteRange> only_in(int g, const Piece& piece) const;
  void bring_home_locked(ByteRange range);
  /// Starts the copies of what the host has not; from which GPUs.
  std::vector<int> send_home();
  /// What was started and written is done.
  void commit();
  /// The host's bytes in the range as they were before writes that are not committed do not count any more.
  void forget_before(ByteRange range) {
    if (before_) before_->remove(range);
  }

 private:
  void copy_home(int g, const Piece& piece, ByteRange part, GpuStream stream);

  std::shared_ptr<GpuMemory> memory_;
  HostStorage& storage_;
  std::vector<std::list<Piece>> pieces_;  // per GPU; few each
  Intervals host_;
  Intervals sent_;                   // on its way to the host
  std::optional<Intervals> before_;  // what was valid on the host before the writes that are not committed
  Intervals gone_;                   // valid on a GPU that was lost, and nowhere else
  std::string gone_with_;
};

}  // namespace gasell
