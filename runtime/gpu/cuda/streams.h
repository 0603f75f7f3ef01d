// A GPU's three streams and the order between them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/gpu/cuda/context.h"
#include "runtime/gpu/gpu.h"

namespace gasell::cuda {

inline constexpr GpuStream kAllStreams[kGpuStreams] = {GpuStream::compute, GpuStream::copy_in, GpuStream::copy_out};

class Streams {
 public:
  /// The context must be current.
  explicit Streams(ContextRef context);

  Stream operator[](GpuStream stream) const { return streams_[index(stream)].get(); }
  /// To be called after work was given to a stream, so that who has seen given() has its events before it.
  void gave(GpuStream stream) noexcept {
    worked_[index(stream)].fetch_add(1, std::memory_order_acq_rel);
    ordered(stream);
  }
  /// The same after it was given something to wait for, or a point in time to note.
  void ordered(GpuStream stream) noexcept { given_[index(stream)].fetch_add(1, std::memory_order_acq_rel); }
  uint64_t given(GpuStream stream) const noexcept { return given_[index(stream)].load(std::memory_order_acquire); }

  /// Whether a stream is known to have done what it was given: from found_done(), without asking the driver.
  bool is_done(GpuStream stream) const noexcept { return is_done(stream, given(stream)); }
  bool is_done(GpuStream stream, uint64_t given) const noexcept { return done_[index(stream)].load(std::memory_order_acquire) >= given; }
  /// The driver says that a stream has done what it was given when given() was this.
  void found_done(GpuStream stream, uint64_t given) noexcept {
    std::atomic<uint64_t>& done = done_[index(stream)];
    uint64_t before = done.load(std::memory_order_relaxed);
    while (before < given && !done.compare_exchange_weak(before, given, std::memory_order_acq_rel)) {
    }
  }

  /// What `stream` is given from now on happens after what `other`, too of this GPU, was given so far. The driver hears of it only where
  /// that does not follow from what is known: an order costs a kernel some microseconds before it starts.
  Result order(GpuStream stream, GpuStream other) noexcept;
  /// What `waiter`, a stream of this GPU or of another, is given from now on happens after what `other` was given so far.
  Result order(Stream waiter, GpuStream other) noexcept;
  /// The same, but behind its work so far only: not behind what its next work is to wait for, as far as that can be told apart.
  Result order_behind_work(Stream waiter, GpuStream other) noexcept;
  /// A stream of another GPU was given work that reads this one's memory. What the compute stream is given behind the next settle() comes
  /// after it; until then kernels may start that write elsewhere.
  void read_by(Streams& reader, GpuStream stream);
  Result settle() noexcept;

 private:
  static size_t index(GpuStream stream) { return static_cast<size_t>(stream); }

  ContextRef context_;
  std::array<OwnedStream, kGpuStreams> streams_;
  std::array<OwnedEvent, kGpuStreams> events_;       // the latest point of each stream that somebody waits for
  std::array<OwnedEvent, kGpuStreams> work_events_;  // behind the work of each stream when it was asked for last, which was
  std::array<uint64_t, kGpuStreams> work_asked_{};   // so much
  std::array<std::atomic<uint64_t>, kGpuStreams> given_{}, worked_{}, done_{};
  std::array<std::array<uint64_t, kGpuStreams>, kGpuStreams> ordered_behind_{};  // by stream: how much of each other one
  std::vector<std::pair<Streams*, GpuStream>> readers_;
  std::mutex mutex_;  // between recording an event and waiting for it
};

}  // namespace gasell::cuda
