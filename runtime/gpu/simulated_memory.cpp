#include "runtime/gpu/simulated_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lang/diagnostic.h"
#include "runtime/device/storage.h"

namespace gasell {
namespace {

// No host address has this bit, so that following a GPU's address on the host faults.
constexpr GpuAddress kHandle = GpuAddress{1} << 62;
constexpr int64_t kAlignment = 256;
constexpr int64_t kGuard = 256;
constexpr unsigned char kGuardByte = 0xB7, kFreshByte = 0xFF;

GpuAddress handle(const char* memory) { return reinterpret_cast<GpuAddress>(memory) + kHandle; }
int64_t rounded(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void simulation_broken(const char* what) {
  std::fputs(fmt::format("gasell: internal error: {}\n", what).c_str(), stderr);
  std::abort();
}

SimulatedMemory::~SimulatedMemory() {
  int64_t bytes = 0;
  for (const auto& [address, block] : blocks_) bytes += block.bytes;
  if (blocks_.empty()) return;
  const std::string said = fmt::format("gasell: internal error: {} allocations of {} bytes on simulated GPU {} were never freed\n",
                                       blocks_.size(), bytes, ordinal_);
  std::fputs(said.c_str(), stderr);
  std::abort();
}

char* SimulatedMemory::pointer(GpuAddress address) { return reinterpret_cast<char*>(address - kHandle); }

bool SimulatedMemory::fits(int64_t bytes) const { return rounded(bytes) <= free_bytes(); }

GpuAddress SimulatedMemory::allocate(int64_t bytes, bool none) {
  const int64_t size = rounded(bytes);
  if (none || size > free_bytes())
    throw Error("MemoryError", fmt::format("Unable to allocate {}", memory_text(bytes)),
                fmt::format("{} of the {} of simulated GPU {} are in use; GASELL_SIM_MEMORY sets how much it has", memory_text(used_),
                            memory_text(bytes_), ordinal_),
                Blame::environment);
  auto* const memory = static_cast<char*>(std::aligned_alloc(kAlignment, static_cast<size_t>(size + 2 * kGuard)));
  if (!memory)
    throw Error("MemoryError", fmt::format("Unable to allocate {}", memory_text(bytes)),
                "the system has no memory left for the simulated GPU", Blame::environment);
  std::memset(memory, kGuardByte, kGuard);
  std::memset(memory + kGuard, kFreshByte, static_cast<size_t>(bytes));
  std::memset(memory + kGuard + bytes, kGuardByte, static_cast<size_t>(size - bytes + kGuard));
  used_ += size;
  const GpuAddress address = handle(memory + kGuard);
  blocks_.emplace(address, Block{bytes, size});
  return address;
}

void SimulatedMemory::free(GpuAddress address, const StreamCounts& until) noexcept {
  const auto block = blocks_.find(address);
  if (block == blocks_.end() || block->second.freed) simulation_broken("a simulated GPU's memory was freed twice, or was none");
  block->second.freed = true;
  block->second.until = until;
}

void SimulatedMemory::release(const StreamCounts& ran, bool all) {
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const Block& b = block->second;
    bool used = false;
    for (size_t s = 0; s < ran.size(); ++s) used = used || ran[s] < b.until[s];
    if (!b.freed || (used && !all)) {
      ++block;
      continue;
    }
    const auto* const memory = reinterpret_cast<const unsigned char*>(pointer(block->first));
    const auto intact = [](const unsigned char* from, const unsigned char* to) {
      return std::all_of(from, to, [](unsigned char c) { return c == kGuardByte; });
    };
    if (!intact(memory - kGuard, memory) || !intact(memory + b.bytes, memory + b.size + kGuard))
      simulation_broken("something wrote beside an allocation of a simulated GPU");
    std::free(pointer(block->first) - kGuard);
    used_ -= b.size;
    block = blocks_.erase(block);
  }
}

bool SimulatedMemory::has(GpuAddress address) const {
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return false;
  --block;
  return !block->second.freed && address < block->first + static_cast<GpuAddress>(block->second.bytes);
}

char* SimulatedMemory::at(GpuAddress address, int64_t bytes) const {
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) simulation_broken("an address that is none of the simulated GPU's");
  --block;
  if (block->second.freed || address + static_cast<GpuAddress>(bytes) > block->first + static_cast<GpuAddress>(block->second.bytes))
    simulation_broken("bytes outside of the simulated GPU's allocations");
  return pointer(address);
}

}  // namespace gasell
