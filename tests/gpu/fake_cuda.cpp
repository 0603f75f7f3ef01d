// A CUDA driver over host memory, for tests of what uses one: as strict as the real one about contexts, addresses and order, and able to
// fail on demand (fake_cuda.h).
#include "gpu/fake_cuda.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/gpu/cuda/driver.h"

using namespace gasell::cuda;

namespace gasell::cuda {
struct ContextObject {
  int device;
};
struct StreamObject {
  int device;
  std::deque<std::function<void()>> work;
  bool busy = false;  // with what was taken from `work`
};
struct EventObject {
  int device;
  std::shared_ptr<bool> reached;  // null: never recorded
  StreamObject* stream = nullptr;
};
struct ModuleObject {
  std::string text;
  std::vector<std::unique_ptr<FunctionObject>> functions;
};
struct FunctionObject {
  std::string symbol;
  size_t parameters;
  int most_shared = 48 << 10;
};
struct PoolObject {
  int device;
  uint64_t threshold = 0;
  int64_t reserved = 0;
};
struct LinkObject {
  std::string text;
  char* log;
  size_t log_bytes;
};
}  // namespace gasell::cuda

namespace {

struct Block {
  size_t bytes;
  int device;
  Pool pool;           // null: of a plain allocation
  bool freed = false;  // a free of it is under way
  bool there = true;   // its allocation is not behind frees to come
};

struct Fake {
  int devices = 1, version = 12040, compute_mode = 0;
  bool pools = true, peer = true;
  Result init{}, retain{}, fail = Result::launch_failed, link{};
  int64_t memory = int64_t{1} << 30, pinned_limit = INT64_MAX, oom_at = 0, fail_at = 0;
  std::string missing, tag;

  bool initialised = false;
  Result sticky{};
  int64_t allocations = 0, launches = 0, pinned_bytes = 0;
  std::map<DevicePointer, Block> blocks;
  std::map<char*, size_t> pinned;
  std::map<std::string, int64_t> calls;
  std::map<int, int> retained;
  std::vector<std::unique_ptr<ContextObject>> contexts;
  std::set<Pool> pools_made;
  std::set<Stream> streams;
  std::set<Event> events;
  std::set<Module> modules;
  std::set<Link> links;
};

std::mutex mutex;
Fake fake;
std::map<std::string, fake_cuda::Kernel>& kernels() {
  static std::map<std::string, fake_cuda::Kernel> all;
  return all;
}
thread_local std::vector<Context> current;

int64_t number(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::atoll(text) : otherwise;
}

void reset() {
  fake = Fake{};
  const auto result = [](const char* name, Result otherwise) { return static_cast<Result>(number(name, static_cast<int>(otherwise))); };
  fake.devices = static_cast<int>(number("FAKE_CUDA_DEVICES", 1));
  fake.version = static_cast<int>(number("FAKE_CUDA_VERSION", 12040));
  fake.compute_mode = static_cast<int>(number("FAKE_CUDA_MODE", 0));
  fake.init = result("FAKE_CUDA_INIT", Result::success);
  fake.retain = result("FAKE_CUDA_RETAIN", Result::success);
  fake.fail = result("FAKE_CUDA_FAIL", Result::launch_failed);
  fake.link = result("FAKE_CUDA_LINK", Result::success);
  fake.pools = number("FAKE_CUDA_POOLS", 1) != 0;
  fake.peer = number("FAKE_CUDA_PEER", 1) != 0;
  fake.memory = number("FAKE_CUDA_MEMORY", int64_t{1} << 30);
  fake.pinned_limit = number("FAKE_CUDA_PINNED", INT64_MAX);
  fake.oom_at = number("FAKE_CUDA_OOM_AT", 0);
  fake.fail_at = number("FAKE_CUDA_FAIL_AT", 0);
  if (const char* missing = std::getenv("FAKE_CUDA_MISSING")) fake.missing = missing;
  if (const char* tag = std::getenv("FAKE_CUDA_TAG")) fake.tag = tag;
}

/// Every entry begins with this: counts, and fails where the real driver would before it looks at its parameters.
class Entry {
 public:
  explicit Entry(const char* name, bool needs_context = true) : lock_(mutex) {
    ++fake.calls[name];
    if (!fake.initialised)
      result_ = static_cast<Result>(3);
    else if (needs_context && current.empty())
      result_ = Result::invalid_context;
    else if (needs_context)
      result_ = fake.sticky;
  }
  explicit operator bool() const { return result_ == Result::success; }
  Result result() const { return result_; }

 private:
  std::lock_guard<std::mutex> lock_;
  Result result_{};
};

// ---- streams: work waits until somebody asks for it

/// What `work` does takes its time: others may call meanwhile.
template <class F>
void unlocked(F work) {
  mutex.unlock();
  work();
  mutex.lock();
}
void step(Stream stream) {
  if (stream->busy) return unlocked([] { std::this_thread::sleep_for(std::chrono::microseconds(20)); });  // another thread is at it
  auto work = std::move(stream->work.front());
  stream->work.pop_front();
  stream->busy = true;
  if (fake.sticky == Result::success) work();
  stream->busy = false;
}
bool idle(Stream stream) { return stream->work.empty() && !stream->busy; }
void run(Stream stream) {
  while (!idle(stream)) step(stream);
}
void run_until(Stream stream, const std::shared_ptr<bool>& reached) {
  while (!*reached && !idle(stream)) step(stream);
}
std::shared_ptr<bool> mark(Stream stream) {
  auto reached = std::make_shared<bool>(false);
  stream->work.push_back([reached] { *reached = true; });
  return reached;
}
void wait_for(Stream waiter, Stream stream, const std::shared_ptr<bool>& reached) {
  waiter->work.push_back([stream, reached] { run_until(stream, reached); });
}

// ---- memory

char* host(DevicePointer address) { return reinterpret_cast<char*>(address); }

/// Whether [address, address + bytes) is memory of some GPU that is still there; the GPU fails for good otherwise.
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
bool out_of_memory(size_t bytes, int device, bool may_wait) {
  if (++fake.allocations == fake.oom_at) return true;
  int64_t taken = used(device);
  if (may_wait) taken -= being_freed(device);
  return taken + static_cast<int64_t>(bytes) > fake.memory;
}
std::vector<Stream>& freeing() {
  static std::vector<Stream> streams;  // that were given frees
  return streams;
}

/// What a context that failed for good leaves goes with it; anything else is to be given back by who made it.
void drop_all() {
  for (const Stream stream : fake.streams) delete stream;
  for (const Event event : fake.events) delete event;
  for (const Module module : fake.modules) delete module;
  for (const Link link : fake.links) delete link;
  for (const Pool pool : fake.pools_made) delete pool;
  for (const auto& [address, block] : fake.blocks) std::free(host(address));
  for (const auto& [memory, bytes] : fake.pinned) std::free(memory);
  fake.streams.clear();
  fake.events.clear();
  fake.modules.clear();
  fake.links.clear();
  fake.pools_made.clear();
  fake.blocks.clear();
  fake.pinned.clear();
  freeing().clear();
}

// ---- the entries

Result init(unsigned) {
  const std::lock_guard lock(mutex);
  reset();
  freeing().clear();
  fake.initialised = fake.init == Result::success;
  return fake.init;
}
Result driver_get_version(int* version) {
  *version = static_cast<int>(number("FAKE_CUDA_VERSION", 12040));  // before cuInit too
  return Result::success;
}
Result get_error_name(Result result, const char** name) {
  static const std::map<Result, const char*> names = {{Result::invalid_value, "CUDA_ERROR_INVALID_VALUE"},
                                                      {Result::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                      {Result::device_unavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                                                      {Result::invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
                                                      {Result::no_binary_for_gpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                      {Result::ecc_uncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                                                      {Result::invalid_ptx, "CUDA_ERROR_INVALID_PTX"},
                                                      {Result::jit_compiler_not_found, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
                                                      {Result::unsupported_ptx_version, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                      {Result::not_found, "CUDA_ERROR_NOT_FOUND"},
                                                      {Result::illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                      {Result::launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                                                      {Result::launch_failed, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? Result::invalid_value : Result::success;
}
Result get_error_string(Result result, const char** text) {
  *text = "as the fake driver says";
  const char* name = nullptr;
  return get_error_name(result, &name);
}

Result device_get(DeviceOrdinal* device, int ordinal) {
  const Entry entry("cuDeviceGet", false);
  if (!entry) return entry.result();
  if (ordinal < 0 || ordinal >= fake.devices) return Result::invalid_device;
  *device = ordinal;
  return Result::success;
}
Result device_get_count(int* count) {
  const Entry entry("cuDeviceGetCount", false);
  *count = fake.devices;
  return entry.result();
}
Result device_get_name(char* name, int size, DeviceOrdinal) {
  const Entry entry("cuDeviceGetName", false);
  std::strncpy(name, "Fake H200", static_cast<size_t>(size));
  return entry.result();
}
Result device_get_attribute(int* value, DeviceAttribute attribute, DeviceOrdinal) {
  const Entry entry("cuDeviceGetAttribute", false);
  switch (attribute) {
    case DeviceAttribute::max_threads_per_block: *value = 1024; break;
    case DeviceAttribute::multiprocessors: *value = 4; break;
    case DeviceAttribute::compute_mode: *value = fake.compute_mode; break;
    case DeviceAttribute::memory_clock_khz: *value = 3'201'000; break;
    case DeviceAttribute::memory_bus_bits: *value = 6144; break;
    case DeviceAttribute::capability_major: *value = 9; break;
    case DeviceAttribute::capability_minor: *value = 0; break;
    case DeviceAttribute::max_shared_per_block_opt_in: *value = 227 << 10; break;
    case DeviceAttribute::pools_supported: *value = fake.pools; break;
    default: return Result::invalid_value;
  }
  return entry.result();
}
Result device_total_mem(size_t* bytes, DeviceOrdinal) {
  const Entry entry("cuDeviceTotalMem", false);
  *bytes = static_cast<size_t>(fake.memory);
  return entry.result();
}
Result device_can_access_peer(int* can, DeviceOrdinal device, DeviceOrdinal peer) {
  const Entry entry("cuDeviceCanAccessPeer", false);
  *can = fake.peer && device != peer;
  return entry.result();
}
Result device_get_p2p_attribute(int* value, PeerAttribute, DeviceOrdinal, DeviceOrdinal) {
  const Entry entry("cuDeviceGetP2PAttribute", false);
  *value = fake.peer;
  return entry.result();
}

Result primary_context_retain(Context* context, DeviceOrdinal device) {
  const Entry entry("cuDevicePrimaryCtxRetain", false);
  if (!entry) return entry.result();
  if (fake.retain != Result::success) return fake.retain;
  while (static_cast<int>(fake.contexts.size()) <= device)
    fake.contexts.push_back(std::make_unique<ContextObject>(ContextObject{static_cast<int>(fake.contexts.size())}));
  ++fake.retained[device];
  *context = fake.contexts[static_cast<size_t>(device)].get();
  return Result::success;
}
Result primary_context_release(DeviceOrdinal device) {
  const Entry entry("cuDevicePrimaryCtxRelease", false);
  if (!fake.retained.contains(device)) return Result::invalid_context;
  if (--fake.retained[device] == 0) fake.retained.erase(device);
  if (fake.retained.empty() && fake.sticky != Result::success) drop_all();
  return entry.result();
}
Result context_push_current(Context context) {
  const Entry entry("cuCtxPushCurrent", false);
  if (!entry) return entry.result();
  if (!context || !fake.retained.contains(context->device)) return Result::invalid_context;
  current.push_back(context);
  return Result::success;
}
Result context_pop_current(Context* context) {
  const Entry entry("cuCtxPopCurrent", false);
  if (current.empty()) return Result::invalid_context;
  *context = current.back();
  current.pop_back();
  return entry.result();
}
Result context_enable_peer_access(Context peer, unsigned) {
  const Entry entry("cuCtxEnablePeerAccess");
  if (!entry) return entry.result();
  return fake.peer && peer != current.back() ? Result::success : Result::invalid_device;
}

Result stream_create(Stream* stream, unsigned flags) {
  const Entry entry("cuStreamCreate");
  if (!entry) return entry.result();
  if (flags != kStreamNonBlocking) return Result::invalid_value;
  *stream = new StreamObject{current.back()->device, {}};
  fake.streams.insert(*stream);
  return Result::success;
}
Result stream_destroy(Stream stream) {
  const Entry entry("cuStreamDestroy");
  if (!entry) return entry.result();
  run(stream);
  std::erase(freeing(), stream);
  fake.streams.erase(stream);
  delete stream;
  return Result::success;
}
Result stream_synchronize(Stream stream) {
  const Entry entry("cuStreamSynchronize");
  if (!entry) return entry.result();
  run(stream);
  return fake.sticky;
}
Result stream_query(Stream stream) {
  const Entry entry("cuStreamQuery");
  if (!entry) return entry.result();
  if (idle(stream)) return Result::success;
  if (!stream->busy) step(stream);  // time passes
  return fake.sticky != Result::success ? fake.sticky : Result::not_ready;
}
Result stream_wait_event(Stream stream, Event event, unsigned) {
  const Entry entry("cuStreamWaitEvent");
  if (!entry) return entry.result();
  if (event->reached && !*event->reached) wait_for(stream, event->stream, event->reached);
  return Result::success;
}
Result event_create(Event* event, unsigned flags) {
  const Entry entry("cuEventCreate");
  if (!entry) return entry.result();
  if (flags != kEventDisableTiming) return Result::invalid_value;
  *event = new EventObject{current.back()->device, nullptr, nullptr};
  fake.events.insert(*event);
  return Result::success;
}
Result event_destroy(Event event) {
  const Entry entry("cuEventDestroy");
  if (!entry) return entry.result();
  fake.events.erase(event);
  delete event;
  return Result::success;
}
Result event_record(Event event, Stream stream) {
  const Entry entry("cuEventRecord");
  if (!entry) return entry.result();
  if (event->device != stream->device) return static_cast<Result>(400);  // as the real one: they must be of one context
  event->stream = stream;
  event->reached = mark(stream);
  return Result::success;
}
Result event_synchronize(Event event) {
  const Entry entry("cuEventSynchronize");
  if (!entry) return entry.result();
  if (event->reached && !*event->reached) run_until(event->stream, event->reached);
  return fake.sticky;
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

Result memcpy_host_to_device_async(DevicePointer to, const void* from, size_t bytes, Stream stream) {
  const Entry entry("cuMemcpyHtoDAsync");
  if (!entry) return entry.result();
  if (is_pinned(from, bytes)) {
    stream->work.push_back([=] {
      if (valid(to, bytes)) std::memcpy(host(to), from, bytes);
    });
  } else {
    auto copy = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
    stream->work.push_back([=] {
      if (valid(to, bytes)) std::memcpy(host(to), copy->data(), bytes);
    });
  }
  return Result::success;
}
Result memcpy_device_to_host_async(void* to, DevicePointer from, size_t bytes, Stream stream) {
  const Entry entry("cuMemcpyDtoHAsync");
  if (!entry) return entry.result();
  stream->work.push_back([=] {
    if (valid(from, bytes)) std::memcpy(to, host(from), bytes);
  });
  if (!is_pinned(to, bytes)) run(stream);
  return fake.sticky;
}
Result memcpy_device_to_device_async(DevicePointer to, DevicePointer from, size_t bytes, Stream stream) {
  const Entry entry("cuMemcpyDtoDAsync");
  if (!entry) return entry.result();
  stream->work.push_back([=] {
    if (valid(to, bytes) && valid(from, bytes)) std::memmove(host(to), host(from), bytes);
  });
  return Result::success;
}
Result memcpy_peer_async(DevicePointer to, Context to_context, DevicePointer from, Context from_context, size_t bytes, Stream stream) {
  const Entry entry("cuMemcpyPeerAsync");
  if (!entry) return entry.result();
  stream->work.push_back([=] {
    if (!valid(to, bytes) || !valid(from, bytes)) return;
    const auto device = [](DevicePointer address) { return std::prev(fake.blocks.upper_bound(address))->second.device; };
    if (device(to) != to_context->device || device(from) != from_context->device)
      fake.sticky = Result::illegal_address;
    else
      std::memcpy(host(to), host(from), bytes);
  });
  return Result::success;
}
Result memset_d8_async(DevicePointer to, unsigned char value, size_t bytes, Stream stream) {
  const Entry entry("cuMemsetD8Async");
  if (!entry) return entry.result();
  stream->work.push_back([=] {
    if (valid(to, bytes)) std::memset(host(to), value, bytes);
  });
  return Result::success;
}

// Machine code is "fake cubin <tag>\n" and the PTX.
Result link_create(unsigned count, JitOption* options, void** values, Link* link) {
  const Entry entry("cuLinkCreate");
  if (!entry) return entry.result();
  *link = new LinkObject{};
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitOption::error_log) (*link)->log = static_cast<char*>(values[i]);
    if (options[i] == JitOption::error_log_bytes) (*link)->log_bytes = reinterpret_cast<size_t>(values[i]);
  }
  fake.links.insert(*link);
  return Result::success;
}
Result link_add_data(Link link, JitInput type, void* data, size_t bytes, const char*, unsigned, JitOption*, void**) {
  const Entry entry("cuLinkAddData");
  if (!entry) return entry.result();
  if (type != JitInput::ptx || bytes == 0 || static_cast<char*>(data)[bytes - 1] != 0) return Result::invalid_value;
  if (fake.link != Result::success) {
    if (link->log) std::strncpy(link->log, "ptxas fatal   : line 7\nUnresolved extern function 'nowhere'\n", link->log_bytes);
    return fake.link;
  }
  link->text = "fake cubin " + fake.tag + "\n" + static_cast<char*>(data);
  return Result::success;
}
Result link_complete(Link link, void** cubin, size_t* bytes) {
  const Entry entry("cuLinkComplete");
  if (!entry) return entry.result();
  *cubin = link->text.data();
  *bytes = link->text.size();
  return Result::success;
}
Result link_destroy(Link link) {
  const Entry entry("cuLinkDestroy");
  if (!entry) return entry.result();
  fake.links.erase(link);
  delete link;
  return Result::success;
}
Result module_load_data(Module* module, const void* image) {
  const Entry entry("cuModuleLoadData");
  if (!entry) return entry.result();
  const std::string_view text = static_cast<const char*>(image);
  if (!text.starts_with("fake cubin " + fake.tag + "\n")) return Result::no_binary_for_gpu;
  *module = new ModuleObject{std::string(text), {}};
  fake.modules.insert(*module);
  return Result::success;
}
Result module_unload(Module module) {
  const Entry entry("cuModuleUnload");
  if (!entry) return entry.result();
  fake.modules.erase(module);
  delete module;
  return Result::success;
}
Result module_get_function(Function* function, Module module, const char* name) {
  const Entry entry("cuModuleGetFunction");
  if (!entry) return entry.result();
  const size_t at = module->text.find(".entry " + std::string(name) + "(");
  if (at == std::string::npos) return Result::not_found;
  const std::string head = module->text.substr(at, module->text.find(')', at) - at);
  size_t parameters = 0;
  for (size_t p = head.find(".param"); p != std::string::npos; p = head.find(".param", p + 1)) ++parameters;
  module->functions.push_back(std::make_unique<FunctionObject>(FunctionObject{name, parameters}));
  *function = module->functions.back().get();
  return Result::success;
}
Result function_set_attribute(Function function, FunctionAttribute attribute, int value) {
  const Entry entry("cuFuncSetAttribute");
  if (!entry) return entry.result();
  if (attribute != FunctionAttribute::max_dynamic_shared_bytes || value > (227 << 10)) return Result::invalid_value;
  function->most_shared = value;
  return Result::success;
}
Result occupancy_max_active_blocks(int* blocks, Function, int threads, size_t shared_bytes) {
  const Entry entry("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = std::min(2048 / threads, static_cast<int>((228u << 10) / (shared_bytes + 1024)));
  return entry.result();
}
Result launch_kernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void**) {
  const Entry entry("cuLaunchKernel");
  if (!entry) return entry.result();
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_y != 1 || block_z != 1) return Result::invalid_value;
  if (block_x > 1024 || static_cast<int>(shared_bytes) > function->most_shared) return Result::launch_out_of_resources;
  std::vector<uint64_t> values;
  for (size_t i = 0; i < function->parameters; ++i) values.push_back(*static_cast<uint64_t*>(parameters[i]));
  const bool fails = ++fake.launches == fake.fail_at;
  stream->work.push_back([=, symbol = function->symbol, values = std::move(values)] {
    const auto kernel = kernels().find(symbol);
    if (fails)
      fake.sticky = fake.fail;
    else if (kernel != kernels().end())
      unlocked([&] { kernel->second(values.data(), grid_x, block_x, shared_bytes); });
  });
  return Result::success;
}

struct Symbol {
  const char* name;
  int version;
  void* address;
};
template <class F>
Symbol symbol(const char* name, int version, F* f) {
  return {name, version, reinterpret_cast<void*>(f)};
}

/// The entry by its name, if it had these parameters at that version already.
Result find_entry(const char* name, void** address, int version) {
  static const std::vector<Symbol> all = {
      symbol("cuGetErrorName", 6000, get_error_name),
      symbol("cuGetErrorString", 6000, get_error_string),
      symbol("cuDriverGetVersion", 2020, driver_get_version),
      symbol("cuDeviceGet", 2000, device_get),
      symbol("cuDeviceGetCount", 2000, device_get_count),
      symbol("cuDeviceGetName", 2000, device_get_name),
      symbol("cuDeviceGetAttribute", 2000, device_get_attribute),
      symbol("cuDeviceTotalMem", 3020, device_total_mem),
      symbol("cuDeviceCanAccessPeer", 4000, device_can_access_peer),
      symbol("cuDeviceGetP2PAttribute", 8000, device_get_p2p_attribute),
      symbol("cuDevicePrimaryCtxRetain", 7000, primary_context_retain),
      symbol("cuDevicePrimaryCtxRelease", 11000, primary_context_release),
      symbol("cuCtxPushCurrent", 4000, context_push_current),
      symbol("cuCtxPopCurrent", 4000, context_pop_current),
      symbol("cuCtxEnablePeerAccess", 4000, context_enable_peer_access),
      symbol("cuStreamCreate", 2000, stream_create),
      symbol("cuStreamDestroy", 4000, stream_destroy),
      symbol("cuStreamSynchronize", 2000, stream_synchronize),
      symbol("cuStreamQuery", 2000, stream_query),
      symbol("cuStreamWaitEvent", 3020, stream_wait_event),
      symbol("cuEventCreate", 2000, event_create),
      symbol("cuEventDestroy", 4000, event_destroy),
      symbol("cuEventRecord", 2000, event_record),
      symbol("cuEventSynchronize", 2000, event_synchronize),
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
      symbol("cuMemHostAlloc", 2020, host_alloc),
      symbol("cuMemFreeHost", 2000, host_free),
      symbol("cuMemcpyHtoDAsync", 3020, memcpy_host_to_device_async),
      symbol("cuMemcpyDtoHAsync", 3020, memcpy_device_to_host_async),
      symbol("cuMemcpyDtoDAsync", 3020, memcpy_device_to_device_async),
      symbol("cuMemcpyPeerAsync", 4000, memcpy_peer_async),
      symbol("cuMemsetD8Async", 3020, memset_d8_async),
      symbol("cuLinkCreate", 6050, link_create),
      symbol("cuLinkAddData", 6050, link_add_data),
      symbol("cuLinkComplete", 5050, link_complete),
      symbol("cuLinkDestroy", 5050, link_destroy),
      symbol("cuModuleLoadData", 2000, module_load_data),
      symbol("cuModuleUnload", 2000, module_unload),
      symbol("cuModuleGetFunction", 2000, module_get_function),
      symbol("cuFuncSetAttribute", 9000, function_set_attribute),
      symbol("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, occupancy_max_active_blocks),
      symbol("cuLaunchKernel", 4000, launch_kernel),
  };
  *address = nullptr;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Symbol& s) { return std::string_view(s.name) == name; });
  if (found == all.end() || fake.missing == name || version < found->version) return Result::not_found;
  *address = found->address;
  return Result::success;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) Result cuInit(unsigned flags) { return init(flags); }
__attribute__((visibility("default"))) Result cuDriverGetVersion(int* version) { return driver_get_version(version); }
__attribute__((visibility("default"))) Result cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t,
                                                                  ProcStatus* status) {
  const Result result = find_entry(name, address, version);
  if (status) *status = result == Result::success ? ProcStatus::success : static_cast<ProcStatus>(1);
  return result;
}
__attribute__((visibility("default"))) Result cuGetProcAddress(const char* name, void** address, int version, uint64_t) {
  return find_entry(name, address, version);
}

__attribute__((visibility("default"))) void fake_cuda_define(const char* symbol, fake_cuda::Kernel kernel) { kernels()[symbol] = kernel; }
__attribute__((visibility("default"))) int64_t fake_cuda_calls(const char* entry) {
  const std::lock_guard lock(mutex);
  return fake.calls[entry];
}
__attribute__((visibility("default"))) int64_t fake_cuda_alive(const char* kind) {
  const std::lock_guard lock(mutex);
  int64_t bytes = 0;
  for (const auto& [address, block] : fake.blocks) bytes += static_cast<int64_t>(block.bytes);
  const std::map<std::string_view, int64_t> alive = {
      {"memory", std::ssize(fake.blocks)},   {"pinned", std::ssize(fake.pinned)},    {"stream", std::ssize(fake.streams)},
      {"event", std::ssize(fake.events)},    {"module", std::ssize(fake.modules)},   {"link", std::ssize(fake.links)},
      {"pool", std::ssize(fake.pools_made)}, {"context", std::ssize(fake.retained)}, {"bytes", bytes}};
  return alive.at(kind);
}

}  // extern "C"
