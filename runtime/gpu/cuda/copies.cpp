#include "runtime/gpu/cuda/copies.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <thread>

namespace gasell::cuda {
namespace {

constexpr int64_t kSmall = 64 << 10;  // small copies have buffers of their own, so that many of them can be under way
constexpr int kSmallBuffers = 16;
constexpr int64_t kLeastPiece = 512 << 10;
constexpr int kMostThreads = 12;  // more fill no buffer sooner
// Where so many GPUs are fed at a time, all buffers together must leave the caches room, so only half of each is used. On four H200 of one
// host 12 x 2 x 1 MiB each moved 115 GB/s, of 2 MiB 85; one alone takes 48 and 51.
constexpr int kCrowd = 3;

/// How many copies of the process go through buffers now.
std::atomic<int> copies_under_way{0};
struct UnderWay {
  const int count = ++copies_under_way;
  ~UnderWay() { --copies_under_way; }
};

/// The shape with what it leaves open, for a machine with so many GPUs.
StagingShape complete(StagingShape shape, int gpus) {
  if (shape.threads <= 0)
    shape.threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / std::max(gpus, 1), 2, kMostThreads);
  shape.buffers = std::max(shape.buffers, 2);
  shape.bytes = std::max(shape.bytes, kSmall);
  return shape;
}

int gpu_count(const GpuContext& context) {
  int count = 1;
  context.driver().device_get_count(&count);
  return count;
}

}  // namespace

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

HostCopies::Lanes::Lanes(const ContextRef& context, PinnedMemory& pinned, const StagingShape& shape) : workers(shape.threads) {
  for (int k = 0; k < shape.threads; ++k) rings.emplace_back(context, pinned, shape.buffers);
}

HostCopies::HostCopies(ContextRef context, Streams& streams, PinnedMemory& pinned, StagingShape shape)
    : context_(context),
      streams_(streams),
      shape_(complete(shape, gpu_count(*context))),
      in_(context, pinned, shape_),
      out_(context, pinned, shape_),
      small_in_(context, pinned, kSmallBuffers) {}

void HostCopies::share(Lanes& lanes, int64_t bytes, const std::function<void(StagingRing&, const NextPiece&)>& work) {
  const UnderWay others;
  const int64_t most = others.count >= kCrowd ? shape_.bytes / 2 : shape_.bytes;
  // Pieces small enough that the GPU begins early and ends soon after the host.
  const int64_t even = (bytes / shape_.threads + kLeastPiece - 1) / kLeastPiece * kLeastPiece;
  const int64_t step = std::clamp(even, std::min(kLeastPiece, most), most);
  std::atomic<int64_t> at{0};
  const NextPiece next = [&]() -> std::optional<Piece> {
    const int64_t begin = at.fetch_add(step);
    if (begin >= bytes) return std::nullopt;
    return Piece{begin, std::min(step, bytes - begin)};
  };
  const auto threads = static_cast<int>(std::min<int64_t>(shape_.threads, (bytes + step - 1) / step));
  if (threads == 1) return work(lanes.rings.front(), next);
  std::atomic<size_t> started{0};
  lanes.workers.run(threads, [&] {
    try {
      const Current current(*context_);
      work(lanes.rings[started.fetch_add(1)], next);
    } catch (...) {
      at = bytes;
      throw;
    }
  });
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

void HostCopies::stage_in(StagingRing& ring, int64_t capacity, GpuAddress to, const char* from, int64_t bytes, GpuStream stream) {
  StagingRing::Buffer* buffer = ring.next(capacity);
  if (!buffer) return enqueue_in(to, from, bytes, stream);  // no pinned memory: the driver copies through its own, and waits
  std::memcpy(buffer->memory.get(), from, static_cast<size_t>(bytes));
  enqueue_in(to, buffer->memory.get(), bytes, stream);
  ring.under_way(*buffer, streams_[stream]);
}

void HostCopies::in(GpuAddress to, const void* from, int64_t bytes, GpuStream stream) {
  if (bytes <= 0) return;
  if (is_pinned(from, bytes)) return enqueue_in(to, from, bytes, stream);
  const auto* source = static_cast<const char*>(from);
  const std::lock_guard lock(in_.mutex);
  if (bytes <= kSmall) return stage_in(small_in_, kSmall, to, source, bytes, stream);
  share(in_, bytes, [&](StagingRing& ring, const NextPiece& next) {
    while (const std::optional<Piece> piece = next())
      stage_in(ring, shape_.bytes, to + piece->begin, source + piece->begin, piece->bytes, stream);
  });
}

void HostCopies::out(void* to, GpuAddress from, int64_t bytes, GpuStream stream) {
  if (bytes <= 0) return;
  if (is_pinned(to, bytes)) return enqueue_out(to, from, bytes, stream);
  auto* target = static_cast<char*>(to);
  const std::lock_guard lock(out_.mutex);
  share(out_, bytes, [&](StagingRing& ring, const NextPiece& next) {
    std::deque<std::pair<StagingRing::Buffer*, Piece>> under_way;
    const auto finish = [&] {
      const auto [buffer, piece] = under_way.front();
      under_way.pop_front();
      ring.wait(*buffer);
      std::memcpy(target + piece.begin, buffer->memory.get(), static_cast<size_t>(piece.bytes));
    };
    while (const std::optional<Piece> piece = next()) {
      if (static_cast<int>(under_way.size()) == shape_.buffers) finish();
      StagingRing::Buffer* buffer = ring.next(bytes <= kSmall ? kSmall : shape_.bytes);
      if (!buffer) {
        enqueue_out(target + piece->begin, from + piece->begin, piece->bytes, stream);
        context_->check(context_->driver().stream_synchronize(streams_[stream]), "copying from it");
        continue;
      }
      enqueue_out(buffer->memory.get(), from + piece->begin, piece->bytes, stream);
      ring.under_way(*buffer, streams_[stream]);
      under_way.emplace_back(buffer, *piece);
    }
    while (!under_way.empty()) finish();
  });
}

}  // namespace gasell::cuda
