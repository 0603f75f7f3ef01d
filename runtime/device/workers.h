// Threads that share one piece of work. They are oneTBB's, but not in builds for ThreadSanitizer: oneTBB comes uninstrumented, so that what
// its tasks do would seem to race with the code that hands them out and waits for them. There each piece of work starts threads of its own,
// which ThreadSanitizer follows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace gasell {

class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  /// Calls work() on this thread and on up to count - 1 others at the same time; the later ones may come when nothing is left to do.
  /// Returns when all have returned; throws one of their exceptions.
  void run(int count, const std::function<void()>& work);

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

/// Calls f(0) to f(count - 1) on the process's cores, this thread among them, which takes up no other work while it waits, so it may hold
/// locks. After an exception no more calls begin; one of them is thrown.
void in_parallel(int64_t count, const std::function<void(int64_t)>& f);

}  // namespace gasell
