// Threads of a script: threading.Thread.
//
// They share the session's objects, as in CPython, and like there one of them at a time has the interpreter. It gives the interpreter up
// where it waits (for a lock, for another thread, for time to pass, for tasks), where it starts another thread, where it ends, and at the
// end of a loop's body or at a call when others have waited for kSlice. Each has a system thread and a stack of its own; what the session
// knows of the running code (its frames, the values on its stack, the exception that is handled) goes and comes with it.
//
// An interrupt is the main thread's. Threads that have not ended when the session does never get the interpreter again.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/session/evaluator.h"

namespace gasell {

class ScriptThreads : public std::enable_shared_from_this<ScriptThreads> {
 public:
  /// Tries to take what a thread waits for: whether it has it now. Called by whoever gives up the interpreter, so it touches no objects.
  using Attempt = std::function<bool()>;

  /// Those of a session, made at the first look.
  static ScriptThreads& of(Session& session);

  explicit ScriptThreads(Session& session);
  ~ScriptThreads();
  ScriptThreads(const ScriptThreads&) = delete;
  ScriptThreads& operator=(const ScriptThreads&) = delete;

  /// A thread that calls `target`, whose exceptions nobody sees; it has the interpreter next. RuntimeError where there are too many.
  int64_t start(Value target, bool daemon);
  /// The number of the thread that runs: 1 is the main one.
  int64_t current() const { return running_->number; }
  bool is_main() const { return running_ == main_.get(); }
  /// Whether there are others.
  bool several() const { return threads_.size() > 1; }

  /// Lets others run until `attempt` (null: nothing) succeeds, for so many seconds (negative: for ever); whether it did. `outside`: what it
  /// looks at is changed by others than threads of scripts, too. Throws Interrupted.
  bool wait(const Attempt& attempt, double seconds, bool outside = false);
  /// Lets others run once.
  void pause();
  /// Lets the main thread run, which has been interrupted.
  void wake_main();
  /// Waits until all have ended that are no daemons.
  void finish();
  /// The session ends: no other thread runs any more.
  void close();

 private:
  /// How long a thread has the interpreter while others want it.
  static constexpr std::chrono::milliseconds kSlice{5};
  static constexpr size_t kMost = 1000;
  struct Thread {
    int64_t number = 0;
    bool daemon = false, done = false;
    std::thread thread;
    std::condition_variable turn;
    const Attempt* attempt = nullptr;  // of one that waits
    bool waits = false, outside = false, there = false;
    // What the session holds of it while it runs.
    ValueStack stack;
    int depth = 0;
    const Frame* frame = nullptr;
    Value handling, raised;
    CallProfile* profile = nullptr;
  };
  using Lock = std::unique_lock<std::mutex>;

  void exchange(Thread& thread);
  void give_up(Thread& thread, Lock& lock);
  void take_turn(Thread& thread, Lock& lock, std::chrono::steady_clock::time_point end);
  void next();
  void make_ready(Thread& thread);
  void work(Thread& thread, Value target);
  void join_ended();

  Session& session_;
  std::mutex mutex_;  // of all that follows; what only the running thread changes is read by it without
  std::shared_ptr<Thread> main_;
  std::vector<std::shared_ptr<Thread>> threads_;
  std::deque<Thread*> ready_, waiting_;
  Thread* running_ = nullptr;  // null: all wait
  int64_t last_number_ = 1;
  bool closed_ = false;
};

}  // namespace gasell
