// That lists, texts, dicts and all else that scripts make stays within the memory that the engine may take.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace gasell {

class Sandbox;

/// Arrays and what compiled functions make ask the engine's budget (runtime/device/storage.h). Objects of scripts are many and small: what
/// they take is seen from outside, as memory of this process that no file backs. A thread looks at it forty times a second while a script
/// runs; beyond the limit, over() is true until check(), and the script gets a MemoryError at its next step. Large single objects ask
/// require() before they are made.
class MemoryWatch {
 public:
  /// `limit`: bytes that the engine may take. Some more are left to compilers, caches and what the allocator keeps.
  explicit MemoryWatch(int64_t limit);
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// All of the process's memory counts from now on. Else, in a host program that has memory of its own, what is added from the beginning
  /// of each run on.
  void own_process();

  /// The session that scripts run in: beyond its own limit, too, over() is true.
  void confine(Sandbox* sandbox);

  /// A script begins to run, or has ended. Runs may be nested.
  void begin();
  void end();

  bool over() const noexcept { return over_.load(std::memory_order_relaxed); }
  /// Throws MemoryError where it still is over; over() no longer is. What took the memory may have gone since.
  void check();

  /// Throws MemoryError where an object of so many bytes is more than what is left.
  void require(int64_t bytes) const;

 private:
  int64_t limit() const;
  void watch();

  const int64_t limit_;
  std::atomic<int64_t> before_{0};  // what the process had when counting began
  std::atomic<bool> over_{false}, running_{false}, fresh_{false};
  bool own_process_ = false;
  Sandbox* sandbox_ = nullptr;
  int depth_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool asleep_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace gasell
