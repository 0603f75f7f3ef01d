// The threads of a pool of tasks, and what they print.
#include <algorithm>
#include <system_error>
#include <utility>

#include "runtime/session/dict.h"
#include "runtime/session/script_threads.h"
#include "runtime/session/task_pool.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Clock = std::chrono::steady_clock;

/// Threads that wait for tasks do not count towards the pool's; there may be so many with them.
constexpr size_t kMostWorkers = 250;

}  // namespace

// ---- output ----

/// The session's output, behind what its tasks have printed.
struct TaskPool::Flushing {
  TaskPool* pool;
  void operator()(std::string_view text) const {
    pool->flush(pool->home_);
    pool->write_out_(text);
  }
};

void TaskPool::take_output() {
  write_out_ = home_.in.write_out;
  home_.in.write_out = Flushing{this};
}

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
    worker.session = &session;
    for (;;) {
      work_.wait(lock, [&] { return closing_ || (!queue_.empty() && running_ - blocked_ < threads_); });
      if (closing_) break;
      --idle_;
      ++running_;
      TaskRef task = std::move(queue_.front());
      queue_.pop_front();
      task->state_ = Task::State::running;
      worker.working = true;
      worker.calls = task->times_;
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
  worker.session = nullptr;
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
  task.times_->note(std::chrono::duration<double>(Clock::now() - begin).count());
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
        const Value result = call(*session.carrier, *task);
        if (session.threads) session.threads->finish();
        outcome = session.carrier->pack(result);
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

}  // namespace gasell
