#include "gpu/fake_cuda/state.h"

#include <cstdlib>

namespace fake_cuda {

std::mutex mutex;
Fake fake;
thread_local std::vector<Context> current;

std::map<std::string, Kernel>& kernels() {
  static std::map<std::string, Kernel> all;
  return all;
}
std::vector<Stream>& freeing() {
  static std::vector<Stream> streams;
  return streams;
}

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

void drop_all() {
  for (const Stream stream : fake.streams) delete stream;
  for (const Event event : fake.events) delete event;
  for (const Module module : fake.modules) delete module;
  for (const Link link : fake.links) delete link;
  for (const Pool pool : fake.pools_made) delete pool;
  for (const auto& [address, block] : fake.blocks) std::free(reinterpret_cast<char*>(address));
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

}  // namespace fake_cuda
