#include "runtime/device/workers.h"

#include <algorithm>
#include <atomic>

#ifdef __SANITIZE_THREAD__
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#else
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <mutex>
#include <optional>

#include "runtime/device/sandbox.h"
#endif

namespace gasell {

#ifdef __SANITIZE_THREAD__

namespace {

int cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

void share(int count, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const std::shared_ptr<Sandbox>& sandbox = current_sandbox();
  for (int k = 1; k < count; ++k)
    others.emplace_back([&] {
      const InSandbox confined(sandbox);
      guarded();
    });
  guarded();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}
void share_alone(int count, const std::function<void()>& work) { share(count, work); }

}  // namespace

struct Workers::Threads {};

Workers::Workers(int) {}
void Workers::run(int count, const std::function<void()>& work) { share(count, work); }

#else

namespace {

int cores() { return tbb::this_task_arena::max_concurrency(); }

void share(int count, const std::function<void()>& work) {
  tbb::task_group group;
  const std::shared_ptr<Sandbox>& sandbox = current_sandbox();
  for (int k = 1; k < count; ++k)
    group.run([&work, &sandbox] {
      const InSandbox confined(sandbox);
      work();
    });
  // Waits for all, also after an exception. A helper that has not woken when nothing is left is run here, and returns at once.
  group.run_and_wait([&work] { work(); });
}
void share_alone(int count, const std::function<void()>& work) {
  tbb::this_task_arena::isolate([&] { share(count, work); });
}

}  // namespace

struct Workers::Threads {
  explicit Threads(int count) : count(count) {}

  const int count;
  std::once_flag made;
  std::optional<tbb::global_control> more;
  tbb::task_arena arena;
};

Workers::Workers(int threads) : threads_(std::make_unique<Threads>(threads)) {}

void Workers::run(int count, const std::function<void()>& work) {
  std::call_once(threads_->made, [this] {
    // oneTBB runs no more threads than the machine has cores unless told to.
    if (threads_->count > tbb::info::default_concurrency())
      threads_->more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads_->count));
    threads_->arena.initialize(threads_->count);
  });
  // Where more threads come than the arena has room for, one of its own does this one's part.
  const std::shared_ptr<Sandbox>& sandbox = current_sandbox();
  threads_->arena.execute([&] {
    const InSandbox confined(sandbox);
    share(count, work);
  });
}

#endif

Workers::~Workers() = default;

void in_parallel(int64_t count, const std::function<void(int64_t)>& f) {
  std::atomic<int64_t> next{0};
  share_alone(static_cast<int>(std::min<int64_t>(count, cores())), [&] {
    for (int64_t k; (k = next.fetch_add(1)) < count;) {
      try {
        f(k);
      } catch (...) {
        next = count;
        throw;
      }
    }
  });
}

}  // namespace gasell
