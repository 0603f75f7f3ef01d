// What sessions may take: memory of any kind, time, output, in texts and in direct calls. The engine goes on.
#include <gasell/gasell.hpp>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.h"

namespace {

using Catch::Matchers::Contains;
using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCounts = false;  // the heap is the sanitizer's
constexpr double kSlower = 10;
#else
constexpr bool kCounts = true;
constexpr double kSlower = 1;
#endif

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string outcome(gasell::Session& session, const std::string& text) {
  try {
    return session.evaluate(text).text();
  } catch (const gasell::Error& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a limit of memory counts all that a script makes") {
  if (!kCounts) return;
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.memory = 20 << 20;
  for (const char* text : {
           "x = []\nwhile True: x.append(str(len(x)))",
           "x = {}\nwhile True: x[len(x)] = 'a' * 10",
           "x = set()\nwhile True: x.add(len(x))",
           "x = 'a'\nwhile True: x = x + x",
           "x = [0] * 10**8",
           "x = list(range(10**8))",
           "x = [str(i) for i in range(10**8)]",
           "x = [(i, i) for i in range(10**7)]",
           "x = []\nwhile True: x = [x]",
           "x = b'a' * 10**9",
           "class A: pass\nx = []\nwhile True:\n    x.append(A())\n    x[-1].b = 1",
           "x = np.ones(10**7)\nx[0] = 2",
           "x = pd.DataFrame({'a': ['text %d' % i for i in range(10**6)]})",
           "@njit\ndef f():\n    l = [0]\n    while True: l.append(1)\nf()",
       }) {
    CAPTURE(text);
    gasell::Session session(engine, options);
    const auto start = Clock::now();
    CHECK_THAT(outcome(session, text), Contains("MemoryError"));
    CHECK(seconds_since(start) < 20);
    CHECK(outcome(session, "x = None\nlen([1] * 1000)") == "1000");
  }
}

TEST_CASE("what a script lets go of does not count") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.memory = 20 << 20;
  gasell::Session session(engine, options);
  CHECK(outcome(session, "for i in range(100):\n    x = [str(j) for j in range(20000)]\nlen(x)") == "20000");
  CHECK(outcome(session, "for i in range(100):\n    y = {str(j): 'value %d' % j for j in range(5000)}\nlen(y)") == "5000");
  for (int k = 0; k < 100; ++k) CHECK(session.evaluate("['a' * 100 for i in range(10000)]").text().size() > 1000);
}

TEST_CASE("the library does not count") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.memory = 2 << 20;
  gasell::Session session(engine, options);
  CHECK(outcome(session, "import pandas, json, re, datetime, sklearn.linear_model\nfloat(pd.Series([1, 2, 3]).rolling(2).mean().sum())") ==
        "4.0");
}

TEST_CASE("sessions beside each other have limits of their own") {
  if (!kCounts) return;
  gasell::Engine engine;
  std::vector<std::thread> threads;
  std::vector<std::string> outcomes(4);
  for (size_t k = 0; k < outcomes.size(); ++k) {
    threads.emplace_back([&, k] {
      gasell::SessionOptions options;
      options.memory = k % 2 ? 64 << 20 : 2 << 20;
      gasell::Session session(engine, options);
      outcomes[k] = outcome(session, "x = [str(i) * 3 for i in range(100000)]\nlen(x)");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t k = 0; k < outcomes.size(); ++k) CHECK_THAT(outcomes[k], Contains(k % 2 ? "100000" : "MemoryError"));
}

TEST_CASE("a limit of time ends direct calls, each its own") {
  gasell::Engine engine;
  gasell::Session session(engine);
  session.evaluate("@njit\ndef spin(n):\n    s = 0\n    i = 0\n    while i != n:\n        i += 1\n        s ^= i\n    return s");
  auto spin = session.function<int64_t(int64_t)>("spin");
  REQUIRE(spin.is_direct());
  session.set_seconds(0.2);
  const auto start = Clock::now();
  try {
    spin(-1);
    FAIL("an endless loop ended");
  } catch (const gasell::Error& e) {
    CHECK(e.status == GASELL_LIMIT_EXCEEDED);
    CHECK(e.kind == "TimeoutError");
  }
  CHECK(seconds_since(start) < 0.2 + 0.1 * kSlower);
  CHECK(spin(3) == 0);
  // A call that began later is not ended with one that began before.
  std::thread late([&] { CHECK_THROWS_AS(spin(-1), gasell::Error); });
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  const auto second = Clock::now();
  CHECK_THROWS_AS(spin(-1), gasell::Error);
  CHECK(seconds_since(second) > 0.19);
  late.join();
  session.set_seconds(0);
  CHECK(spin(3) == 0);
}

TEST_CASE("a limit of time ends what the library does by itself") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.seconds = 0.2;
  options.memory = 300 << 20;
  for (const char* text : {
           "7 ** (10 ** 7)",
           "x = 3 ** 1000000\nx * x * x * x * x * x * x * x",
           "(1 << 60000000) // (3 ** 1000000)",
           "sum(range(10 ** 12))",
           "max(i for i in range(10 ** 12))",
           "import itertools\nlist(itertools.count())",
           "import math\nmath.isqrt(3 ** 2000000)",
           "import math\nmath.gcd(3 ** 1000000, 7 ** 500000)",
           "('a' * 10 ** 6).find('a' * 500000 + 'b')",
           "import re\nre.match(r'(a|aa)+$', 'a' * 100 + 'b')",
           "sorted(range(10 ** 7), key=lambda v: -v)",
           "import time\ntime.sleep(100)",
           "import threading\nthreading.Event().wait()",
           "import queue\nqueue.Queue().get()",
           "def f():\n    while True: yield 1\n''.join(str(v) for v in f())",
           "try:\n    while True: pass\nfinally:\n    while True: pass",
           "float(np.random.random(10 ** 12).mean())",
           "str((10 ** 4000) ** 500) * 2",
       }) {
    CAPTURE(text);
    gasell::Session session(engine, options);
    const auto start = Clock::now();
    const std::string told = outcome(session, text);
    CHECK_THAT(told, !Contains("InternalError"));
    CHECK(seconds_since(start) < 0.2 + 0.2 * kSlower);
    CHECK(outcome(session, "1 + 1") == "2");
  }
}

TEST_CASE("interrupts reach direct calls that have limits") {
  gasell::Engine engine;
  gasell::Session session(engine);
  session.evaluate("@njit\ndef spin(n):\n    i = 0\n    while i != n: i += 1\n    return i");
  auto spin = session.function<int64_t(int64_t)>("spin");
  session.set_seconds(60);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    session.interrupt();
  });
  const auto start = Clock::now();
  try {
    spin(-1);
    FAIL("an endless loop ended");
  } catch (const gasell::Error& e) {
    CHECK(e.status == GASELL_INTERRUPTED);
  }
  CHECK(seconds_since(start) < 0.1 + 0.1 * kSlower);
  other.join();
  CHECK(spin(3) == 3);
}

TEST_CASE("a limit of output ends direct calls") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.output = 100;
  gasell::Session session(engine, options);
  std::string seen;
  session.set_output([&](std::string_view text) { seen += text; });
  session.evaluate("@njit\ndef talk(n):\n    i = 0\n    while i != n:\n        i += 1\n        print('spam', i)\n    return i");
  auto talk = session.function<int64_t(int64_t)>("talk");
  REQUIRE(talk.is_direct());
  CHECK(talk(2) == 2);
  CHECK(seen == "spam 1\nspam 2\n");
  for (int k = 0; k < 3; ++k) {  // what is counted is a call's
    seen.clear();
    try {
      talk(-1);
      FAIL("an endless loop ended");
    } catch (const gasell::Error& e) {
      CHECK(e.status == GASELL_LIMIT_EXCEEDED);
      CHECK(e.kind == "OutputLimitError");
    }
    CHECK(seen.size() <= 100);
  }
  CHECK(talk(2) == 2);
}

TEST_CASE("what scripts say beside their output has a hook, and counts") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.output = 100;
  gasell::Session session(engine, options);
  std::string seen, output;
  session.set_output([&](std::string_view text) { output += text; });
  session.set_error_output([&](std::string_view text) { seen += text; });
  session.evaluate(
      "import sys, warnings\nprint('error', file=sys.stderr)\nsys.stderr.write('more\\n')\nwarnings.warn('careful')\nprint('out')");
  CHECK_THAT(seen, Contains("error\nmore\n"));
  CHECK_THAT(seen, Contains("careful"));
  CHECK(output == "out\n");
  for (const char* text : {"while True: sys.stderr.write('flood')", "i = 0\nwhile True:\n    i += 1\n    warnings.warn(str(i))",
                           "while True:\n    try:\n        sys.stderr.write('flood')\n    except BaseException: pass"}) {
    CAPTURE(text);
    seen.clear();
    CHECK_THAT(outcome(session, text), Contains("OutputLimitError"));
    CHECK(seen.size() <= 100);
  }
  seen.clear();
  CHECK(outcome(session, "sys.stderr.write('on')") == "2");
  CHECK(seen == "on");
  // A thread of the script's, too.
  seen.clear();
  CHECK_THAT(outcome(session,
                     "from threading import Thread\ndef f():\n    while True: print('flood', file=sys.stderr)\nt = "
                     "Thread(target=f)\nt.start()\nt.join()"),
             Contains("OutputLimitError"));
  CHECK(seen.size() <= 100);
}

TEST_CASE("in a sandbox all that scripts say goes where the output goes") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.sandbox = true;
  gasell::Session session(engine, options);
  std::string output;
  session.set_output([&](std::string_view text) { output += text; });
  session.evaluate("import sys, warnings\nprint('error', file=sys.stderr)\nwarnings.warn('careful')");
  CHECK_THAT(output, Contains("error\n"));
  CHECK_THAT(output, Contains("careful"));
}

TEST_CASE("the engine says what it does, to who listens") {
  gasell::Engine engine;
  gasell::Session session(engine), other(engine);
  std::vector<std::pair<int, std::string>> lines;
  const auto listen = [&](int level, std::string_view text) { lines.emplace_back(level, text); };
  session.set_log(listen, 10);
  CHECK(session.evaluate("float((np.arange(100000.0) * 2).sum())").as<double>() == 9999900000.0);
  REQUIRE(!lines.empty());
  CHECK(lines[0].first == 10);
  CHECK_THAT(lines[0].second, Contains("elements in") && Contains("ms"));
  lines.clear();
  other.evaluate("float((np.arange(100000.0) * 3).sum())");
  CHECK(lines.empty());
  session.set_log(listen);
  session.set_seconds(0.05);
  session.evaluate("float((np.arange(100000.0) * 4).sum())");
  CHECK(lines.empty());
  CHECK_THAT(outcome(session, "while True: pass"), Contains("TimeoutError"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].first == 20);
  CHECK_THAT(lines[0].second, Contains("longer than it may"));
  lines.clear();
  session.set_log({});
  CHECK_THAT(outcome(session, "while True: pass"), Contains("TimeoutError"));
  CHECK(lines.empty());
  CHECK_THROWS_AS(session.set_log(listen, -1), gasell::Error);
}

TEST_CASE("who listens hears of lost GPUs") {
  ::setenv("GASELL_SIM_FAULT", "lost@launch:2", 1);
  gasell::EngineOptions options;
  options.device = "sim:2";
  gasell::Engine engine(options);
  ::unsetenv("GASELL_SIM_FAULT");
  gasell::Session session(engine);
  std::string heard;
  session.set_log([&](int level, std::string_view text) {
    if (level == 30) heard += text;
  });
  for (int k = 1; k < 4; ++k)
    CHECK(session.evaluate("float((np.arange(100000.0) * " + std::to_string(k) + ").sum())").as<double>() == k * 4999950000.0);
  CHECK_THAT(heard, Contains("was lost") && Contains("its work goes to the others"));
}

TEST_CASE("endless recursion ends in direct calls, too") {
  gasell::Engine engine;
  gasell::Session session(engine);
  session.evaluate("@njit\ndef down(n):\n    if n == 0:\n        return 0\n    return down(n - 1) + 1");
  auto down = session.function<int64_t(int64_t)>("down");
  CHECK(down(1000) == 1000);
  try {
    down(-1);
    FAIL("an endless recursion ended");
  } catch (const gasell::Error& e) {
    CHECK(e.kind == "RecursionError");
  }
  CHECK(down(1000) == 1000);
}
