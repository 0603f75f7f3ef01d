// Finds what the threads of a block do to one element without an order between them (kernels of threads, ir::Kernel::simt).
//
// Two uses of one element, one of them a store, race unless one thread does both, both are atomic, or there is between them a barrier of
// the block, or of the warp that both threads are of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gasell {

class ThreadRaces {
 public:
  struct Use {
    int32_t thread = -1;  // in the block; -1: none
    int64_t site = 0;
    bool writes = false, atomic = false;
    uint32_t epoch = 0, warp_epoch = 0;  // barriers before it
  };

  /// New blocks, of so many threads each.
  void begin(int blocks, int threads);
  void block_barrier(int block) { ++blocks_[static_cast<size_t>(block)].epoch; }
  void warp_barrier(int block, int warp) { ++blocks_[static_cast<size_t>(block)].warp_epochs[static_cast<size_t>(warp)]; }
  /// A thread uses the element at an address; true: it races with `before`.
  bool access(int block, const void* address, Use now, Use& before);

 private:
  /// Of the loads since the last store two by different threads are enough: one of them is not the thread that stores.
  struct Element {
    Use store, load, other_load;
  };
  struct Block {
    uint32_t epoch = 0;
    std::vector<uint32_t> warp_epochs;
    std::unordered_map<const void*, Element> elements;
  };
  std::vector<Block> blocks_;
};

}  // namespace gasell
