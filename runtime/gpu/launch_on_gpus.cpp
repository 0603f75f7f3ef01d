#include "runtime/gpu/launch_on_gpus.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <thread>
#include <utility>

#include "lang/diagnostic.h"

namespace gasell {
namespace {

// Rough rates, only to weigh places against each other: a GPU's memory and cores, the link to the host (each GPU has its own), and the one
// between GPUs.
constexpr double kBytesPerSecond = 3e12, kElementsPerSecond = 1e11, kLinkBytesPerSecond = 25e9, kPeerBytesPerSecond = 100e9;
constexpr double kSplitSeconds = 40e-6;  // what a launch on one more GPU costs
// Arrays that every unit needs whole are copied to each GPU up to this size.
constexpr int64_t kCopiedToEach = 256 << 20;
// Parts of a split launch begin at multiples of so many elements, so that launches over the same arrays split them alike.
constexpr double kSplitElements = 1 << 21;
// Launches that are not worth splitting are split all the same where more than this would have to come from other GPUs.
constexpr int64_t kMovedRather = 8 << 20;
// Launches longer than this are given in pieces of at most about this length, between which progress shows.
constexpr double kRangeSeconds = 0.1;
// Parts of split launches that take longer than this go in pieces that GPUs without work take from others: so many, but none shorter than
// that.
constexpr double kStealFromSeconds = 0.02, kPieceSeconds = 0.01;
constexpr int64_t kPieces = 8;
// Parts are given by a thread each where more is to be copied to them, since copies from pageable memory keep their caller.
constexpr int64_t kCopiedByOneThread = 64 << 20;
constexpr double kLargestPart = 0.95;  // of a GPU's memory

double estimated_seconds(double bytes, double elements) { return std::max(bytes / kBytesPerSecond, elements / kElementsPerSecond); }

}  // namespace

LaunchOnGpus::LaunchOnGpus(GpuDevice& device, const Launch& launch, const GpuLoadedKernel& loaded, Progress& progress)
    : device_(device), memory_(*device.memory_), launch_(launch), loaded_(loaded), progress_(progress) {
  for (const ir::Parameter& parameter : launch.kernel->params)
    if (parameter.kind != ir::Parameter::Kind::scalar) written_.push_back(parameter.kind == ir::Parameter::Kind::out);
}

ByteRange LaunchOnGpus::range(size_t k, UnitRange units) const {
  const ByteRange memory{0, storage(k).bytes()};
  if (!launch_.walks) return memory;
  const plan::Walk& walk = (*launch_.walks)[k];
  const int64_t offset = launch_.byte_offsets[k];
  const ByteRange all = ByteRange{offset + walk.begin, offset + walk.end}.common(memory);
  if (walk.step <= 0 || units.size() == launch_.units) return all;
  const auto at = [&](int64_t block) { return walk.step * static_cast<double>(block); };
  ByteRange part{offset + static_cast<int64_t>(std::floor(at(units.begin / launch_.together))) - walk.before,
                 offset + static_cast<int64_t>(std::ceil(at((units.end + launch_.together - 1) / launch_.together))) + walk.after};
  if (units.end == launch_.units) part.end = all.end;
  if (!written_[k]) part = {part.begin & -kWhole, (part.end + kWhole - 1) & -kWhole};
  return part.common(all);
}

bool LaunchOnGpus::fits(int g, UnitRange units) const {
  int64_t needed = 0;
  for (size_t k = 0; k < written_.size(); ++k)
    if (const ByteRange used = range(k, units); !memory_.is_there(g, storage(k), used)) needed += used.size();
  return static_cast<double>(needed) <= kLargestPart * static_cast<double>(memory_.gpu(g).properties().memory);
}

bool LaunchOnGpus::is_spread(const Part& part) const {
  int64_t elsewhere = 0;
  for (size_t k = 0; k < written_.size(); ++k) {
    if (written_[k]) continue;
    const ByteRange used = range(k, part.units);
    const int64_t missing = used.size() - memory_.valid_bytes(part.gpu, storage(k), used);
    elsewhere += std::min(missing, memory_.away_from_host(storage(k), used));
  }
  return elsewhere > kMovedRather;
}

bool LaunchOnGpus::can_split(int gpus, const Part& on_one) const {
  if (gpus < 2 || !launch_.walks || blocks() < 2 * gpus) return false;
  const bool small = std::max(launch_.bytes, 8 * launch_.elements) < static_cast<double>(device_.options_.split_from);
  if (small && fits(device_.usable()[0], {0, launch_.units}) && !is_spread(on_one)) return false;
  for (size_t k = 0; k < written_.size(); ++k) {
    if (written_[k] ? !apart(k) : !moves(k) && range(k, {0, launch_.units}).size() > kCopiedToEach) return false;
  }
  return true;
}

std::vector<LaunchOnGpus::Part> LaunchOnGpus::split(const std::vector<int>& gpus) const {
  const int64_t all = blocks();
  const auto count = static_cast<int64_t>(gpus.size());
  const double elements = launch_.elements / static_cast<double>(all);
  const int64_t wanted =
      std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(GpuDevice::kSplitElements) / std::max(elements, 1.0)));
  const int64_t grain = wanted * 4 * count <= all ? wanted : 1;
  std::vector<Part> parts;
  int64_t begin = 0;
  for (int64_t k = 0; k < count; ++k) {
    int64_t end = k + 1 == count ? all : (all * (k + 1) / count + grain / 2) / grain * grain;
    end = std::min(end, all);
    if (end > begin)
      parts.push_back({gpus[static_cast<size_t>(k)],
                       {begin * launch_.together, std::min(end * launch_.together, launch_.units)},
                       false,
                       {},
                       {},
                       parts.size()});
    begin = std::max(begin, end);
  }
  return parts;
}

double LaunchOnGpus::seconds(const std::vector<Part>& parts) const {
  double longest = 0;
  for (const Part& part : parts) {
    const double share = static_cast<double>(part.units.size()) / static_cast<double>(launch_.units);
    double time = estimated_seconds(launch_.bytes, launch_.elements) * share;
    for (size_t k = 0; k < written_.size(); ++k) {
      if (written_[k]) continue;
      const ByteRange used = range(k, part.units);
      const int64_t missing = used.size() - memory_.valid_bytes(part.gpu, storage(k), used);
      const int64_t from_peers = std::min(missing, memory_.away_from_host(storage(k), used));
      time += static_cast<double>(missing - from_peers) / kLinkBytesPerSecond + static_cast<double>(from_peers) / kPeerBytesPerSecond;
    }
    longest = std::max(longest, time);
  }
  return longest + kSplitSeconds * static_cast<double>(parts.size());
}

std::vector<LaunchOnGpus::Part> LaunchOnGpus::place() const {
  const std::vector<int> alive = device_.usable();
  if (alive.empty()) throw GpuLost("all GPUs are lost");
  const auto on_one = [&](int g) { return std::vector<Part>{{g, {0, launch_.units}, false, {}, {}, 0}}; };
  std::vector<Part> best = on_one(alive[0]);
  if (alive.size() == 1) return best;
  double least = seconds(best);
  for (size_t k = 1; k < alive.size(); ++k) {
    if (std::vector<Part> parts = on_one(alive[k]); seconds(parts) < least) {
      least = seconds(parts);
      best = std::move(parts);
    }
  }
  if (!can_split(static_cast<int>(alive.size()), best[0])) return best;
  std::vector<Part> parts = split(alive);
  return device_.options_.split_from == 0 || seconds(parts) < least ? parts : best;
}

void LaunchOnGpus::bind(Part& part) {
  part.streams = !fits(part.gpu, part.units);
  if (part.streams) return bind_on_host(part);
  try {
    std::vector<std::vector<ByteRange>> filled;
    bind_arrays(part.gpu, part.units, part.arrays, part.transfers, &filled);
    part.early = early_units(part.units, filled);
  } catch (const Error& error) {
    if (error.diagnostic().kind != "MemoryError") throw;
    memory_.end_use(part.gpu);
    bind_on_host(part);
  }
}

UnitRange LaunchOnGpus::early_units(UnitRange units, const std::vector<std::vector<ByteRange>>& filled) const {
  if (!launch_.walks || std::all_of(filled.begin(), filled.end(), [](const auto& gaps) { return gaps.empty(); })) return {};
  const int64_t block = launch_.together;
  const UnitRange early{units.begin + block, (units.end - 1) / block * block};
  if (early.size() < units.size() / 2) return {};
  for (size_t k = 0; k < filled.size(); ++k)
    for (const ByteRange& gap : filled[k])
      if (!gap.common(range(k, early)).empty()) return {};
  return early;
}

void LaunchOnGpus::bind_arrays(int g, UnitRange units, std::vector<GpuArray>& arrays, std::vector<Transfer>& transfers,
                               std::vector<std::vector<ByteRange>>* filled) {
  if (filled) filled->resize(written_.size());
  try {
    for (size_t k = 0; k < written_.size(); ++k) {
      arrays.push_back(
          memory_.bind(g, storage(k), range(k, units), !written_[k] || !dense(k), transfers, filled ? &(*filled)[k] : nullptr));
      arrays.back().base += static_cast<GpuAddress>(launch_.byte_offsets[k]);
    }
  } catch (const Error&) {
    give(g, transfers);  // what is bound already counts as valid, so it must become so
    throw;
  }
}

void LaunchOnGpus::bind_on_host(Part& part) {
  part.streams = true;
  for (size_t k = 0; k < written_.size(); ++k) {
    if (!can_stream(k)) continue;
    const ByteRange used = range(k, part.units);
    if (written_[k]) {
      storage(k).host_memory();
    } else if (!memory_.is_there(part.gpu, storage(k), used)) {
      storage(k).read(used.begin, used.end);
    }
  }
}

void LaunchOnGpus::give(int g, const std::vector<Transfer>& transfers) {
  Gpu& gpu = memory_.gpu(g);
  for (const Transfer& t : transfers) {
    device_.check_interrupt();
    if (t.from_host) {
      memory_.counts().bytes_in += t.bytes;
      gpu.copy_in(t.to, t.from_host, t.bytes, GpuStream::copy_in);
    } else {
      gpu.copy(t.to, t.from, t.bytes, GpuStream::copy_in);
    }
  }
  if (!transfers.empty()) memory_.given(g);
}

void LaunchOnGpus::launch(int g, const std::vector<GpuArray>& arrays, UnitRange units) {
  LoadedKernelRef& kernel = loaded_.on[static_cast<size_t>(g)];
  if (!kernel) kernel = memory_.gpu(g).load(*launch_.kernel);
  ++memory_.counts().launches;
  memory_.gpu(g).launch(*kernel, arrays, launch_.scalars, units.begin, units.end);
}

void LaunchOnGpus::mark_written(int g, UnitRange units) {
  for (size_t k = 0; k < written_.size(); ++k)
    if (written_[k]) memory_.written(g, storage(k), range(k, units));
}

int64_t LaunchOnGpus::pieces(const Part& part, size_t parts) const {
  const double seconds =
      estimated_seconds(launch_.bytes, launch_.elements) * static_cast<double>(part.units.size()) / static_cast<double>(launch_.units);
  double wanted = std::ceil(seconds / kRangeSeconds);
  if (parts > 1 && (seconds > kStealFromSeconds || device_.options_.steal_always))
    wanted = std::max(wanted, device_.options_.steal_always ? kPieces : std::min<double>(kPieces, std::ceil(seconds / kPieceSeconds)));
  return static_cast<int64_t>(std::clamp(wanted, 1.0, 10000.0));
}

void LaunchOnGpus::execute(Part& part) {
  device_.last_[static_cast<size_t>(part.gpu)] = GpuStream::compute;
  if (part.streams) return stream(part);
  give(part.gpu, part.transfers);
  // Only now: until the part has what it reads, others may be where that is.
  mark_written(part.gpu, part.units);
  // Most units need nothing of what is copied now: they run beside the copies, and those at the borders behind them.
  const UnitRange early = shares_ ? UnitRange{} : part.early;
  if (!early.empty()) launch(part.gpu, part.arrays, early);
  memory_.gpu(part.gpu).wait(GpuStream::compute, GpuStream::copy_in);
  if (shares_) return execute_pieces(part);
  if (early.empty()) {
    launch(part.gpu, part.arrays, part.units);
  } else {
    launch(part.gpu, part.arrays, {part.units.begin, early.begin});
    launch(part.gpu, part.arrays, {early.end, part.units.end});
  }
  progress_.advance(launch_.elements * static_cast<double>(part.units.size()) / static_cast<double>(launch_.units));
}

void LaunchOnGpus::execute_pieces(Part& part) {
  for (UnitRange units; !(units = shares_->take(part.share, piece_blocks_)).empty();) run_piece(part, part.arrays, units);
  const auto cost = [&](size_t owner, UnitRange units, double under_way) -> std::optional<double> {
    if ((*parts_)[owner].streams) return std::nullopt;
    return moving(part.gpu, units, under_way);
  };
  for (;;) {
    const Shares::Loot loot = shares_->steal(part.share, piece_blocks_, cost);
    if (loot.units.empty()) break;
    if (run_stolen(part, loot.units)) continue;
    const std::lock_guard lock(mutex_);
    returned_.push_back(loot);
    break;
  }
  shares_->finish(part.share);
}

void LaunchOnGpus::run_piece(const Part& part, const std::vector<GpuArray>& arrays, UnitRange units) {
  std::vector<GpuArray> used = arrays;
  for (size_t k = 0; k < used.size(); ++k) {
    const GpuAddress whole = used[k].base - static_cast<GpuAddress>(launch_.byte_offsets[k]);
    const ByteRange bytes = range(k, units);
    used[k].begin = whole + static_cast<GpuAddress>(bytes.begin);
    used[k].end = whole + static_cast<GpuAddress>(bytes.end);
  }
  launch(part.gpu, used, units);
  device_.wait(part.gpu, GpuStream::compute, shares_->expected(part.share, units.size()));
  progress_.advance(launch_.elements * static_cast<double>(units.size()) / static_cast<double>(launch_.units));
}

bool LaunchOnGpus::run_stolen(const Part& part, UnitRange units) {
  std::vector<GpuArray> arrays;
  std::vector<Transfer> transfers;
  try {
    bind_arrays(part.gpu, units, arrays, transfers);
  } catch (const Error& error) {
    if (error.diagnostic().kind != "MemoryError") throw;
    return false;
  }
  give(part.gpu, transfers);
  // The owner counts as having written these units too, but was not given them: what it has is what they read.
  mark_written(part.gpu, units);
  memory_.gpu(part.gpu).wait(GpuStream::compute, GpuStream::copy_in);
  ++memory_.counts().stolen;
  run_piece(part, arrays, units);
  return true;
}

double LaunchOnGpus::moving(int g, UnitRange units, double under_way) const {
  double seconds = 0;
  for (size_t k = 0; k < written_.size(); ++k) {
    const ByteRange used = range(k, units);
    if (written_[k]) {
      seconds += static_cast<double>(used.size()) / kPeerBytesPerSecond;
      continue;
    }
    const int64_t missing = used.size() - memory_.valid_bytes(g, storage(k), used);
    const int64_t from_owner = std::min(missing, memory_.away_from_host(storage(k), used));
    seconds += static_cast<double>(missing - from_owner) / kLinkBytesPerSecond;
    // A copy from the owner comes behind what it was given.
    if (from_owner > 0) seconds += static_cast<double>(from_owner) / kPeerBytesPerSecond + std::exchange(under_way, 0);
  }
  return seconds;
}

void LaunchOnGpus::run() {
  try {
    run_parts(place());
  } catch (...) {
    memory_.drop_awaited();
    throw;
  }
}

void LaunchOnGpus::run_parts(std::vector<Part> parts) {
  if (parts.size() > 1) ++memory_.counts().split;
  bool heavy = false;
  int64_t most_pieces = 1;
  for (Part& part : parts) {
    bind(part);
    int64_t copied = 0;
    for (const Transfer& t : part.transfers) copied += t.from_host ? t.bytes : 0;
    heavy = heavy || part.streams || copied > kCopiedByOneThread;
    most_pieces = std::max(most_pieces, pieces(part, parts.size()));
  }
  heavy = heavy || most_pieces > 1;
  if (heavy) {
    std::vector<UnitRange> units;
    for (const Part& part : parts) units.push_back(part.units);
    parts_ = &parts;
    shares_ = std::make_unique<Shares>(units, launch_.together);
    piece_blocks_ = std::max<int64_t>(1, blocks() / (static_cast<int64_t>(parts.size()) * most_pieces));
  }
  if (parts.size() == 1 || !heavy) {
    for (Part& part : parts) execute(part);
    return;
  }
  std::vector<std::exception_ptr> failures(parts.size());
  const auto guarded = [&](size_t k) {
    try {
      execute(parts[k]);
    } catch (...) {
      failures[k] = std::current_exception();
      shares_->stop();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t k = 1; k < parts.size(); ++k) threads.emplace_back(guarded, k);
    guarded(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  for (const Shares::Loot& loot : returned_) run_piece(parts[loot.owner], parts[loot.owner].arrays, loot.units);
}

}  // namespace gasell
