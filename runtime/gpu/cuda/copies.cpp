#include "runtime/gpu/cuda/copies.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "runtime/device/workers.h"

namespace gasell::cuda {
namespace {

constexpr int64_t kSmall = 64 << 10;  // small copies have buffers of their own, so that many of them can be under way
constexpr int kSmallBuffers = 16;
constexpr int64_t kLeastPiece = 1 << 20;

}  // namespace

void copy_bytes(void* to, const void* from, int64_t bytes) {
  constexpr int64_t kStep = 512 << 10;
  if (bytes <= 0) return;  // the pointers may be null
  if (bytes < 2 * kStep) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  in_parallel((bytes + kStep - 1) / kStep, [&](int64_t step) {
    const int64_t begin = step * kStep, end = std::min(bytes, begin + kStep);
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, static_cast<size_t>(end - begin));
  });
}

StagingRing::~StagingRing() {
  const Current current(*context_, std::nothrow);
  if (!current.entered()) return;
  for (const Buffer& buffer : buffers_)
    if (buffer.under_way) context_->driver().event_synchronize(buffer.done.get());
}

StagingRing::Buffer* StagingRing::next(int64_t bytes) {
  Buffer& buffer = buffers_[position_];
  wait(buffer);
  if (buffer.capacity < bytes) {
    buffer.memory.reset();
    buffer.capacity = 0;
    buffer.memory = pinned_.take(bytes);
    if (!buffer.memory) return nullptr;
    buffer.capacity = bytes;
  }
  if (!buffer.done) buffer.done = make_event(context_);
  position_ = (position_ + 1) % buffers_.size();
  return &buffer;
}

void StagingRing::under_way(Buffer& buffer, Stream stream) {
  context_->check(context_->driver().event_record(buffer.done.get(), stream), "copying");
  buffer.under_way = true;
}

void StagingRing::wait(Buffer& buffer) {
  if (!buffer.under_way) return;
  buffer.under_way = false;
  context_->check(context_->driver().event_synchronize(buffer.done.get()), "waiting for a copy");
}

HostCopies::HostCopies(ContextRef context, Streams& streams, PinnedMemory& pinned, int buffers, int64_t buffer_bytes)
    : context_(context),
      streams_(streams),
      buffer_bytes_(std::max(buffer_bytes, kSmall)),
      small_in_(context, pinned, kSmallBuffers),
      in_(context, pinned, std::max(buffers, 2)),
      out_(context, pinned, std::max(buffers, 2)),
      out_buffers_(std::max(buffers, 2)) {}

/// Pieces small enough that the GPU begins early and ends soon after the host.
int64_t HostCopies::piece(int64_t bytes) const {
  return std::clamp((bytes / 8 + kLeastPiece - 1) / kLeastPiece * kLeastPiece, std::min(kLeastPiece, buffer_bytes_), buffer_bytes_);
}

void HostCopies::enqueue_in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream) {
  context_->check(context_->driver().memcpy_host_to_device_async(to, from, static_cast<size_t>(bytes), streams_[stream]), "copying to it");
  streams_.gave(stream);
}

void HostCopies::enqueue_out(void* to, GpuAddress from, int64_t bytes, GpuStream stream) {
  context_->check(context_->driver().memcpy_device_to_host_async(to, from, static_cast<size_t>(bytes), streams_[stream]),
                  "copying from it");
  streams_.gave(stream);
}

void HostCopies::in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream) {
  if (bytes <= 0) return;
  if (is_pinned(from, bytes)) return enqueue_in(to, from, bytes, stream);
  const std::lock_guard lock(in_mutex_);
  StagingRing& ring = bytes <= kSmall ? small_in_ : in_;
  const int64_t step = bytes <= kSmall ? bytes : piece(bytes);
  for (int64_t at = 0; at < bytes; at += step) {
    const int64_t n = std::min(step, bytes - at);
    const char* source = static_cast<const char*>(from) + at;
    StagingRing::Buffer* buffer = ring.next(bytes <= kSmall ? kSmall : step);
    if (!buffer) {  // no pinned memory: the driver copies through its own, and waits
      enqueue_in(to + at, source, n, stream);
      continue;
    }
    copy_bytes(buffer->memory.get(), source, n);
    enqueue_in(to + at, buffer->memory.get(), n, stream);
    ring.under_way(*buffer, streams_[stream]);
  }
}

void HostCopies::out(void* to, GpuAddress from, int64_t bytes, GpuStream stream) {
  if (bytes <= 0) return;
  if (is_pinned(to, bytes)) return enqueue_out(to, from, bytes, stream);
  const std::lock_guard lock(out_mutex_);
  struct Piece {
    StagingRing::Buffer* buffer;
    char* to;
    int64_t bytes;
  };
  std::deque<Piece> pieces;
  const auto finish = [&](const Piece& piece) {
    out_.wait(*piece.buffer);
    copy_bytes(piece.to, piece.buffer->memory.get(), piece.bytes);
  };
  const int64_t step = piece(bytes);
  for (int64_t at = 0; at < bytes; at += step) {
    if (static_cast<int>(pieces.size()) == out_buffers_) {
      finish(pieces.front());
      pieces.pop_front();
    }
    const int64_t n = std::min(step, bytes - at);
    char* target = static_cast<char*>(to) + at;
    StagingRing::Buffer* buffer = out_.next(bytes <= kSmall ? kSmall : step);
    if (!buffer) {
      enqueue_out(target, from + at, n, stream);
      context_->check(context_->driver().stream_synchronize(streams_[stream]), "copying from it");
      continue;
    }
    enqueue_out(buffer->memory.get(), from + at, n, stream);
    out_.under_way(*buffer, streams_[stream]);
    pieces.push_back({buffer, target, n});
  }
  for (const Piece& piece : pieces) finish(piece);
}

}  // namespace gasell::cuda
