#include "runtime/session/task_pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "lang/large_stack.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/dict.h"
#include "runtime/session/packing.h"
#include "runtime/session/types.h"
#include "runtime/session/unpacking.h"

namespace gasell {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds that a call takes at least for a worker to be faster.
constexpr double kShort = 30e-6;
/// Threads that wait for tasks do not count towards the pool's; there may be so many with them.
constexpr size_t kMostWorkers = 250;
constexpr auto kLook = std::chrono::milliseconds(20);

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

/// The session's output, behind what its tasks have printed.
struct TaskPool::Flushing {
  TaskPool* pool;
  void operator()(std::string_view text) const {
    pool->flush(pool->home_);
    pool->write_out_(text);
  }
};

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
                       if (!packing.tasks) packing.refuse(object);
                       packing.tasks->push_back(o.task);
                       return packing.make<PackedResult>(o.task);
                     }});
    return true;
  }();
  (void)once;
  carrier_of(home);
  write_out_ = home.in.write_out;
  home.in.write_out = Flushing{this};
  home.turn.emplace(home.engine);
}

TaskPool::~TaskPool() = default;

/// A sandbox counts what its session takes. Where a host program's session has the turn at the GPUs, it has it to the end of the call.
bool TaskPool::may_run_beside() const {
  if (rules_.confined || rules_.memory > 0) return false;
  return !home_.sandbox || !home_.engine.gpus();
}

void TaskPool::close() {
  interrupt();
  home_.turn.reset();
  std::unique_lock lock(mutex_);
  closing_ = true;
  work_.notify_all();
  while (std::ranges::any_of(workers_, [](const Worker& w) { return w.engine != nullptr; })) {
    for (Worker& worker : workers_)
      if (worker.engine && worker.working) worker.engine->interrupt();
    done_.wait_for(lock, kLook);
  }
  lock.unlock();
  for (Worker& worker : workers_) worker.thread.join();
  flush(home_);
  if (home_.in.write_out.target<Flushing>()) home_.in.write_out = write_out_;
}

void TaskPool::set_threads(int threads) {
  const std::lock_guard lock(mutex_);
  threads_ = std::max(1, threads);
}
int TaskPool::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_;
}

// ---- output ----

void TaskPool::print(std::string_view text) {
  {
    const std::lock_guard lock(output_mutex_);
    output_ += text;
    has_output_ = true;
  }
  done_.notify_all();
}

void TaskPool::flush(Session& session) {
  if (&session != &home_ || !has_output_) return;
  std::string text;
  {
    const std::lock_guard lock(output_mutex_);
    text.swap(output_);
    has_output_ = false;
  }
  if (text.empty()) return;
  if (home_.in.write_out.target<Flushing>())
    write_out_(text);
  else
    home_.in.write_out(text);
}

// ---- the workers ----

void TaskPool::more_workers() {
  if (closing_ || workers_.size() >= kMostWorkers) return;
  if (static_cast<size_t>(idle_) >= queue_.size() || running_ - blocked_ + idle_ >= threads_) return;
  Worker& worker = workers_.emplace_back();
  try {
    worker.thread = std::thread([this, &worker] { work(worker); });
  } catch (const std::system_error&) {
    workers_.pop_back();
    if (workers_.empty()) throw Error("RuntimeError", "can't start new thread", "", Blame::environment);
    return;
  }
  ++idle_;
}

void TaskPool::work(Worker& worker) {
  Engine engine(base_);
  {
    Interpreter interpreter(engine, modules_);
    Session& session = Evaluator::session(interpreter);
    session.sandbox = std::make_shared<Sandbox>(rules_);
    session.recursion_limit = recursion_limit_;
    session.tasks = shared_from_this();
    carrier_of(session).follows = true;
    std::string line;  // that has not ended
    bool printed = false;
    interpreter.read_line = [](const std::string&) { return std::optional<std::string>(); };
    interpreter.write_out = [&](std::string_view text) {
      printed = true;
      line += text;
      const size_t last = line.rfind('\n');
      if (last == line.npos) return;
      print(std::string_view(line).substr(0, last + 1));
      line.erase(0, last + 1);
    };
    std::unique_lock lock(mutex_);
    worker.engine = &engine;
    for (;;) {
      work_.wait(lock, [&] { return closing_ || (!queue_.empty() && running_ - blocked_ < threads_); });
      if (closing_) break;
      --idle_;
      ++running_;
      TaskRef task = std::move(queue_.front());
      queue_.pop_front();
      task->state_ = Task::State::running;
      worker.working = true;
      engine.clear_interrupt();
      lock.unlock();
      printed = false;
      run(session, task, printed);
      if (!line.empty()) print(std::exchange(line, {}));
      task.reset();
      lock.lock();
      worker.working = false;
      --running_;
      ++idle_;
    }
    --idle_;
    lock.unlock();
    interpreter.write_out = {};
  }
  const std::lock_guard lock(mutex_);
  worker.engine = nullptr;
  done_.notify_all();
}

Value TaskPool::call(Carrier& carrier, const Task& task) {
  const Value function = carrier.unpack(*task.function_);
  const Value given = carrier.unpack(task.arguments_);
  Interpreter& in = carrier.session().in;
  Arguments arguments;
  arguments.positional = given.as<Tuple>()->items[0].as<Tuple>()->items;
  for (const Dict::Entry& e : given.as<Tuple>()->items[1].as<Dict>()->entries())
    if (!e.key.is_absent()) arguments.keywords.emplace_back(str(in, e.key), e.value);
  const Clock::time_point begin = Clock::now();
  Value result = gasell::call(in, function, std::move(arguments));
  task.times_->note(seconds_since(begin));
  return result;
}

Value TaskPool::result(Carrier& carrier, const Task& task) { return task.repeated_ ? call(carrier, task) : carrier.unpack(task.outcome_); }

void TaskPool::run(Session& session, const TaskRef& task, const bool& printed) {
  Task::State state = Task::State::finished;
  Parcel outcome;
  const auto failed = [&](const Value& exception) {
    state = Task::State::failed;
    Carrier& carrier = *session.carrier;
    try {
      outcome = carrier.pack(exception);
    } catch (const NotCarried& refused) {
      outcome = carrier.pack(Value::make<Exception>(*exception_type("RuntimeError"),
                                                    std::vector<Value>{make_str(str(session.in, exception) +
                                                                                " (an exception that holds what does not leave its "
                                                                                "interpreter: '" +
                                                                                refused.what + "')")}));
    }
  };
  bool repeated = false;
  try {
    struct Taken {
      explicit Taken(Session& s) : session(s) { session.turn.emplace(session.engine); }
      ~Taken() { session.turn.reset(); }
      Session& session;
    } taken(session);
    session.depth = 0;
    session.handling = Value();
    Evaluator::enter(session, [&] {
      try {
        outcome = session.carrier->pack(call(*session.carrier, *task));
      } catch (const Raised& raised) {
        failed(raised.value);
      } catch (const Error& error) {
        failed(exception_from_error(error));
      } catch (const NotCarried& refused) {
        repeated = !printed && !task->function_->effects.changes_given && !task->arguments_.effects.changes_given;
        if (!repeated)
          failed(Value::make<Exception>(*exception_type("NotImplementedError"),
                                        std::vector<Value>{make_str("the result of a task holds what does not leave its interpreter ('" +
                                                                    refused.what + "'): scheduler='sync' runs tasks here")}));
      }
      session.carrier->forget();
    });
  } catch (const Interrupted&) {
    state = Task::State::cancelled;
  } catch (const Interpreter::Exit&) {
    state = Task::State::cancelled;
  } catch (const Sandbox::Ended&) {
    state = Task::State::cancelled;
  } catch (const Error& error) {  // there is no room for its stack
    failed(exception_from_error(error));
  } catch (const std::bad_alloc&) {
    failed(Value::make<Exception>(*exception_type("MemoryError"), std::vector<Value>{}));
  }
  session.uncaught = Value();
  // What it was made of goes without the lock.
  std::shared_ptr<const Parcel> function;
  Parcel arguments;
  std::vector<TaskRef> needs;
  const std::lock_guard lock(mutex_);
  if (task->done()) return;  // cancelled meanwhile
  if (state == Task::State::failed && --task->attempts_ > 0) return make_ready(task);
  task->repeated_ = repeated;
  if (!repeated) {
    function.swap(task->function_);
    std::swap(arguments, task->arguments_);
  }
  needs.swap(task->needs_);
  task->outcome_ = std::move(outcome);
  finish(task, state);
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
  return function.is_object() && (function.as<Class>() || typeid(*function.object()) != typeid(TypeObject));
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
    if (last >= 0 && last < kShort && !effects.waits && !even_short) return nullptr;
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
  {
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
