// What a session of a host program takes, where it may not take all that the engine has: arrays, and the heap of its objects and code.
//
// libgasell counts the heap (tools/libgasell/counted_heap.cpp); the command, where one script has the process, does not.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gasell {

struct HeapAccount {
  const int64_t limit;  // 0: none, and the heap is not counted
  std::atomic<int64_t> used{0};
  std::atomic<bool>* over = nullptr;  // set where more is used than the limit

  bool is_over() const noexcept { return limit > 0 && used.load(std::memory_order_relaxed) > limit; }
  void add(int64_t bytes) noexcept {
    used.fetch_add(bytes, std::memory_order_relaxed);
    if (over && is_over()) over->store(true, std::memory_order_relaxed);
  }
  bool has_room(int64_t bytes) const noexcept { return limit == 0 || bytes <= limit - used.load(std::memory_order_relaxed); }
};

/// On whose account a thread takes memory of the heap, and what was not added to it yet.
class HeapTally {
 public:
  static HeapTally& of_thread() noexcept { return of_thread_; }
  HeapAccount* account() const noexcept { return account_; }
  void add(int64_t bytes) noexcept {
    pending_ += bytes;
    if (pending_ > kMostPending || pending_ < -kMostPending) flush();
  }
  /// What follows is on another account; gives the one before. Null: on nobody's.
  HeapAccount* turn_to(HeapAccount* account) noexcept {
    if (pending_ != 0) flush();
    return std::exchange(account_, account);
  }

 private:
  static constexpr int64_t kMostPending = 16 << 10;
  void flush() noexcept;

  HeapAccount* account_ = nullptr;
  int64_t pending_ = 0;
  static constinit thread_local HeapTally of_thread_;  // NOLINT(readability-identifier-naming): a member
};

/// What is taken in a scope is nobody's: what all sessions share, or code that has no way to tell that memory is short.
class Uncounted {
 public:
  Uncounted() noexcept : before_(HeapTally::of_thread().turn_to(nullptr)) {}
  ~Uncounted() { HeapTally::of_thread().turn_to(before_); }
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
  /// So much of it is on the account all the same.
  void but(int64_t bytes) const noexcept {
    if (before_) before_->add(bytes);
  }

 private:
  HeapAccount* const before_;
};

}  // namespace gasell
