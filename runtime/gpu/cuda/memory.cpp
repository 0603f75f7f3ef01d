#include "runtime/gpu/cuda/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "lang/diagnostic.h"
#include "runtime/device/storage.h"

namespace gasell::cuda {
namespace {

constexpr size_t kMostKept = 16;
constexpr int64_t kKeptPart = 16;  // of the memory: this part of it at most

constexpr size_t kWord = 4;
constexpr unsigned char kFreshByte = 0xFF;  // as on simulated GPUs: NaN, -1

bool poison_wanted() {
  const char* set = std::getenv("GASELL_GPU_POISON");
  return set && std::string_view(set) == "1";
}

OwnedPool make_pool(const ContextRef& context) {
  const Driver& driver = context->driver();
  PoolProperties properties{};
  properties.type = AllocationType::pinned;
  properties.location = {LocationType::device, context->device()};
  Pool pool = nullptr;
  context->check(driver.pool_create(&pool, &properties), "making a memory pool");
  OwnedPool owned(context, pool);
  // Kept for the next allocation instead of going back to the system at each synchronisation.
  uint64_t keep_all = UINT64_MAX;
  context->check(driver.pool_set_attribute(pool, PoolAttribute::release_threshold, &keep_all), "setting up its memory pool");
  return owned;
}

}  // namespace

GpuMemory::GpuMemory(ContextRef context, Streams& streams, bool pools, int64_t limit)
    : context_(std::move(context)), streams_(streams), limit_(limit), poisons_(poison_wanted()) {
  if (!pools || !context_->attribute(DeviceAttribute::pools_supported)) return;
  pool_ = make_pool(context_);
  allocations_ = make_stream(context_);
  frees_ = make_stream(context_);
  allocated_ = make_event(context_);
}

GpuMemory::~GpuMemory() {
  const Current current(*context_, std::nothrow);
  if (!current.entered()) return;
  const Driver& driver = context_->driver();
  give_back_kept();
  if (pool_) driver.stream_synchronize(frees_.get());
  for (const auto& [address, bytes] : waiting_) driver.mem_free(address);
}

GpuAddress GpuMemory::allocate(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  const auto within_limit = [&] {
    const std::lock_guard lock(mutex_);
    return bytes <= limit_ - live_bytes_;
  };
  if (!within_limit()) short_of_memory(bytes);
  DevicePointer address = take_kept(bytes);
  const auto attempt = [&] { return pool_ ? allocate_from_pool(size, address) : allocate_plain(size, address); };
  Result result = address ? Result::success : attempt();
  if (result == Result::out_of_memory) {
    give_back_kept();
    size_t free = 0, total = 0;
    context_->check(context_->driver().mem_get_info(&free, &total), "asking for its free memory");
    if (size > total) short_of_memory(bytes);
    // Pieces that do not fit together, and what is freed when the work under way is done.
    synchronize_all();
    if (pool_) context_->check(context_->driver().pool_trim_to(pool_.get(), 0), "giving memory back");
    result = attempt();
    if (result == Result::out_of_memory) short_of_memory(bytes);
  }
  context_->check(result, "allocating memory");
  if (poisons_) fill(address, size);
  const std::lock_guard lock(mutex_);
  live_.emplace(address, bytes);
  live_bytes_ += bytes;
  return address;
}

Result GpuMemory::allocate_from_pool(size_t bytes, DevicePointer& address) {
  const Driver& driver = context_->driver();
  if (const Result result = driver.mem_alloc_from_pool_async(&address, bytes, pool_.get(), allocations_.get()); result != Result::success)
    return result;
  Result idle = driver.stream_query(allocations_.get());
  if (idle != Result::not_ready) return idle;
  // The driver lets the memory wait for a free, or has not noted yet that it need not.
  const std::lock_guard lock(mutex_);
  Result result = driver.event_record(allocated_.get(), allocations_.get());
  for (const Stream stream : {streams_[GpuStream::compute], streams_[GpuStream::copy_in], streams_[GpuStream::copy_out], frees_.get()})
    if (result == Result::success) result = driver.stream_wait_event(stream, allocated_.get(), 0);
  return result;
}

Result GpuMemory::allocate_plain(size_t bytes, DevicePointer& address) {
  collect();
  // Kernels load the words that the last bytes of an array lie in, and drop what is not its. A pool's memory ends at a multiple of a word.
  const size_t rest = (kWord - bytes % kWord) % kWord;
  const Result result = context_->driver().mem_alloc(&address, bytes + rest);
  if (result == Result::success && rest > 0) fill(address + bytes, rest);
  return result;
}

void GpuMemory::fill(DevicePointer address, size_t bytes) {
  const Driver& driver = context_->driver();
  const Stream stream = pool_ ? allocations_.get() : streams_[GpuStream::copy_in];
  context_->check(driver.memset_d8_async(address, kFreshByte, bytes, stream), "filling memory");
  context_->check(driver.stream_synchronize(stream), "filling memory");
}

void GpuMemory::collect() {
  Blocks ready;
  int64_t ready_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    ready.swap(waiting_);
    std::swap(ready_bytes, waiting_bytes_);
  }
  if (ready.empty()) return;
  const Driver& driver = context_->driver();
  for (const GpuStream stream : kAllStreams) {
    if (driver.stream_query(streams_[stream]) == Result::success) continue;
    const std::lock_guard lock(mutex_);
    waiting_.merge(ready);
    waiting_bytes_ += ready_bytes;
    return;
  }
  for (const auto& [address, bytes] : ready) context_->check(driver.mem_free(address), "freeing memory");
}

void GpuMemory::synchronize_all() {
  const Driver& driver = context_->driver();
  for (const GpuStream stream : kAllStreams) context_->check(driver.stream_synchronize(streams_[stream]), "waiting for its work");
  if (pool_) context_->check(driver.stream_synchronize(frees_.get()), "waiting for its work");
}

void GpuMemory::free(GpuAddress address) noexcept {
  const Current current(*context_, std::nothrow);
  if (!current.entered()) return;
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  const int64_t bytes = found->second;
  live_bytes_ -= bytes;
  if (!pool_) {
    waiting_bytes_ += bytes;
    waiting_.insert(live_.extract(found));
    return;
  }
  live_.erase(found);
  if (streams_.settle() != Result::success) return;  // without its order it must not be freed
  Kept block{address, bytes, {}};
  for (int s = 0; s < kGpuStreams; ++s) block.given[s] = streams_.given(kAllStreams[s]);
  for (const DevicePointer each : keep(block)) give_back(each);
}

DevicePointer GpuMemory::take_kept(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto unused = [&](const Kept& block) {
    if (block.bytes != bytes) return false;
    for (int s = 0; s < kGpuStreams; ++s)
      if (!streams_.is_done(kAllStreams[s], block.given[s])) return false;
    return true;
  };
  const auto found = std::find_if(kept_.begin(), kept_.end(), unused);
  if (found == kept_.end()) return 0;
  const DevicePointer address = found->address;
  kept_bytes_ -= bytes;
  kept_.erase(found);
  return address;
}

std::vector<DevicePointer> GpuMemory::keep(const Kept& block) {
  kept_.push_back(block);
  kept_bytes_ += block.bytes;
  std::vector<DevicePointer> out;
  while (kept_.size() > kMostKept || kept_bytes_ > limit_ / kKeptPart) {
    out.push_back(kept_.front().address);
    kept_bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
  return out;
}

void GpuMemory::give_back(DevicePointer address) noexcept {
  for (int s = 0; s < kGpuStreams; ++s) {
    const uint64_t given = streams_.given(kAllStreams[s]);
    if (given == freed_behind_[s]) continue;
    if (streams_.order(frees_.get(), kAllStreams[s]) != Result::success) return;  // without its order it must not be freed
    freed_behind_[s] = given;
  }
  context_->driver().mem_free_async(address, frees_.get());
}

void GpuMemory::give_back_kept() noexcept {
  const std::lock_guard lock(mutex_);
  for (const Kept& block : kept_) give_back(block.address);
  kept_.clear();
  kept_bytes_ = 0;
}

int64_t GpuMemory::free_bytes() {
  const Driver& driver = context_->driver();
  size_t free = 0, total = 0;
  context_->check(driver.mem_get_info(&free, &total), "asking for its free memory");
  const std::lock_guard lock(mutex_);
  const int64_t left = std::max<int64_t>(0, limit_ - live_bytes_);
  if (!pool_) return std::min(left, static_cast<int64_t>(free) + waiting_bytes_);
  uint64_t reserved = 0;
  context_->check(driver.pool_get_attribute(pool_.get(), PoolAttribute::reserved_bytes, &reserved), "asking for its free memory");
  return std::min(left, static_cast<int64_t>(free) + std::max<int64_t>(0, static_cast<int64_t>(reserved) - live_bytes_));
}

void GpuMemory::open_to(int ordinal) {
  if (!pool_) return;
  const AccessDescription description{{LocationType::device, ordinal}, AccessFlags::read_write};
  context_->check(context_->driver().pool_set_access(pool_.get(), &description, 1), "letting another GPU reach its memory");
}

void GpuMemory::short_of_memory(int64_t bytes) {
  const int64_t free = free_bytes();
  size_t ignored = 0, total = 0;
  context_->check(context_->driver().mem_get_info(&ignored, &total), "asking for its free memory");
  throw Error("MemoryError", fmt::format("Unable to allocate {} on {}", memory_text(bytes), context_->label()),
              fmt::format("{} of its {} are free", memory_text(free), memory_text(std::min(limit_, static_cast<int64_t>(total)))),
              Blame::environment);
}

}  // namespace gasell::cuda
