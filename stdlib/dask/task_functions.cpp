// Tasks for library texts: what dask.compute, futures, executors and joblib are written with.
#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "runtime/session/dict.h"
#include "runtime/session/number.h"
#include "runtime/session/task_pool.h"
#include "stdlib/carried.h"
#include "stdlib/dask/module.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

TaskPool& pool_of(Interpreter& in) { return *TaskPool::of(Evaluator::session(in)); }

TaskObject& task_of(const Value& v) {
  auto* task = v.as<TaskObject>();
  if (!task) raise("TypeError", "a task is expected, not '" + type_of(v).name + "'");
  return *task;
}

std::vector<TaskRef> tasks_of(Interpreter& in, const Value& v) {
  std::vector<TaskRef> tasks;
  for (const Value& each : to_vector(in, v)) tasks.push_back(task_of(each).task);
  return tasks;
}

Value start_task(Interpreter& in, Args args) {
  TaskPool& pool = pool_of(in);
  const TaskRef task =
      pool.start(Evaluator::session(in), args[0], args[1], args[2], static_cast<int>(to_index(in, args[3])), truth(in, args[4]));
  return task ? Value::make<TaskObject>(task, pool.shared_from_this()) : Value();
}

Value call_here(Interpreter& in, Args args) {
  Arguments arguments{args[1].as<Tuple>()->items, {}};
  for (const Dict::Entry& e : args[2].as<Dict>()->entries())
    if (!e.key.is_absent()) arguments.keywords.emplace_back(str(in, e.key), e.value);
  const auto begin = std::chrono::steady_clock::now();
  Value result = call(in, args[0], std::move(arguments));
  pool_of(in).note_call(args[0], std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return result;
}

Value wait_tasks(Interpreter& in, Args args) {
  const std::vector<TaskRef> tasks = tasks_of(in, args[0]);
  const size_t count = args[1].is_none() ? tasks.size() : static_cast<size_t>(to_index(in, args[1]));
  return Value::of(pool_of(in).wait(Evaluator::session(in), tasks, count, args[2].is_none() ? -1 : std::max(0.0, to_double(in, args[2]))));
}

[[noreturn]] void raise_for(Interpreter& in, const TaskRef& task) {
  const Value exception = pool_of(in).exception(Evaluator::session(in), task);
  if (!exception.is_absent()) throw Raised(exception);
  raise("CancelledError", "the task was cancelled");
}

Value finish_tasks(Interpreter& in, Args args) {
  if (const TaskRef bad = pool_of(in).wait_for_all(Evaluator::session(in), tasks_of(in, args[0]))) raise_for(in, bad);
  return {};
}

Value task_state(Interpreter&, Args args) {
  static const char* const kStates[] = {"pending", "pending", "pending", "finished", "error", "cancelled"};
  return make_str(kStates[static_cast<size_t>(task_of(args[0]).task->state())]);
}
Value task_runs(Interpreter&, Args args) { return Value::of(task_of(args[0]).task->state() == Task::State::running); }
Value task_order(Interpreter&, Args args) { return Value::of(static_cast<int64_t>(task_of(args[0]).task->order())); }

Value task_value(Interpreter& in, Args args) {
  TaskObject& task = task_of(args[0]);
  if (!task.kept.is_absent()) return task.kept;
  TaskPool& pool = pool_of(in);
  pool.wait(Evaluator::session(in), {task.task}, 1, -1);
  if (task.task->state() == Task::State::finished) return task.kept = pool.value(Evaluator::session(in), task.task);
  raise_for(in, task.task);
}

Value task_error(Interpreter& in, Args args) {
  const Value exception = pool_of(in).exception(Evaluator::session(in), task_of(args[0]).task);
  return exception.is_absent() ? Value() : exception;
}

Value cancel_task(Interpreter& in, Args args) { return Value::of(pool_of(in).cancel(task_of(args[0]).task)); }
Value detach_task(Interpreter&, Args args) {
  task_of(args[0]).task->detach();
  return {};
}

Value task_threads(Interpreter& in, Args args) {
  TaskPool& pool = pool_of(in);
  const int before = pool.threads();
  if (!args[0].is_none()) pool.set_threads(static_cast<int>(to_index(in, args[0])));
  return Value::of(static_cast<int64_t>(before));
}

/// One of all sessions: tasks name what others may ask for.
Value next_token(Interpreter&, Args) {
  static std::atomic<uint64_t> last{0};
  return make_str(fmt::format("{:032x}", ++last));
}

Value is_worker(Interpreter& in, Args) { return Value::of(!pool_of(in).is_home(Evaluator::session(in))); }

}  // namespace

const std::vector<NativeFunction>& task_functions() {
  static const std::vector<NativeFunction> functions = {
      {"start_task", "function, args, kwargs, retries=0, even_short=False", start_task,
       "A task of function(*args, **kwargs) on a worker, or None where it has to be called here."},
      {"call_here", "function, args, kwargs", call_here, "function(*args, **kwargs); how long it took is remembered."},
      {"wait_tasks", "tasks, count=None, seconds=None", wait_tasks,
       "Waits until so many of the tasks (None: all) are done; whether they are."},
      {"finish_tasks", "tasks", finish_tasks,
       "Waits until all are done. The first that fails ends the others, and its exception is raised."},
      {"task_state", "task", task_state, "'pending', 'finished', 'error' or 'cancelled'."},
      {"task_runs", "task", task_runs, "Whether it runs now."},
      {"task_order", "task", task_order, "A number that is larger for tasks that ended later."},
      {"task_value", "task", task_value, "Waits for the result; raises the task's exception."},
      {"task_error", "task", task_error, "The exception of a task that failed, or None."},
      {"cancel_task", "task", cancel_task, "Whether it had not ended."},
      {"detach_task", "task", detach_task, "It runs though nobody keeps it."},
      {"task_threads", "threads=None", task_threads, "How many tasks run at the same time; sets another number."},
      {"is_task", "x", [](Interpreter&, Args a) { return Value::of(a[0].as<TaskObject>() != nullptr); }, "Whether x is a task."},
      {"next_token", "", next_token, "A text that tells a task from all others."},
      {"is_worker", "", is_worker, "Whether this runs in a task."},
  };
  register_carried_library();
  task_exceptions();
  return functions;
}

}  // namespace gasell
