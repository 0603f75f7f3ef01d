// One launch, on its way to one or several GPUs.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device/handout.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/gpu/gpu_memory.h"
#include "runtime/gpu/shares.h"

namespace gasell {

/// What load() gives: the kernel on each GPU that has run it, and on the host where that was needed.
struct GpuLoadedKernel final : LoadedKernel {
  mutable std::vector<LoadedKernelRef> on;
  mutable LoadedKernelRef on_host;
  bool for_gpus = true;  // false: a GPU cannot run it
};

class LaunchOnGpus {
 public:
  LaunchOnGpus(GpuDevice& device, const Launch& launch, const GpuLoadedKernel& loaded, Progress& progress);
  /// Throws GpuLost, Interrupted, and MemoryError when not even a part of the arrays finds room.
  void run();

 private:
  /// Some units on one GPU.
  struct Part {
    int gpu;
    UnitRange units;
    bool streams = false;
    std::vector<GpuArray> arrays;
    std::vector<Transfer> transfers;
    size_t share = 0;   // its place in shares_
    UnitRange early{};  // that need not wait for what is copied now
  };

  HostStorage& storage(size_t k) const { return static_cast<HostStorage&>(*launch_.storages[k]); }
  bool moves(size_t k) const { return launch_.walks && (*launch_.walks)[k].step > 0; }
  bool dense(size_t k) const { return launch_.walks && (*launch_.walks)[k].dense; }
  /// Units far from each other write to ranges that do not meet, so that several GPUs can, each its own.
  bool apart(size_t k) const { return moves(k) && (*launch_.walks)[k].before == 0 && (*launch_.walks)[k].after == 0; }
  /// The bytes of array k that these units use.
  /// An input's part begins and ends at multiples of kWhole: its step can be a fraction of its element, and a GPU reads whole elements at
  /// addresses of their size.
  ByteRange range(size_t k, UnitRange units) const;
  static constexpr int64_t kWhole = 64;
  bool can_stream(size_t k) const { return moves(k) && (!written_[k] || dense(k)); }
  int64_t blocks() const { return (launch_.units + launch_.together - 1) / launch_.together; }

  /// Whether what these units use and GPU g has not could be there at once.
  bool fits(int g, UnitRange units) const;
  std::vector<Part> place() const;
  bool can_split(int gpus, const Part& on_one) const;
  /// Whether much of what a part reads is on other GPUs.
  bool is_spread(const Part& part) const;
  std::vector<Part> split(const std::vector<int>& gpus) const;
  /// What running these parts takes, as far as their places make a difference.
  double seconds(const std::vector<Part>& parts) const;

  void run_parts(std::vector<Part> parts);
  /// Its arrays on its GPU; where there is no room, on the host, for streaming.
  void bind(Part& part);
  void bind_on_host(Part& part);
  /// The arrays that these units use, bound on GPU g. Throws MemoryError; what was bound before that has what it waits for.
  /// `filled`: per array, the bytes that were not there.
  void bind_arrays(int g, UnitRange units, std::vector<GpuArray>& arrays, std::vector<Transfer>& transfers,
                   std::vector<std::vector<ByteRange>>* filled = nullptr);
  /// The units of a part that use nothing of what is being filled; all but the first and the last where that is enough, else none.
  UnitRange early_units(UnitRange units, const std::vector<std::vector<ByteRange>>& filled) const;
  /// Pieces that a part goes in, where its time is long enough to see progress, or for others to help.
  int64_t pieces(const Part& part, size_t parts) const;
  void execute(Part& part);
  /// Units of a part, with what others left of theirs when it is done.
  void execute_pieces(Part& part);
  void run_piece(const Part& part, const std::vector<GpuArray>& arrays, UnitRange units);
  /// Units of another part on this one's GPU; false where there is no room for them.
  bool run_stolen(const Part& part, UnitRange units);
  /// Seconds to bring to GPU g what units of another part need there, and to bring back what they make; that one is busy for the seconds
  /// `under_way`.
  double moving(int g, UnitRange units, double under_way) const;
  void launch(int g, const std::vector<GpuArray>& arrays, UnitRange units);
  void give(int g, const std::vector<Transfer>& transfers);
  void mark_written(int g, UnitRange units);

  void stream(Part& part);
  class Pipeline;

  GpuDevice& device_;
  GpuMemory& memory_;
  const Launch& launch_;
  const GpuLoadedKernel& loaded_;
  Progress& progress_;
  std::vector<char> written_;  // per array

  // Of a launch that goes in pieces:
  const std::vector<Part>* parts_ = nullptr;
  std::unique_ptr<Shares> shares_;
  int64_t piece_blocks_ = 0;
  std::mutex mutex_;
  std::vector<Shares::Loot> returned_;  // what was taken and found no room
};

}  // namespace gasell
