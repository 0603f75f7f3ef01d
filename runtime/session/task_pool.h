// Calls that run beside a session, on threads that each have an interpreter of their own: what Dask's tasks and futures, executors and
// joblib stand on.
//
// A task is a parcel of a function and one of its arguments (parcel.h); results of other tasks may be among the arguments. Its result, or
// its exception with the places in the user's text, is a parcel, too, which whoever wants the value unpacks. A worker has an engine made
// from the session's (Engine(Engine&)), its globals are what comes with the functions, its np.random and warnings are its own.
//
// What runs where. A task gives what the call would give in the session, so a call that could be told from a copy runs in the session
// itself (start() says so by giving nothing):
//   - what does not cross: open files, generators, compiled functions, generators of random numbers …
//   - a function whose text changes what is outside of it (globals, variables of functions around it),
//   - a function whose text may change what it is given, where objects that can be changed are given to it.
// So does a function that took less than kShort when it last ran, and does not wait: handing it over would take longer.
//
// A worker that waits for a task lets another thread work meanwhile, so that tasks may wait for tasks. Output of tasks is written by the
// session's thread, whole lines, when it writes, asks for tasks or waits. A result that does not cross (a generator) is made again by who
// asks for it, where the function does nothing else that is seen; else it is refused. Where GPUs are, whoever runs has the turn
// (Engine::Turn).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/device/sandbox.h"
#include "runtime/session/carrier.h"
#include "runtime/session/task_board.h"

namespace gasell {

class TaskPool;

/// How long the calls of a function take.
struct CallTimes {
  std::atomic<double> seconds{-1};  // -1: it never ran
  std::atomic<bool> waits{false};   // one of them asked for what other tasks give
  void note(double taken);
};

class Task {
 public:
  enum class State : uint8_t { waiting, ready, running, finished, failed, cancelled };
  /// It runs even where nobody asks for its result any more.
  void detach() { detached_ = true; }
  State state() const { return state_.load(std::memory_order_acquire); }
  bool done() const { return state() >= State::finished; }
  /// Of a task that is done: when, among all.
  uint64_t order() const { return order_; }

 private:
  friend class TaskPool;
  friend class TaskObject;
  friend struct PackedResult;
  std::atomic<State> state_{State::waiting};
  uint64_t order_ = 0;
  std::shared_ptr<const Parcel> function_;
  Parcel arguments_;  // a tuple of the positional ones, and a dict
  std::shared_ptr<CallTimes> times_;
  std::vector<std::shared_ptr<Task>> needs_;       // until it runs
  std::vector<std::shared_ptr<Task>> dependents_;  // that wait for it
  size_t missing_ = 0;
  int attempts_ = 1;
  std::atomic<bool> detached_{false};  // it runs though nobody has a future of it
  Parcel outcome_;                     // the value or the exception
  bool repeated_ = false;              // the value does not cross: who wants it calls the function again
  std::shared_ptr<Task> failed_for_;   // the task whose exception it has
};
using TaskRef = std::shared_ptr<Task>;

/// A task among the arguments of another.
class TaskObject final : public Object {
 public:
  explicit TaskObject(TaskRef t, std::shared_ptr<TaskPool> p) : task(std::move(t)), pool(std::move(p)) {}
  ~TaskObject() override;
  const Type& type() const override;

  const TaskRef task;
  const std::shared_ptr<TaskPool> pool;
  Value kept = Value::absent();  // its value in this session, once asked for
};

/// While it lives, others have the turn at the GPUs: around what waits.
class LeavesTurn {
 public:
  explicit LeavesTurn(Session& session);
  ~LeavesTurn();
  LeavesTurn(const LeavesTurn&) = delete;
  LeavesTurn& operator=(const LeavesTurn&) = delete;

 private:
  Session* session_ = nullptr;  // null: it had none
};

class TaskPool : public std::enable_shared_from_this<TaskPool> {
 public:
  /// The pool of a session, or the one that it works for.
  static std::shared_ptr<TaskPool> of(Session& session);

  explicit TaskPool(Session& home);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;
  bool is_home(const Session& session) const { return &session == &home_; }
  /// Interrupts what runs, and waits for the threads. The session is still whole.
  void close();

  /// How many tasks run at the same time at most.
  void set_threads(int threads);
  int threads() const;

  /// A task of function(*positional, **keywords), which runs as soon as it can, again after an exception `retries` times; null: it has to
  /// be called here. `even_short`: also where that takes longer. Tasks among the arguments (TaskObject) stand for their results.
  TaskRef start(Session& session, const Value& function, const Value& positional, const Value& keywords, int retries, bool even_short);
  /// What a call in the session took, for the next ones.
  void note_call(const Value& function, double seconds);

  /// Waits until `count` of the tasks are done, for so many seconds (negative: for ever); whether they are. Throws Interrupted.
  bool wait(Session& session, const std::vector<TaskRef>& tasks, size_t count, double seconds);
  /// Waits until something is so, which `enough` finds out and wake() says may have changed.
  bool wait_until(Session& session, const std::function<bool()>& enough, double seconds);
  void wake();
  /// What a script's sessions share by name.
  TaskBoard board;
  /// Says of the function that runs in a session as a task that it may wait: its calls stay on workers, however short they were.
  void note_waits(const Session& session);

  /// Waits until all are done or one has failed; then the others are cancelled, and it is what is given, else null.
  TaskRef wait_for_all(Session& session, const std::vector<TaskRef>& tasks);
  /// The value of a finished task, or an absent one.
  Value value(Session& session, const TaskRef& task);
  /// The exception of a failed task.
  Value exception(Session& session, const TaskRef& task);
  /// Whether it had not ended.
  bool cancel(const TaskRef& task);
  /// Ends all that waits and runs.
  void interrupt();
  /// Writes what tasks have printed.
  void flush(Session& session);

  /// The value of a finished task, in a carrier's session.
  static Value result(Carrier& carrier, const Task& task);

 private:
  /// How often one who waits looks for an interrupt and for output.
  static constexpr std::chrono::milliseconds kLook{20};
  static Value call(Carrier& carrier, const Task& task);
  struct Flushing;
  struct Worker {
    std::thread thread;
    Engine* engine = nullptr;  // while it is there
    const Session* session = nullptr;
    std::shared_ptr<CallTimes> calls;  // of the function that runs
    bool working = false;
  };
  bool may_run_beside() const;
  void take_output();
  void work(Worker& worker);
  void run(Session& session, const TaskRef& task, const bool& printed);
  /// Sets what became of it; what needs it becomes ready, or fails with it.
  void finish(const TaskRef& task, Task::State state);
  void make_ready(const TaskRef& task);
  void more_workers();
  std::shared_ptr<CallTimes> times_of(const Value& function);
  void print(std::string_view text);

  Session& home_;
  Engine base_;  // of which the workers' are made
  const ModuleTable modules_;
  const Sandbox::Rules rules_;
  const int recursion_limit_;
  std::function<void(std::string_view)> write_out_;  // the session's own

  mutable std::mutex mutex_;  // of all that follows, but for the output
  std::condition_variable work_, done_;
  int threads_;
  std::deque<TaskRef> queue_;
  std::deque<Worker> workers_;
  int idle_ = 0, running_ = 0, blocked_ = 0;  // blocked ones are running, too
  bool closing_ = false;
  uint64_t done_count_ = 0;
  std::atomic<uint64_t> failures_{0};
  std::unordered_map<const void*, std::pair<std::shared_ptr<const void>, std::shared_ptr<CallTimes>>> times_;

  std::mutex output_mutex_;
  std::string output_;
  std::atomic<bool> has_output_{false};
};

}  // namespace gasell
