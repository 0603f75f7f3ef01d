#include "runtime/session/memory_watch.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "lang/diagnostic.h"
#include "runtime/device/machine.h"
#include "runtime/device/pages.h"
#include "runtime/device/sandbox.h"
#include "runtime/device/storage.h"

namespace gasell {
namespace {

constexpr std::chrono::milliseconds kPause{25};
constexpr int kIdlePauses = 40;                        // so long after the last run the thread sleeps
constexpr int64_t kLeftToOthers = int64_t{256} << 20;  // compilers, caches, what the allocator keeps
constexpr double kMostOfMachine = 0.95;
constexpr int64_t kLarge = int64_t{16} << 20;  // single objects below it are left to the thread
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kWatches = false;  // their shadows and what they keep count as well
#else
constexpr bool kWatches = true;
#endif

/// Bytes of this process in memory that no file backs.
int64_t anonymous_bytes() {
  char text[128];
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  char* end = text;
  std::strtoll(end, &end, 10);  // address space
  const int64_t resident = std::strtoll(end, &end, 10), of_files = std::strtoll(end, &end, 10);
  return (resident - of_files) * page_size();
}

}  // namespace

MemoryWatch::MemoryWatch(int64_t limit) : limit_(limit) {}

MemoryWatch::~MemoryWatch() {
  confine(nullptr);
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void MemoryWatch::own_process() {
  own_process_ = true;
  before_ = anonymous_bytes();
}

void MemoryWatch::begin() {
  if (!kWatches || depth_++ > 0) return;
  over_ = false;
  if (!own_process_) fresh_ = true;
  running_ = true;
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { watch(); });
    return;
  }
  const std::lock_guard lock(mutex_);
  if (asleep_) changed_.notify_one();
}

void MemoryWatch::end() {
  if (kWatches && --depth_ == 0) running_ = false;
}

int64_t MemoryWatch::limit() const {
  static const auto machine = static_cast<int64_t>(kMostOfMachine * static_cast<double>(machine_memory()));
  const int64_t before = before_, wanted = std::min(limit_, machine) + kLeftToOthers;
  return before + std::max(kLeftToOthers, std::min(wanted, machine - before));
}

void MemoryWatch::confine(Sandbox* sandbox) {
  if (sandbox_) sandbox_->account().over = nullptr;
  sandbox_ = sandbox;
  if (sandbox_) sandbox_->account().over = &over_;
}

void MemoryWatch::check() {
  if (!over_.exchange(false)) return;
  if (sandbox_ && sandbox_->account().is_over())
    throw Error("MemoryError", "the script's objects take more memory than they may", sandbox_->memory_in_use(), Blame::environment);
  if (anonymous_bytes() > limit())
    throw Error("MemoryError", "the script's objects take more memory than there is",
                "--memory, or the engine's option, says how much there is", Blame::environment);
}

void MemoryWatch::require(int64_t bytes) const {
  if (sandbox_) sandbox_->require_room(bytes);
  if (bytes < kLarge || bytes <= limit() - (kWatches ? anonymous_bytes() : 0)) return;
  throw Error("MemoryError", "Unable to allocate " + memory_text(bytes), "--memory, or the engine's option, says how much there is",
              Blame::environment);
}

void MemoryWatch::watch() {
  std::unique_lock lock(mutex_);
  for (int idle = 0; !closing_;) {
    if (running_) {
      idle = 0;
      lock.unlock();
      int64_t now = anonymous_bytes();
      if (fresh_.exchange(false)) before_ = now;
      if (now > limit()) {
        malloc_trim(0);  // what was freed does not count
        now = anonymous_bytes();
        if (now > limit()) over_ = true;
      }
      lock.lock();
    } else if (++idle > kIdlePauses) {
      asleep_ = true;
      changed_.wait(lock, [&] { return closing_ || running_; });
      asleep_ = false;
      continue;
    }
    changed_.wait_for(lock, kPause, [&] { return closing_; });
  }
}

}  // namespace gasell
