// Tasks beside a session: what crosses, what has to stay, waiting, cancelling, output. Run with ThreadSanitizer, too.
#include "runtime/session/task_pool.h"

#include "runtime/session/dict.h"
#include "session_run.h"

namespace gasell {
namespace {

FunctionEffects effects_in(TestSession& session, const std::string& name) {
  return effects_of(*session.interpreter.global(name)->as<Function>()->definition());
}

struct Tasks : TestSession {
  Tasks() { pool->set_threads(4); }
  TaskRef start(const std::string& function, const std::string& arguments = "()") {
    return pool->start(session, *interpreter.global(function), evaluate(arguments), make_dict(), 0, true);
  }
  std::string value(const TaskRef& task) {
    pool->wait(session, {task}, 1, -1);
    return repr(interpreter, pool->value(session, task));
  }
  std::string error(const TaskRef& task) {
    pool->wait(session, {task}, 1, -1);
    return repr(interpreter, pool->exception(session, task));
  }
  Session& session = Evaluator::session(interpreter);
  const std::shared_ptr<TaskPool> pool = TaskPool::of(session);
};

TEST_CASE("what a function changes is seen in its text", "[tasks]") {
  TestSession session;
  session.run(R"gsl(
seen = []
def pure(x):
    y = [x]
    y.append(1)
    y[0] += 1
    return y
def outside(x):
    seen.append(x)
def rebinds():
    global seen
    seen = 1
def given(x):
    x[0] = 1
def alias(x):
    y = x
    y.append(1)
def inner():
    n = 0
    def count():
        nonlocal n
        n += 1
    count()
    return n
def within(rows):
    for row in rows:
        row.sort()
def passes(x):
    return list(map(seen.append, x)), np.sort(x)
def waits():
    return sleep(1) + helper(seen)
)gsl");
  const auto effects = [&](const char* name) {
    const FunctionEffects e = effects_in(session, name);
    return std::string(e.changes_outside ? "o" : "") + (e.changes_given ? "g" : "") + (e.waits ? "w" : "");
  };
  CHECK(effects("pure").empty());
  CHECK(effects("passes").empty());
  CHECK(effects_in(session, "passes").changed_globals == std::vector<std::string>{"seen", "np"});
  CHECK(effects_in(session, "outside").changed_globals == std::vector<std::string>{"seen"});
  CHECK(effects("rebinds") == "o");
  CHECK(effects("given") == "g");
  CHECK(effects("alias") == "g");
  CHECK(effects("inner").empty());
  CHECK(effects("within") == "g");
  CHECK(effects("waits") == "w");
  CHECK(effects_in(session, "waits").globals == std::vector<std::string>{"sleep", "helper", "seen"});
}

TEST_CASE("values cross as copies, classes stay the same", "[tasks]") {
  Tasks t;
  t.run(R"gsl(
class Point:
    def __init__(self, x):
        self.x = x
    def __repr__(self):
        return f"Point({self.x})"
factor = 3
def scaled(p, k):
    return Point(p.x * k * factor), [k, {k: (k,)}, {k}, str(k)]
def fails(k):
    return 1 / k
def numbers(k):
    return (i for i in range(k))
)gsl");
  std::vector<TaskRef> tasks;
  for (int k = 0; k < 40; ++k) tasks.push_back(t.start("scaled", "(Point(2), " + std::to_string(k) + ")"));
  for (int k = 0; k < 40; ++k) {
    const std::string n = std::to_string(k);
    REQUIRE(tasks[static_cast<size_t>(k)]);
    CHECK(t.value(tasks[static_cast<size_t>(k)]) ==
          "(Point(" + std::to_string(6 * k) + "), [" + n + ", {" + n + ": (" + n + ",)}, {" + n + "}, '" + n + "'])");
  }
  CHECK(t.error(t.start("fails", "(0,)")) == "ZeroDivisionError('division by zero')");
  CHECK(t.value(t.start("numbers", "(3,)")).starts_with("<generator"));
}

TEST_CASE("what could be told from a copy is not started", "[tasks]") {
  Tasks t;
  t.run(R"gsl(
seen = []
def note(x):
    seen.append(x)
def fill(x):
    x[0] = 1
def read(x):
    return x
generator = (k for k in range(3))
)gsl");
  CHECK(!t.start("note", "(1,)"));
  CHECK(!t.start("fill", "([1],)"));
  CHECK(!t.start("read", "(generator,)"));
  CHECK(t.start("read", "([1],)"));
}

TEST_CASE("tasks need tasks, and fail with them", "[tasks]") {
  Tasks t;
  t.run("def add(x, y):\n    return x + y\ndef fails(x):\n    raise KeyError(x)\n");
  const auto object = [&](const TaskRef& task) { return Value::make<TaskObject>(task, t.pool); };
  const auto start = [&](const char* function, std::vector<Value> arguments) {
    return t.pool->start(t.session, *t.interpreter.global(function), make_tuple(std::move(arguments)), make_dict(), 0, true);
  };
  Value last = object(start("add", {Value::of(0), Value::of(1)}));
  for (int k = 0; k < 100; ++k) last = object(start("add", {last, Value::of(1)}));
  CHECK(t.value(last.as<TaskObject>()->task) == "101");
  const Value bad = object(start("fails", {Value::of(7)}));
  const TaskRef after = start("add", {bad, Value::of(1)});
  CHECK(t.error(after) == "KeyError(7)");
  CHECK(after->state() == Task::State::failed);
  const TaskRef first = t.pool->wait_for_all(t.session, {bad.as<TaskObject>()->task, after});
  CHECK(first == bad.as<TaskObject>()->task);
}

TEST_CASE("tasks are cancelled and interrupted, and what they print comes in lines", "[tasks]") {
  Tasks t;
  t.pool->set_threads(1);
  t.run(R"gsl(
def endless():
    while True:
        pass
def talk(k):
    print("a", end=" ")
    print("b", k)
    return k
)gsl");
  const TaskRef runs = t.start("endless"), waits = t.start("endless");
  CHECK(!t.pool->wait(t.session, {runs}, 1, 0.01));
  CHECK(t.pool->cancel(waits));
  CHECK(waits->state() == Task::State::cancelled);
  t.pool->interrupt();
  CHECK(t.pool->wait(t.session, {runs}, 1, 10));
  CHECK(runs->state() == Task::State::cancelled);
  CHECK(t.value(t.start("talk", "(1,)")) == "1");
  CHECK(t.value(t.start("talk", "(2,)")) == "2");
  CHECK(t.output == "a b 1\na b 2\n");
  (void)t.start("endless");  // the session's end is its end
}

}  // namespace
}  // namespace gasell
