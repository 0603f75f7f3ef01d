// What a program finds in the fake driver's library: CUDA's way to its entries, and what tests ask.
#include "gpu/fake_cuda/fake_cuda.h"

#include <algorithm>
#include <string_view>

#include "gpu/fake_cuda/state.h"

using namespace fake_cuda;

namespace {

Result init(unsigned) {
  const std::lock_guard lock(mutex);
  reset();
  freeing().clear();
  fake.initialised = fake.init == Result::success;
  return fake.init;
}

std::vector<Symbol> all_entries() {
  std::vector<Symbol> all;
  for (const auto& some : {devices_entries(), streams_entries(), memory_entries(), copies_entries(), kernels_entries()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// The entry by its name, if it had these parameters at that version already.
Result find_entry(const char* name, void** address, int version) {
  static const std::vector<Symbol> all = all_entries();
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
