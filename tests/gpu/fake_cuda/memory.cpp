#include "gpu/fake_cuda/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gpu/fake_cuda/streams.h"

namespace fake_cuda {

char* host(DevicePointer address) { return reinterpret_cast<char*>(address); }

bool valid(DevicePointer address, size_t bytes) {
  const auto after = fake.blocks.upper_bound(address);
  if (after != fake.blocks.begin()) {
    const auto& [base, block] = *std::prev(after);
    if (address + bytes <= base + block.bytes && block.there) return true;
  }
  fake.sticky = Result::illegal_address;
  return false;
}
bool is_pinned(const void* memory, size_t bytes) {
  const auto after = fake.pinned.upper_bound(static_cast<char*>(const_cast<void*>(memory)));
  return after != fake.pinned.begin() && static_cast<const char*>(memory) + bytes <= std::prev(after)->first + std::prev(after)->second;
}

DevicePointer take(size_t bytes, int device, Pool pool) {
  char* memory = static_cast<char*>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  std::memset(memory, 0xCD, bytes);
  const auto address = reinterpret_cast<DevicePointer>(memory);
  fake.blocks[address] = {bytes, device, pool};
  return address;
}
void release(DevicePointer address) {
  if (fake.blocks.erase(address) == 0) {
    fake.sticky = Result::illegal_address;
    return;
  }
  std::free(host(address));
}

namespace {

int64_t used(int device) {
  int64_t bytes = 0;
  for (const auto& [address, block] : fake.blocks)
    if (block.device == device) bytes += static_cast<int64_t>(block.bytes);
  return bytes;
}
int64_t used(Pool pool) {
  int64_t bytes = 0;
  for (const auto& [address, block] : fake.blocks)
    if (block.pool == pool) bytes += static_cast<int64_t>(block.bytes);
  return bytes;
}
int64_t being_freed(int device) {
  int64_t bytes = 0;
  for (const auto& [address, block] : fake.blocks)
    if (block.device == device && block.freed) bytes += static_cast<int64_t>(block.bytes);
  return bytes;
}
bool out_of_memory(size_t bytes, int device, bool may_wait) {
  if (++fake.allocations == fake.oom_at) return true;
  int64_t taken = used(device);
  if (may_wait) taken -= being_freed(device);
  return taken + static_cast<int64_t>(bytes) > fake.memory;
}

Result mem_get_info(size_t* free, size_t* total) {
  const Entry entry("cuMemGetInfo");
  if (!entry) return entry.result();
  const int device = current.back()->device;
  int64_t taken = 0;
  for (const Pool pool : fake.pools_made)
    if (pool->device == device) taken += pool->reserved;
  for (const auto& [address, block] : fake.blocks)
    if (block.device == device && !block.pool) taken += static_cast<int64_t>(block.bytes);
  *free = static_cast<size_t>(std::max<int64_t>(0, fake.memory - taken));
  *total = static_cast<size_t>(fake.memory);
  return Result::success;
}
Result mem_alloc(DevicePointer* address, size_t bytes) {
  const Entry entry("cuMemAlloc");
  if (!entry) return entry.result();
  if (out_of_memory(bytes, current.back()->device, false)) return Result::out_of_memory;
  *address = take(bytes, current.back()->device, nullptr);
  return Result::success;
}
Result pointer_get_attribute(void* value, PointerAttribute attribute, DevicePointer address) {
  const Entry entry("cuPointerGetAttribute");
  if (!entry) return entry.result();
  if (attribute != PointerAttribute::device_ordinal) return Result::invalid_value;
  auto block = fake.blocks.upper_bound(address);
  if (block == fake.blocks.begin()) return Result::invalid_value;
  --block;
  if (address >= block->first + block->second.bytes) return Result::invalid_value;
  *static_cast<int*>(value) = block->second.device;
  return Result::success;
}
Result mem_free(DevicePointer address) {
  const Entry entry("cuMemFree");
  if (!entry) return entry.result();
  release(address);
  return fake.sticky;
}
Result mem_alloc_from_pool_async(DevicePointer* address, size_t bytes, Pool pool, Stream stream) {
  const Entry entry("cuMemAllocFromPoolAsync");
  if (!entry) return entry.result();
  if (out_of_memory(bytes, pool->device, true)) return Result::out_of_memory;
  // Memory that is still being freed is taken with an order behind the frees.
  const bool waits = used(pool->device) + static_cast<int64_t>(bytes) > fake.memory;
  *address = take(bytes, pool->device, pool);
  if (waits) {
    for (const Stream freer : freeing()) wait_for(stream, freer, mark(freer));
    fake.blocks[*address].there = false;
    stream->work.push_back([at = *address] { fake.blocks[at].there = true; });
  }
  pool->reserved = std::min(fake.memory, std::max(pool->reserved, used(pool)));
  return Result::success;
}
Result mem_free_async(DevicePointer address, Stream stream) {
  const Entry entry("cuMemFreeAsync");
  if (!entry) return entry.result();
  const auto block = fake.blocks.find(address);
  if (block == fake.blocks.end() || !block->second.pool || block->second.freed) return Result::invalid_value;
  block->second.freed = true;
  stream->work.push_back([address] { release(address); });
  if (std::find(freeing().begin(), freeing().end(), stream) == freeing().end()) freeing().push_back(stream);
  return Result::success;
}
Result pool_create(Pool* pool, const PoolProperties* properties) {
  const Entry entry("cuMemPoolCreate");
  if (!entry) return entry.result();
  if (properties->type != AllocationType::pinned || properties->location.type != LocationType::device || properties->max_size != 0)
    return Result::invalid_value;
  *pool = new PoolObject{properties->location.id};
  fake.pools_made.insert(*pool);
  return Result::success;
}
Result pool_destroy(Pool pool) {
  const Entry entry("cuMemPoolDestroy");
  if (!entry) return entry.result();
  fake.pools_made.erase(pool);
  delete pool;
  return Result::success;
}
Result pool_set_attribute(Pool pool, PoolAttribute attribute, void* value) {
  const Entry entry("cuMemPoolSetAttribute");
  if (attribute == PoolAttribute::release_threshold) pool->threshold = *static_cast<uint64_t*>(value);
  return entry.result();
}
Result pool_get_attribute(Pool pool, PoolAttribute attribute, void* value) {
  const Entry entry("cuMemPoolGetAttribute");
  auto& number = *static_cast<uint64_t*>(value);
  if (attribute == PoolAttribute::reserved_bytes)
    number = static_cast<uint64_t>(pool->reserved);
  else
    return Result::invalid_value;
  return entry.result();
}
Result pool_set_access(Pool, const AccessDescription* descriptions, size_t count) {
  const Entry entry("cuMemPoolSetAccess");
  if (count != 1 || descriptions->location.type != LocationType::device || descriptions->flags != AccessFlags::read_write)
    return Result::invalid_value;
  return entry.result();
}
Result pool_trim_to(Pool pool, size_t) {
  const Entry entry("cuMemPoolTrimTo");
  pool->reserved = std::min(fake.memory, used(pool));
  return entry.result();
}
Result host_alloc(void** address, size_t bytes, unsigned) {
  const Entry entry("cuMemHostAlloc");
  if (!entry) return entry.result();
  if (fake.pinned_bytes + static_cast<int64_t>(bytes) > fake.pinned_limit) return Result::out_of_memory;
  char* memory = static_cast<char*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  fake.pinned[memory] = bytes;
  fake.pinned_bytes += static_cast<int64_t>(bytes);
  *address = memory;
  return Result::success;
}
Result host_free(void* address) {
  const Entry entry("cuMemFreeHost");
  if (!entry) return entry.result();
  const auto found = fake.pinned.find(static_cast<char*>(address));
  if (found == fake.pinned.end()) return Result::invalid_value;
  fake.pinned_bytes -= static_cast<int64_t>(found->second);
  fake.pinned.erase(found);
  std::free(address);
  return Result::success;
}

}  // namespace

std::vector<Symbol> memory_entries() {
  return {
      symbol("cuMemGetInfo", 3020, mem_get_info),
      symbol("cuMemAlloc", 3020, mem_alloc),
      symbol("cuMemFree", 3020, mem_free),
      symbol("cuMemAllocFromPoolAsync", 11020, mem_alloc_from_pool_async),
      symbol("cuMemFreeAsync", 11020, mem_free_async),
      symbol("cuMemPoolCreate", 11020, pool_create),
      symbol("cuMemPoolDestroy", 11020, pool_destroy),
      symbol("cuMemPoolSetAttribute", 11020, pool_set_attribute),
      symbol("cuMemPoolGetAttribute", 11020, pool_get_attribute),
      symbol("cuMemPoolSetAccess", 11020, pool_set_access),
      symbol("cuMemPoolTrimTo", 11020, pool_trim_to),
      symbol("cuPointerGetAttribute", 4000, pointer_get_attribute),
      symbol("cuMemHostAlloc", 2020, host_alloc),
      symbol("cuMemFreeHost", 2000, host_free),
  };
}

}  // namespace fake_cuda
