#include "runtime/gpu/gpu_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "lang/diagnostic.h"
#include "runtime/device/engine_log.h"
#include "runtime/gpu/gpu_copies.h"

namespace gasell {

GpuMemory::GpuMemory(std::vector<std::unique_ptr<Gpu>> gpus, const std::atomic<bool>& interrupt)
    : gpus_(std::move(gpus)), lost_(gpus_.size(), 0), interrupt_(&interrupt) {}

int GpuMemory::lost_count() const { return static_cast<int>(std::count(lost_.begin(), lost_.end(), 1)); }

HostStorageRef GpuMemory::allocate(MemoryBudget& host, int64_t bytes) {
  HostStorageRef storage = allocate_later(host, bytes);
  const std::lock_guard lock(mutex_);
  storage->keep_copies(std::make_unique<GpuCopies>(shared_from_this(), *storage, false));
  return storage;
}

void GpuMemory::adopt(int g, HostStorage& storage, GpuAddress address) {
  const std::lock_guard lock(mutex_);
  auto copies = std::make_unique<GpuCopies>(shared_from_this(), storage, false);
  copies->adopt(g, address);
  storage.keep_copies(std::move(copies));
}

std::shared_ptr<const void> GpuMemory::holder(int g, const HostStorage& storage, GpuAddress address) {
  const std::lock_guard lock(mutex_);
  if (!storage.copies()) return nullptr;
  for (const Piece& piece : static_cast<GpuCopies&>(*storage.copies()).pieces(g))
    if (piece.at(0) == address) return piece.block;
  return nullptr;
}

void GpuMemory::begin_use() {
  const std::lock_guard lock(mutex_);
  ++use_;
}

void GpuMemory::end_use(int g) {
  const std::lock_guard lock(mutex_);
  for (GpuCopies* copies : all_)
    for (Piece& piece : copies->pieces(g)) piece.used = std::min(piece.used, use_ - 1);
}

void GpuMemory::given(int g) {
  const std::lock_guard lock(mutex_);
  for (GpuCopies* copies : all_)
    for (Piece& piece : copies->pieces(g)) piece.awaited.clear();
}

void GpuMemory::drop_awaited() {
  const std::lock_guard lock(mutex_);
  for (GpuCopies* copies : all_) {
    for (int g = 0; g < count(); ++g) {
      for (Piece& piece : copies->pieces(g)) {
        if (piece.received == use_) piece.received = UINT64_MAX;  // perhaps no kernel comes behind the copy
        if (piece.awaiting != use_) continue;
        for (const ByteRange& part : piece.awaited.ranges()) piece.valid.remove(part);
        piece.awaited.clear();
      }
    }
  }
}

GpuCopies& GpuMemory::copies_of(HostStorage& storage) {
  if (!storage.copies()) storage.keep_copies(std::make_unique<GpuCopies>(shared_from_this(), storage, true));
  return static_cast<GpuCopies&>(*storage.copies());
}

namespace {

GpuArray array_of(const Piece& piece, ByteRange range) {
  return {piece.address - static_cast<GpuAddress>(piece.range.begin), piece.at(range.begin), piece.at(range.end)};
}

}  // namespace

GpuArray GpuMemory::bind(int g, HostStorage& storage, ByteRange range, bool fill, std::vector<Transfer>& transfers,
                         std::vector<ByteRange>* filled) {
  const std::lock_guard lock(mutex_);
  GpuCopies& copies = copies_of(storage);
  if (fill) copies.require_kept(range);
  Piece& piece = *copies.piece(g, range, true);
  if (fill && filled) *filled = piece.valid.missing(range);
  if (fill) copies.fill(g, piece, range, transfers);
  piece.used = use_;
  return array_of(piece, range);
}

void GpuMemory::written(int g, HostStorage& storage, ByteRange range) {
  const std::lock_guard lock(mutex_);
  GpuCopies& copies = copies_of(storage);
  copies.written(range, copies.piece(g, range, false));
  uncommitted_.insert(&copies);
}

void GpuMemory::written_for_good(HostStorage& storage, ByteRange range) {
  const std::lock_guard lock(mutex_);
  copies_of(storage).forget_before(range);
}

void GpuMemory::written_on_host(HostStorage& storage, ByteRange range) {
  const std::lock_guard lock(mutex_);
  if (storage.copies()) copies_of(storage).written(range, nullptr);
}

std::vector<int> GpuMemory::send_home(HostStorage& storage) {
  const std::lock_guard lock(mutex_);
  if (!storage.copies()) return {};
  storage.host_memory();
  uncommitted_.insert(&copies_of(storage));
  return copies_of(storage).send_home();
}

void GpuMemory::commit() {
  const std::lock_guard lock(mutex_);
  for (GpuCopies* copies : uncommitted_) copies->commit();
  uncommitted_.clear();
}

int64_t GpuMemory::valid_bytes(int g, const HostStorage& storage, ByteRange range) {
  const std::lock_guard lock(mutex_);
  if (!storage.copies()) return 0;
  int64_t bytes = 0;
  for (const Piece& piece : static_cast<GpuCopies&>(*storage.copies()).pieces(g))
    for (const ByteRange& part : piece.valid.within(range)) bytes += part.size();
  return std::min(bytes, range.size());
}

int64_t GpuMemory::away_from_host(const HostStorage& storage, ByteRange range) {
  const std::lock_guard lock(mutex_);
  if (!storage.copies()) return 0;
  auto& copies = static_cast<GpuCopies&>(*storage.copies());
  Intervals away;
  for (int g = 0; g < count(); ++g)
    for (const Piece& piece : copies.pieces(g))
      for (const ByteRange& part : piece.valid.within(range)) away.add(part);
  for (const ByteRange& part : copies.on_host().ranges()) away.remove(part);
  return away.size();
}

bool GpuMemory::is_there(int g, const HostStorage& storage, ByteRange range) {
  const std::lock_guard lock(mutex_);
  if (!storage.copies()) return false;
  const Piece* piece = static_cast<GpuCopies&>(*storage.copies()).piece(g, range, false);
  return piece && piece->valid.contains(range);
}

GpuAddress GpuMemory::allocate_buffer(int g, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  return allocate_locked(g, bytes);
}

GpuAddress GpuMemory::allocate_locked(int g, int64_t bytes) {
  // What can never fit shall not drive everything else out.
  const bool possible = bytes <= gpu(g).properties().memory;
  for (bool waited = false;;) {
    try {
      return gpu(g).allocate(bytes);
    } catch (const Error& error) {
      if (error.diagnostic().kind != "MemoryError" || !possible) throw;
      if (evict_one(g)) continue;
      if (waited) throw;
      // What was freed is free when the work before it is done.
      waited = true;
      for (int s = 0; s < kGpuStreams; ++s) gpu(g).synchronize(static_cast<GpuStream>(s));
    }
  }
}

/// The piece that is given up next: one whose bytes are elsewhere too before one that must be brought home, and among them the one that was
/// not used for the longest time.
struct GpuMemory::Victim {
  GpuCopies* copies;
  Piece* piece;
  bool must_go_home;
  bool operator<(const Victim& other) const { return must_go_home != other.must_go_home ? !must_go_home : piece->used < other.piece->used; }
};

bool GpuMemory::evict_one(int g) {
  std::vector<Victim> victims;
  for (GpuCopies* copies : all_)
    for (Piece& piece : copies->pieces(g))
      if (piece.used != use_ && piece.takes_room()) victims.push_back({copies, &piece, !copies->only_in(g, piece).empty()});
  std::sort(victims.begin(), victims.end());
  for (const Victim& victim : victims) {
    try {
      for (const ByteRange& part : victim.copies->only_in(g, *victim.piece)) victim.copies->bring_home_locked(part);
    } catch (const Error&) {
      if (alive(g)) continue;  // the host has no room for it
    }
    if (!alive(g)) throw GpuLost("lost while its memory was brought home");
    victim.copies->free(g, *victim.piece);
    ++counts_.evicted;
    return true;
  }
  return false;
}

void GpuMemory::evict_all(int g) {
  const std::lock_guard lock(mutex_);
  while (evict_one(g)) {
  }
}

void GpuMemory::bury(int g, const std::string& because) {
  const std::lock_guard lock(mutex_);
  if (!alive(g)) return;
  lost_[static_cast<size_t>(g)] = 1;
  const GpuProperties& properties = gpu(g).properties();
  const std::string name = fmt::format("GPU {} ({})", properties.ordinal, properties.name);
  log_warning(
      fmt::format("{} was lost ({}); {}", name, because, any_alive() ? "its work goes to the others" : "the host's cores do its work"));
  for (GpuCopies* copies : all_) copies->bury(g, name);
}

void GpuMemory::wait(int g, GpuStream stream, double expected) {
  // At first without giving the core away, since most kernels are short; nor around the time when the end is expected, by this part of it.
  constexpr auto kSpin = std::chrono::milliseconds(5);
  constexpr auto kSleep = std::chrono::microseconds(50);
  constexpr double kSoon = 0.03;
  const auto start = std::chrono::steady_clock::now();
  while (!gpu(g).done(stream)) {
    if (interrupt_ && interrupt_->load(std::memory_order_relaxed)) throw Interrupted();
    const auto waited = std::chrono::steady_clock::now() - start;
    const bool soon = std::abs(std::chrono::duration<double>(waited).count() - expected) < kSoon * expected;
    if (waited > kSpin && !soon) std::this_thread::sleep_for(kSleep);
  }
  gpu(g).synchronize(stream);  // throws what failed
}

void GpuMemory::stop() {
  ++stops_;
  for (int g = 0; g < count(); ++g)
    if (alive(g)) gpu(g).set_stop(true);
  bury_lost();
  for (int g = 0; g < count(); ++g) gpu(g).set_stop(false);
}

void GpuMemory::bury_lost() {
  for (int g = 0; g < count(); ++g) {
    if (!alive(g)) continue;
    try {
      for (int s = 0; s < kGpuStreams; ++s) gpu(g).synchronize(static_cast<GpuStream>(s));
    } catch (const GpuLost& lost) {
      bury(g, lost.what());
    }
  }
}

}  // namespace gasell
