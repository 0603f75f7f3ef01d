// What the fake driver knows: its objects, how it is to behave, and what every entry begins with.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpu/fake_cuda/fake_cuda.h"
#include "runtime/gpu/cuda/driver.h"

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
  bool timed = false;
  std::shared_ptr<std::chrono::steady_clock::time_point> when;  // it was reached, of a timed one
};
struct ModuleObject {
  std::string text;
  int device;
  std::vector<std::unique_ptr<FunctionObject>> functions;
  std::map<std::string, DevicePointer> globals;
};
struct FunctionObject {
  std::string symbol;
  size_t parameters;
  Module module;
  int most_shared = 48 << 10, carveout = -1;
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

namespace fake_cuda {

using namespace gasell::cuda;

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

extern std::mutex mutex;  // each entry holds it
extern Fake fake;
extern thread_local std::vector<Context> current;
std::map<std::string, Kernel>& kernels();
std::vector<Stream>& freeing();  // streams that were given frees

/// A number of the environment.
int64_t number(const char* name, int64_t otherwise);
/// Forgets everything, and reads from the environment how to behave.
void reset();
/// What a context that failed for good leaves goes with it; anything else is to be given back by who made it.
void drop_all();

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

Result driver_get_version(int* version);

/// An entry, and the first version of CUDA that has it with these parameters.
struct Symbol {
  const char* name;
  int version;
  void* address;
};
template <class F>
Symbol symbol(const char* name, int version, F* f) {
  return {name, version, reinterpret_cast<void*>(f)};
}
std::vector<Symbol> devices_entries();
std::vector<Symbol> streams_entries();
std::vector<Symbol> memory_entries();
std::vector<Symbol> copies_entries();
std::vector<Symbol> kernels_entries();

}  // namespace fake_cuda
