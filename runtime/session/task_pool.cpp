#include "runtime/session/task_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lang/large_stack.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/dict.h"
#include "runtime/session/packing.h"
#include "runtime/session/script_threads.h"
#include "runtime/session/types.h"
#include "runtime/session/unpacking.h"

namespace gasell {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds that a call takes at least for a worker to be faster.
constexpr double kShort = 30e-6;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

void CallTimes::note(double taken) {
  const double before = seconds.load(std::memory_order_relaxed);
  seconds.store(std::max(taken, before * 0.9), std::memory_order_relaxed);
}

/// The result of a task among the arguments of another.
struct PackedResult final : Packed {
  explicit PackedResult(TaskRef t) : task(std::move(t)) {}
  Value unpack(Unpacking& to) const override { return TaskPool::result(to.carrier, *task); }
  const TaskRef task;
};

/// A task that is no argument of another: it stays one.
struct PackedTask final : Packed {
  explicit PackedTask(TaskRef t) : task(std::move(t)) {}
  Value unpack(Unpacking& to) const override { return Value::make<TaskObject>(task, TaskPool::of(to.carrier.session())); }
  const TaskRef task;
};

LeavesTurn::LeavesTurn(Session& session) {
  if (!session.turn) return;
  session.turn.reset();
  session_ = &session;
}
LeavesTurn::~LeavesTurn() {
  while (session_ && !session_->turn) {
    try {
      session_->turn.emplace(session_->engine);
    } catch (const Interrupted&) {  // what comes next is told
      session_->engine.interrupt();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

TaskObject::~TaskObject() {
  // The last future of a task that has not begun is gone: nobody wants it, unless tasks do that it is an argument of.
  if (!task->done() && !task->detached_ && task.use_count() <= 2) pool->cancel(task);
}
const Type& TaskObject::type() const {
  static const Type type{"task", "builtins", &object_type()};
  return type;
}

// ---- the pool ----

std::shared_ptr<TaskPool> TaskPool::of(Session& session) {
  if (!session.tasks) session.tasks = std::make_shared<TaskPool>(session);
  return session.tasks;
}

TaskPool::TaskPool(Session& home)
    : home_(home),
      base_(home.engine),
      modules_(home.modules),
      rules_(home.sandbox ? home.sandbox->rules() : Sandbox::Rules{}),
      recursion_limit_(home.recursion_limit),
      threads_(std::max(1, home.engine.options().threads)) {
  static const bool once = [] {
    register_carried(typeid(TaskObject), {.pack = [](Packing& packing, Object& object) {
                       auto& o = static_cast<TaskObject&>(object);
                       if (!o.kept.is_absent()) return packing.pack(o.kept);
                       if (!packing.tasks) return packing.make<PackedTask>(o.task);
                       packing.tasks->push_back(o.task);
                       return packing.make<PackedResult>(o.task);
                     }});
    return true;
  }();
  (void)once;
  carrier_of(home);
  take_output();
  home.turn.emplace(home.engine);
}

TaskPool::~TaskPool() = default;

/// A sandbox counts what its session takes. Where a host program's session has the turn at the GPUs, it has it to the end of the call.
bool TaskPool::may_run_beside() const {
  if (rules_.confined || rules_.memory > 0) return false;
  return !home_.sandbox || !home_.engine.gpus();
}

void TaskPool::set_threads(int threads) {
  const std::lock_guard lock(mutex_);
  threads_ = std::max(1, threads);
}
int TaskPool::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_;
}

// ---- tasks ----

namespace {

/// What tells a function from others for as long as it may be called: its tree, or the built-in one.
std::shared_ptr<const void> identity_of(const Value& function) {
  if (const auto* script = function.as<Function>()) {
    if (script->code->definition) return script->code->definition;
    return script->code->lambda;
  }
  if (const auto* builtin = function.as<Builtin>()) return {std::shared_ptr<void>(), &builtin->function};
  return nullptr;
}

/// Built-in functions and those of the library are the engine's, which has all cores; but some of them wait.
bool is_of_scripts(const Value& function) {
  if (const auto* script = function.as<Function>()) {
    const Value* named = script->code->globals->library ? script->code->globals->find(script->code->name) : nullptr;
    return !named || !named->same(function);
  }
  if (const auto* builtin = function.as<Builtin>()) return builtin->function.name == "sleep";
  return function.is_object() && (function.as<Class>() || !function.exactly<TypeObject>());
}

}  // namespace

std::shared_ptr<CallTimes> TaskPool::times_of(const Value& function) {
  std::shared_ptr<const void> identity = identity_of(function);
  if (!identity) return std::make_shared<CallTimes>();
  const std::lock_guard lock(mutex_);
  auto& known = times_[identity.get()];
  if (!known.second) known = {std::move(identity), std::make_shared<CallTimes>()};
  return known.second;
}

TaskRef TaskPool::start(Session& session, const Value& function, const Value& positional, const Value& keywords, int retries,
                        bool even_short) {
  flush(session);
  if (!may_run_beside() || !is_of_scripts(function)) return nullptr;
  Carrier& carrier = carrier_of(session);
  auto task = std::make_shared<Task>();
  std::vector<TaskRef> needs;
  try {
    task->function_ = carrier.pack_callable(function);
    const FunctionEffects& effects = task->function_->effects;
    if (effects.changes_outside) return nullptr;
    task->times_ = times_of(function);
    const double last = task->times_->seconds;
    if (last >= 0 && last < kShort && !effects.waits && !task->times_->waits && !even_short) return nullptr;
    task->arguments_ = carrier.pack(make_tuple({positional, keywords}), &needs);
    const Parcel& arguments = task->arguments_;
    const bool changes = effects.changes_given || arguments.effects.changes_given;
    if (arguments.effects.changes_outside || (changes && (arguments.may_change || task->function_->may_change))) return nullptr;
  } catch (const NotCarried&) {
    return nullptr;
  }
  task->attempts_ = retries + 1;
  const std::lock_guard lock(mutex_);
  if (closing_) return nullptr;
  for (const TaskRef& needed : needs) {
    const Task::State state = needed->state();
    if (state == Task::State::failed || state == Task::State::cancelled) {
      task->failed_for_ = needed->failed_for_ ? needed->failed_for_ : needed;
      finish(task, state);
      return task;
    }
    if (state == Task::State::finished) continue;
    needed->dependents_.push_back(task);
    ++task->missing_;
  }
  task->needs_ = std::move(needs);
  if (task->missing_ == 0) make_ready(task);
  return task;
}

void TaskPool::note_waits(const Session& session) {
  const std::lock_guard lock(mutex_);
  for (const Worker& worker : workers_)
    if (worker.session == &session && worker.calls) worker.calls->waits = true;
}

void TaskPool::note_call(const Value& function, double seconds) { times_of(function)->note(seconds); }

void TaskPool::make_ready(const TaskRef& task) {
  task->state_ = Task::State::ready;
  queue_.push_back(task);
  more_workers();
  if (idle_ > 0) work_.notify_one();
}

void TaskPool::finish(const TaskRef& task, Task::State state) {
  std::vector<std::pair<TaskRef, Task::State>> ended{{task, state}};
  while (!ended.empty()) {
    const auto [current, became] = ended.back();
    ended.pop_back();
    if (current->done()) continue;
    current->order_ = ++done_count_;
    if (became != Task::State::finished) ++failures_;
    current->state_.store(became, std::memory_order_release);
    for (const TaskRef& dependent : std::exchange(current->dependents_, {})) {
      if (became == Task::State::finished) {
        if (--dependent->missing_ == 0 && dependent->state() == Task::State::waiting) make_ready(dependent);
      } else {
        dependent->failed_for_ = current->failed_for_ ? current->failed_for_ : current;
        ended.emplace_back(dependent, became);
      }
    }
  }
  done_.notify_all();
}

bool TaskPool::wait(Session& session, const std::vector<TaskRef>& tasks, size_t count, double seconds) {
  size_t first = 0;  // those before are done
  return wait_until(
      session,
      [&] {
        while (first < tasks.size() && tasks[first]->done()) ++first;
        const auto more = std::ranges::count_if(tasks.begin() + static_cast<std::ptrdiff_t>(first), tasks.end(), &Task::done);
        return first + static_cast<size_t>(more) >= count;
      },
      seconds);
}

TaskRef TaskPool::wait_for_all(Session& session, const std::vector<TaskRef>& tasks) {
  const auto is_bad = [](const TaskRef& t) { return t->state() == Task::State::failed || t->state() == Task::State::cancelled; };
  size_t first = 0;
  uint64_t seen = ~uint64_t{0};
  const auto enough = [&] {
    while (first < tasks.size() && tasks[first]->state() == Task::State::finished) ++first;
    if (first == tasks.size()) return true;
    if (failures_ == seen) return false;
    seen = failures_;
    return std::ranges::any_of(tasks, is_bad);
  };
  try {
    wait_until(session, enough, -1);
  } catch (...) {
    for (const TaskRef& task : tasks) cancel(task);
    throw;
  }
  TaskRef bad;
  for (const TaskRef& task : tasks)
    if (is_bad(task) && (!bad || task->order() < bad->order())) bad = task;
  if (bad)
    for (const TaskRef& task : tasks) cancel(task);
  return bad;
}

bool TaskPool::wait_until(Session& session, const std::function<bool()>& enough, double seconds) {
  const Clock::time_point begin = Clock::now();
  const bool is_home = &session == &home_;
  flush(session);
  if (enough()) return true;
  if (seconds == 0) return false;
  const LeavesTurn leaves(session);
  bool there = false;
  if (session.threads && session.threads->several()) {
    there = session.threads->wait(enough, seconds, true);
  } else {
    std::unique_lock lock(mutex_);
    struct Blocked {
      Blocked(TaskPool& p, bool w) : pool(p), worker(w) {
        if (!worker) return;
        ++pool.blocked_;
        pool.more_workers();
        pool.work_.notify_one();
      }
      ~Blocked() { pool.blocked_ -= worker; }
      TaskPool& pool;
      bool worker;
    } blocked(*this, !is_home);
    while (!(there = enough())) {
      const double left = seconds < 0 ? 1 : seconds - seconds_since(begin);
      if (left <= 0) break;
      done_.wait_for(lock,
                     std::min<Clock::duration>(kLook, std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left))));
      lock.unlock();
      try {
        flush(session);
        session.poll();
      } catch (...) {
        if (is_home) interrupt();
        lock.lock();
        throw;
      }
      lock.lock();
    }
  }
  flush(session);
  return there;
}

void TaskPool::wake() {
  {
    const std::lock_guard lock(mutex_);
  }  // one who is about to wait has looked before
  done_.notify_all();
}

Value TaskPool::value(Session& session, const TaskRef& task) {
  if (task->state() != Task::State::finished) return Value::absent();
  Carrier& carrier = carrier_of(session);
  if (task.use_count() == 1 && !task->repeated_) return carrier.open(std::move(task->outcome_));
  return result(carrier, *task);
}

Value TaskPool::exception(Session& session, const TaskRef& task) {
  const Task& cause = task->failed_for_ ? *task->failed_for_ : *task;
  if (cause.state() != Task::State::failed) return Value::absent();
  return carrier_of(session).unpack(cause.outcome_);
}

bool TaskPool::cancel(const TaskRef& task) {
  std::shared_ptr<const Parcel> function;
  Parcel arguments, outcome;
  std::vector<TaskRef> needs;
  const std::lock_guard lock(mutex_);
  if (task->done()) return false;
  if (task->state() != Task::State::running) {
    std::erase(queue_, task);
    function.swap(task->function_);
    std::swap(arguments, task->arguments_);
    needs.swap(task->needs_);
    for (const TaskRef& needed : needs) std::erase(needed->dependents_, task);
  }
  finish(task, Task::State::cancelled);
  return true;
}

void TaskPool::interrupt() {
  std::deque<TaskRef> queued;
  const std::lock_guard lock(mutex_);
  queued.swap(queue_);
  for (const TaskRef& task : queued) finish(task, Task::State::cancelled);
  for (Worker& worker : workers_)
    if (worker.engine && worker.working) worker.engine->interrupt();
}

}  // namespace gasell
