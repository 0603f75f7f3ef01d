// What a session tells of code that ran: variables where an exception came from, times of calls.
#include "runtime/session/call_profile.h"
#include "session_run.h"

using namespace gasell;

namespace {

std::string variables_of(TestSession& session, size_t frame) {
  std::string out;
  for (const auto& [name, value] : session.interpreter.uncaught().as<Exception>()->traceback.at(frame).variables)
    out += (out.empty() ? "" : " ") + name + "=" + repr(session.interpreter, value);
  return out;
}

constexpr const char* kFails = R"gsl(
def inner(a, *, b=2):
    c = a + b
    later = lambda: c
    return c / 0
def outer(x):
    y = [x]
    return inner(x)
outer(5)
)gsl";

}  // namespace

TEST_CASE("session: an uncaught exception keeps the variables of its frames where that is wanted") {
  TestSession session;
  CHECK_THROWS_AS(session.run(kFails), Error);
  CHECK(session.interpreter.uncaught().is_none());
  session.interpreter.keep_variables();
  CHECK_THROWS_AS(session.run(kFails), Error);
  const std::string inner = variables_of(session, 0);
  CHECK(inner.find("a=5 b=2") == 0);
  CHECK(inner.find("c=7") != std::string::npos);
  CHECK(variables_of(session, 1) == "x=5 y=[5]");
  CHECK(variables_of(session, 2).empty());
  session.run("try:\n    outer(6)\nexcept ZeroDivisionError:\n    pass");  // one that was caught takes its place no more
  CHECK(variables_of(session, 1) == "x=5 y=[5]");
  session.interpreter.forget_exception();
  CHECK(session.interpreter.uncaught().is_none());
}

TEST_CASE("session: a function is called from outside") {
  TestSession session;
  const Value twice = session.evaluate("lambda x: x * 2");
  CHECK(session.interpreter.call(twice, {Value::of(21)}).as_int() == 42);
  CHECK_THROWS_AS(session.interpreter.call(twice, {}), Error);
}

TEST_CASE("session: calls are counted and timed, recursions once") {
  TestSession session;
  session.run("def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef both(): return fib(10) + fib(5)\ndef fails(): 1 / 0");
  const CallProfile profile = session.interpreter.profile([&] { session.run("both()"); });
  std::map<std::string, CallProfile::Row> rows;
  for (const CallProfile::Row& row : profile.rows()) rows[row.name] = row;
  REQUIRE(rows.size() == 2);
  CHECK(rows["fib"].calls == 177 + 15);
  CHECK(rows["fib"].line == 1);
  CHECK(rows["both"].calls == 1);
  CHECK(rows["both"].total >= rows["fib"].total);
  CHECK(rows["both"].own + rows["fib"].own == Approx(rows["both"].total));
  CHECK_THROWS_AS(session.interpreter.profile([&] { session.run("fails()"); }), Error);
  session.run("both()");  // nobody counts any more
}
