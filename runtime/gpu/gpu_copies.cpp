#include "runtime/gpu/gpu_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/diagnostic.h"

namespace gasell {
namespace {

// Storages up to this size have one piece for all their bytes.
constexpr int64_t kWholeUpTo = 16 << 20;
// Pieces of larger ones have room at both ends, this part of themselves and at most so much, so that launches that split a little
// differently, or by groups of rows, find them large enough.
constexpr int64_t kMargin = int64_t{1} << 30;
constexpr int64_t kMarginPart = 32;
// Margins are multiples of it, so that elements stay at addresses where a GPU can read them.
constexpr int64_t kAlignment = 64;

}  // namespace

GpuCopies::GpuCopies(std::shared_ptr<GpuMemory> memory, HostStorage& storage, bool on_host)
    : memory_(std::move(memory)), storage_(storage), pieces_(static_cast<size_t>(memory_->count())) {
  if (on_host) host_.add({0, storage.bytes()});
  memory_->all_.insert(this);
}

GpuCopies::~GpuCopies() {
  const std::lock_guard lock(memory_->mutex_);
  memory_->all_.erase(this);
  memory_->uncommitted_.erase(this);
  pieces_.clear();
}

void GpuCopies::adopt(int g, GpuAddress address) {
  const ByteRange all{0, storage_.bytes()};
  pieces(g).push_back({.range = all, .address = address, .block = nullptr, .valid = {}});
  pieces(g).back().valid.add(all);
}

Piece* GpuCopies::piece(int g, ByteRange range, bool make) {
  Piece* found = nullptr;
  int64_t most = -1;
  for (Piece& piece : pieces(g)) {
    if (!piece.range.contains(range)) continue;
    int64_t valid = 0;
    for (const ByteRange& part : piece.valid.within(range)) valid += part.size();
    if (valid > most) found = &piece, most = valid;
  }
  if (found || !make) return found;
  const ByteRange all{0, storage_.bytes()};
  ByteRange wanted = all;
  if (all.size() > kWholeUpTo && range != all) {
    const int64_t margin = std::min(kMargin, range.size() / kMarginPart) & -kAlignment;
    wanted = ByteRange{range.begin - margin, range.end + margin}.common(all);
  }
  GpuAddress address = 0;
  try {
    address = memory_->allocate_locked(g, wanted.size());
  } catch (const Error&) {
    if (wanted == range) throw;
    address = memory_->allocate_locked(g, range.size());
    wanted = range;
  }
  std::shared_ptr<const void> block(nullptr, [memory = memory_, g, address](const void*) { memory->gpu(g).free(address); });
  pieces(g).push_back({.range = wanted, .address = address, .block = std::move(block), .valid = {}});
  return &pieces(g).back();
}

void GpuCopies::fill(int g, Piece& piece, ByteRange range, std::vector<Transfer>& transfers) {
  Gpu& gpu = memory_->gpu(g);
  bool ordered = piece.used == 0;  // nothing in flight uses what was allocated now
  const auto order = [&] {
    if (!ordered) gpu.wait(GpuStream::copy_in, GpuStream::compute);
    ordered = true;
  };
  const auto take = [&](ByteRange part) {
    order();
    piece.valid.add(part);
  };
  // From where the way is shortest: this GPU, the host, another GPU.
  for (Piece& other : pieces(g)) {
    if (&other == &piece) continue;
    for (const ByteRange& gap : piece.valid.missing(range)) {
      for (const ByteRange& part : other.valid.within(gap)) {
        ordered = false;  // the other's last writer comes before
        take(part);
        transfers.push_back({piece.at(part.begin), nullptr, other.at(part.begin), part.size()});
        other.used = memory_->use_;
        piece.await(part, memory_->use_);
      }
    }
  }
  for (const ByteRange& gap : piece.valid.missing(range)) {
    for (const ByteRange& part : host_.within(gap)) {
      take(part);
      transfers.push_back({piece.at(part.begin), static_cast<const char*>(storage_.host_memory()) + part.begin, 0, part.size()});
      piece.await(part, memory_->use_);
    }
  }
  for (int h = 0; h < memory_->count(); ++h) {
    if (h == g || !memory_->alive(h)) continue;
    for (const Piece& other : pieces(h)) {
      for (const ByteRange& gap : piece.valid.missing(range)) {
        for (const ByteRange& part : other.ready(gap, memory_->use_)) {
          order();
          memory_->counts_.bytes_between += part.size();
          gpu.copy_from_peer(piece.at(part.begin), memory_->gpu(h), other.at(part.begin), part.size(), GpuStream::copy_in,
                             other.received < memory_->use_);
          piece.received = memory_->use_;
          piece.valid.add(part);  // not before: it throws when either GPU is lost
        }
      }
    }
  }
}

void GpuCopies::written(ByteRange range, const Piece* keeper) {
  for (int g = 0; g < memory_->count(); ++g) {
    for (auto piece = pieces(g).begin(); piece != pieces(g).end();) {
      Piece& each = *piece++;
      if (&each == keeper) {
        each.valid.add(range);
      } else {
        each.valid.remove(range);
        if (each.valid.empty() && each.used != memory_->use_) free(g, each);
      }
    }
  }
  if (keeper) {
    if (!before_) before_ = host_;
    host_.remove(range);
  } else {
    host_.add(range);
  }
  gone_.remove(range);
  sent_.remove(range);
}

void GpuCopies::free(int g, Piece& piece) noexcept {
  pieces(g).remove_if([&](const Piece& each) { return &each == &piece; });
}

void GpuCopies::bury(int g, const std::string& name) {
  Intervals held;
  for (const Piece& piece : pieces(g))
    for (const ByteRange& part : piece.valid.ranges()) held.add(part);
  pieces(g).clear();
  sent_.clear();
  if (before_)
    for (const ByteRange& part : before_->ranges()) host_.add(part);
  for (const ByteRange& part : host_.ranges()) held.remove(part);
  for (int h = 0; h < memory_->count(); ++h)
    for (const Piece& piece : pieces(h))
      for (const ByteRange& part : piece.valid.ranges()) held.remove(part);
  for (const ByteRange& part : held.ranges()) gone_.add(part);
  if (!held.empty()) gone_with_ = name;
}

void GpuCopies::require_kept(ByteRange range) const {
  if (gone_.within(range).empty()) return;
  throw Error(
      "RuntimeError",
      fmt::format("the contents of an array of {} are gone: only {} had them, and it was lost", memory_text(storage_.bytes()), gone_with_),
      "compute it again; results that must survive the loss of a GPU can be kept on the host by reading them", Blame::environment);
}

std::vector<ByteRange> GpuCopies::only_in(int g, const Piece& piece) const {
  Intervals only = piece.valid;
  for (const ByteRange& part : host_.ranges()) only.remove(part);
  for (size_t h = 0; h < pieces_.size(); ++h)
    for (const Piece& other : pieces_[h])
      if (&other != &piece && (static_cast<int>(h) == g || memory_->alive(static_cast<int>(h))))
        for (const ByteRange& part : other.valid.ranges()) only.remove(part);
  return only.ranges();
}

void GpuCopies::copy_home(int g, const Piece& piece, ByteRange part, GpuStream stream) {
  memory_->counts_.bytes_out += part.size();
  if (before_) before_->remove(part);  // overwritten
  Gpu& gpu = memory_->gpu(g);
  gpu.wait(stream, GpuStream::compute);
  gpu.wait(stream, GpuStream::copy_in);
  gpu.copy_out(static_cast<char*>(storage_.host_memory()) + part.begin, piece.at(part.begin), part.size(), stream);
}

std::vector<int> GpuCopies::send_home() {
  std::vector<int> senders;
  for (int g = 0; g < memory_->count(); ++g) {
    for (const Piece& piece : pieces(g)) {
      for (const ByteRange& gap : host_.missing({0, storage_.bytes()})) {
        for (const ByteRange& part : piece.valid.within(gap)) {
          if (sent_.contains(part)) continue;
          // Behind the kernels in their own stream: another one would wait for an event first, which takes longer than a small copy.
          copy_home(g, piece, part, GpuStream::compute);
          sent_.add(part);
          if (senders.empty() || senders.back() != g) senders.push_back(g);
        }
      }
    }
  }
  return senders;
}

void GpuCopies::commit() {
  before_.reset();
  for (const ByteRange& part : sent_.ranges()) host_.add(part);
  sent_.clear();
}

void GpuCopies::bring_home_locked(ByteRange range) {
  for (int g = 0; g < memory_->count(); ++g) {
    if (!memory_->alive(g)) continue;
    try {
      std::vector<ByteRange> copied;
      for (const Piece& piece : pieces(g)) {
        for (const ByteRange& gap : host_.missing(range)) {
          for (const ByteRange& part : piece.valid.within(gap)) {
            if (copied.empty()) memory_->wait(g, GpuStream::compute);  // kernels may never end; copies do
            copy_home(g, piece, part, GpuStream::copy_out);
            copied.push_back(part);
          }
        }
      }
      if (copied.empty()) continue;
      memory_->gpu(g).synchronize(GpuStream::copy_out);
      for (const ByteRange& part : copied) host_.add(part);
    } catch (const GpuLost& lost) {
      memory_->bury(g, lost.what());
    } catch (const Interrupted&) {
      memory_->stop();
      throw;
    }
  }
  require_kept(range);
}

void GpuCopies::bring_home(const HostStorage&, int64_t begin, int64_t end) {
  const std::lock_guard lock(memory_->mutex_);
  if (host_.contains({begin, end})) return;
  storage_.host_memory();
  bring_home_locked({begin, end});
}

}  // namespace gasell
