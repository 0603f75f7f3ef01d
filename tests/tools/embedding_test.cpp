// Typed calls, functions of the program, sessions at the same time and limits, as a host program sees them.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gasell/gasell.hpp>
#include <new>
#include <numeric>
#include <thread>

#include "catch.h"

namespace {

/// What this program and the library have asked the heap for.
std::atomic<int64_t> allocations = 0;

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace {

using Catch::Matchers::Contains;

gasell_status status_of(gasell::Session& session, const std::string& text) {
  try {
    session.evaluate(text);
    return GASELL_OK;
  } catch (const gasell::Error& e) {
    return e.status;
  }
}

std::string error_of(gasell::Session& session, const std::string& text) {
  try {
    session.evaluate(text);
    return "";
  } catch (const gasell::Error& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a function of a script is one of C++") {
  gasell::Engine engine;
  const std::vector<double> x{1, 2, 3};
  auto scaled = engine.compile<double(std::span<const double>, double)>("def f(x, a): return (a * x).sum()");
  CHECK(scaled.is_direct());
  CHECK(scaled(x, 2.0) == 12.0);
  CHECK(scaled(std::span<const double>(), 2.0) == 0.0);

  auto add = engine.compile<int64_t(int32_t, int64_t)>("@njit\ndef add(a, b):\n    return a + b\n");
  CHECK(add.is_direct());
  CHECK(add(-3, int64_t{1} << 40) == (int64_t{1} << 40) - 3);

  auto complex = engine.compile<std::complex<double>(std::complex<double>)>("def f(z): return z * z");
  CHECK(complex({0, 2}) == std::complex<double>(-4, 0));
  auto truth = engine.compile<bool(double)>("def f(x): return x > 1");
  CHECK(truth(2.0));
  CHECK_FALSE(truth(0.5));
  auto single = engine.compile<float(float)>("def f(x): return x * x");
  CHECK(single(1.5F) == 2.25F);
}

TEST_CASE("outputs are written in place, with any strides") {
  gasell::Engine engine;
  auto twice = engine.compile<void(std::span<const double>, std::span<double>)>(
      "def f(x, out):\n    for i in range(x.size):\n        out[i] = 2 * x[i]\n");
  const std::vector<double> x{1, 2, 3};
  std::vector<double> out(3);
  twice(x, out);
  CHECK(out == std::vector<double>{2, 4, 6});

  // The second column of three, of rows with a gap, and backwards.
  std::vector<double> grid(12);
  std::iota(grid.begin(), grid.end(), 0.0);
  auto total = engine.compile<double(gasell::View<const double, 2>)>(
      "def f(a):\n    s = 0.0\n    for i in range(a.shape[0]):\n        for j in range(a.shape[1]):\n            s = 10 * s + a[i, j]\n    "
      "return s\n");
  CHECK(total({grid.data() + 1, {2, 2}, {4, 1}}) == 1256.0);
  CHECK(total({grid.data() + 6, {2, 2}, {-4, -1}}) == 6521.0);

  // What is written overlaps what is read: as in NumPy's order of the loop.
  auto shift = engine.compile<void(std::span<const double>, std::span<double>)>(
      "def f(x, out):\n    for i in range(x.size):\n        out[i] = x[i] + 1\n");
  std::vector<double> chain(5, 0.0);
  shift(std::span<const double>(chain.data(), 4), std::span(chain.data() + 1, 4));
  CHECK(chain == std::vector<double>{0, 1, 2, 3, 4});
}

TEST_CASE("functions of all kinds are called from C++") {
  gasell::Engine engine;
  gasell::Session session(engine);
  session.evaluate(R"(
from numba import cuda
@vectorize
def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)
@stencil
def mean3(a):
    return (a[-1] + a[0] + a[1]) / 3
def plain(x):
    return x[::-1] * 2
@njit
def pair(x):
    return x.sum(), x.size
@cuda.jit
def fill(out, value):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value
def run(out):
    fill[1, 32](out, 7.0)
def describe(name, x):
    return f"{name}: {x.size}"
)");
  const std::vector<double> a{3, 5}, b{4, 12};
  auto hypotenuse = session.function<gasell::Value(std::span<const double>, std::span<const double>)>("hypotenuse");
  CHECK(hypotenuse(a, b).array<double>().elements[1] == 13.0);
  auto one = session.function<double(double, double)>("hypotenuse");
  CHECK(one(3, 4) == 5.0);
  auto in_place = session.function<std::span<double>(std::span<const double>, std::span<const double>)>("hypotenuse");
  std::vector<double> out(2);
  in_place(out, a, b);
  CHECK(out == std::vector<double>{5, 13});
  std::vector<double> wrong(3);
  CHECK_THROWS_WITH(in_place(wrong, a, b), Contains("shape (2,)") && Contains("(3,)"));

  const std::vector<double> line{1, 2, 6, 1};
  auto mean = session.function<gasell::Value(std::span<const double>)>("mean3");
  CHECK(mean(line).array<double>().elements[1] == 3.0);
  auto plain = session.function<gasell::Value(std::span<const double>)>("plain");
  const gasell::Value reversed = plain(line);
  CHECK(reversed.array<double>().elements[0] == 2.0);
  CHECK(reversed.view<double, 1>()(2) == 4.0);
  auto pair = session.function<gasell::Value(std::span<const double>)>("pair");
  CHECK(pair(line)[1].as<int>() == 4);
  auto describe = session.function<gasell::Value(std::string_view, std::span<const double>)>("describe");
  CHECK(describe("line", line).text() == "line: 4");
}

TEST_CASE("signatures are checked when a function is asked for") {
  gasell::Engine engine;
  gasell::Session session(engine);
  session.evaluate("@njit\ndef half(x):\n    return x / 2\n@njit\ndef bad(x):\n    return x.nope\nn = 3");
  CHECK_THROWS_WITH(session.function<int(double)>("half"), Contains("half() returns float64, which int32 does not hold"));
  CHECK_THROWS_WITH((session.function<double(double, double)>("half")), Contains("half() takes 1 arguments, its signature has 2"));
  CHECK_THROWS_WITH(session.function<double(double)>("missing"), Contains("name 'missing' is not defined"));
  CHECK_THROWS_WITH(session.function<double(double)>("bad"), Contains("nope"));
  CHECK(session.function<float(float)>("half")(3.0F) == 1.5F);
  gasell_function* function = nullptr;
  gasell_error* error = nullptr;
  CHECK(gasell_get_function(session.handle(), "half", "float64(floot64)", &function, &error) == GASELL_INVALID_ARGUMENT);
  gasell_error_info info{};
  info.struct_size = sizeof info;
  gasell_error_describe(error, &info);
  CHECK_THAT(info.message, Contains("names no type, at character"));
  gasell_error_free(error);
}

TEST_CASE("what a compiled function raises has its place") {
  gasell::Engine engine;
  auto at = engine.compile<double(std::span<const double>, int64_t)>("def f(x, i):\n    return x[i]\n");
  const std::vector<double> x{1, 2};
  CHECK(at(x, -1) == 2.0);
  try {
    at(x, 5);
    FAIL("nothing was raised");
  } catch (const gasell::Error& e) {
    CHECK(e.kind == "IndexError");
    CHECK(e.line == 2);
    CHECK(e.column == 14);
    CHECK(e.end_column == 15);
    CHECK_THAT(e.json, Contains("\"kind\":\"IndexError\"") && Contains("\"line\":2"));
  }
  gasell::Session session(engine);
  try {
    session.evaluate("def inner():\n    return 1 / 0\ndef outer():\n    return inner()\nouter()", "job");
    FAIL("nothing was raised");
  } catch (const gasell::Error& e) {
    CHECK_THAT(e.json, Contains("\"calls\":[{") && Contains("called from here, in outer") && Contains("\"source\":\"job\""));
  }
}

TEST_CASE("direct calls take no memory of the heap and make no thread") {
  gasell::Engine engine;
  auto f = engine.compile<double(std::span<const double>, double)>(
      "def f(x, a):\n    s = 0.0\n    for i in range(x.size):\n        s += x[i] * a\n    return s\n");
  const std::vector<double> x(16, 1.0);
  CHECK(f(x, 2.0) == 32.0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(allocations > 1000);  // the library's are counted
#endif
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  const auto threads_before = threads();
  const int64_t before = allocations;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += f(x, 1.0);
  const int64_t after = allocations;
  CHECK(sum == 16000.0);
  CHECK(after == before);
  CHECK(threads() == threads_before);
}

TEST_CASE("direct calls come from any threads at once") {
  gasell::Engine engine;
  auto sum = engine.compile<double(std::span<const double>, double)>(
      "@njit\ndef f(x, a):\n    t = x * a\n    s = 0.0\n    for i in range(t.size):\n        s += t[i]\n    return s\n");
  REQUIRE(sum.is_direct());
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        const std::vector<double> x(100, t + 1.0);
        for (int i = 0; i < 2000; ++i)
          if (sum(x, 2.0) != 200.0 * (t + 1)) ++wrong;
      });
  }
  CHECK(wrong == 0);
}

TEST_CASE("sessions of one engine run at the same time") {
  gasell::Engine engine;
  std::atomic<int> wrong = 0;
  constexpr int kCalls = 10000;
  const auto work = [&](int seed) {
    gasell::Session session(engine);
    session.bind("seed", seed);
    session.evaluate(
        "@njit\ndef triangle(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"
        "df = pd.DataFrame({'k': [1, 2, 1, 2], 'v': np.arange(4) * seed})\nx = np.arange(1000.0) * seed\n");
    auto triangle = session.function<int64_t(int64_t)>("triangle");
    for (int i = 0; i < kCalls; ++i) {
      bool right = true;
      switch (i % 400) {
        case 0: right = session.evaluate("df.groupby('k')['v'].sum().loc[2]").as<int>() == 4 * seed; break;
        case 100: right = session.evaluate("(x * 2 + 1).sum()").as<double>() == 999000.0 * seed + 1000; break;
        case 200: right = session.evaluate("triangle(seed + 10)").as<int>() == (seed + 10) * (seed + 9) / 2; break;
        case 300: right = session.evaluate("sorted([seed, 1, 2])[0]").as<int>() == 1; break;
        default:
          if (i % 2)
            right = triangle(i) == int64_t{i} * (i - 1) / 2;
          else
            right = session.evaluate("seed * 3").as<int>() == seed * 3;
      }
      if (!right) ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 1; t <= 8; ++t) threads.emplace_back(work, t);
  }
  CHECK(wrong == 0);
}

TEST_CASE("eight threads call functions of eight sessions each") {
  gasell::Engine engine;
  std::atomic<int> wrong = 0;
  constexpr int kThreads = 8, kSessions = 8, kCalls = 10000;
  const auto work = [&](int thread) {
    struct Own {
      gasell::Session session;
      gasell::Function<double(std::span<const double>, double)> compiled;
      gasell::Function<int64_t(int64_t)> interpreted;
    };
    std::vector<Own> sessions;
    for (int s = 0; s < kSessions; ++s) {
      gasell::Session session(engine);
      session.bind("own", thread * kSessions + s);
      session.evaluate(
          "@njit\ndef dot(x, a):\n    s = 0.0\n    for i in range(x.size):\n        s += x[i] * a\n    return s\n"
          "def shifted(n):\n    return n + own\n");
      auto compiled = session.function<double(std::span<const double>, double)>("dot");
      auto interpreted = session.function<int64_t(int64_t)>("shifted");
      sessions.push_back({std::move(session), std::move(compiled), std::move(interpreted)});
    }
    const std::vector<double> x(16, thread + 1.0);
    for (int i = 0; i < kCalls; ++i) {
      for (int s = 0; s < kSessions; ++s) {
        Own& own = sessions[s];
        const int number = thread * kSessions + s;
        const bool right = i % 1000 == 999 ? own.session.evaluate("own * 3").as<int>() == number * 3
                           : i % 10 == 9   ? own.interpreted(i) == i + number
                                           : own.compiled(x, i) == 16.0 * (thread + 1) * i;
        if (!right) ++wrong;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  }
  CHECK(wrong == 0);
}

TEST_CASE("what the process has one of, each session has of its own") {
  gasell::Engine engine;
  gasell::Session first(engine), second(engine);
  const char* seeded =
      "np.random.seed(1)\n@njit\ndef draw():\n    return np.random.random()\n@njit\ndef seed(n):\n    np.random.seed(n)\nseed(1)";
  first.evaluate(seeded);
  const std::string alone = first.evaluate("str([np.random.random() for i in range(3)] + [draw(), draw()])").text();
  first.evaluate("np.random.seed(1)\nseed(1)");
  second.evaluate(seeded);
  second.evaluate("np.random.seed(2)\nnp.random.random(10)\nseed(3)\ndraw()\nnp.set_printoptions(precision=2)\nnp.seterr(divide='ignore')");
  CHECK(first.evaluate("str([np.random.random() for i in range(3)] + [draw(), draw()])").text() == alone);
  CHECK(first.evaluate("str(np.array([1 / 3]))").text() == "[0.33333333]");
  CHECK(first.evaluate("np.geterr()['divide']").text() == "warn");
  CHECK_FALSE(first.function<double()>("draw").is_direct());
}

TEST_CASE("functions of the program call scripts") {
  gasell::Engine engine;
  gasell::Session session(engine);
  session.define("ask", [&session](int64_t n) { return session.evaluate("answer(" + std::to_string(n) + ")").as<int64_t>(); });
  session.evaluate("def answer(n):\n    return n if n > 3 else ask(n + 1) * 2\n");
  CHECK(session.evaluate("ask(0)").as<int>() == 64);
  CHECK_THAT(error_of(session, "def answer(n): return ask(n)\nask(1)"), Contains("RecursionError"));
  CHECK(session.evaluate("1 + 1").as<int>() == 2);
}

TEST_CASE("a sandbox holds hosts' sessions, too") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.sandbox = true;
  gasell::Session session(engine, options);
  CHECK_THAT(error_of(session, "open('/etc/passwd')"), Contains("PermissionError"));
  CHECK_THAT(error_of(session, "import os\nos.environ['HOME']"), Contains("KeyError"));
  CHECK_THAT(error_of(session, "pd.read_csv('/etc/passwd')"), Contains("PermissionError"));
  session.define("lines", [] { return int64_t{7}; });
  CHECK(session.evaluate("lines() + np.arange(3).sum()").as<int>() == 10);
  options.allow = {"everything"};
  CHECK_THROWS_WITH(gasell::Session(engine, options), Contains("nothing to allow"));
  options.allow = {"read:/nowhere"};
  CHECK_THROWS_WITH(gasell::Session(engine, options), Contains("no such folder to grant"));
}

TEST_CASE("sessions take turns on GPUs") {
  gasell::EngineOptions options;
  options.device = "sim:2";
  gasell::Engine engine(options);
  std::atomic<int> wrong = 0;
  const auto work = [&](int seed) {
    gasell::Session session(engine);
    session.bind("seed", seed);
    session.evaluate("x = np.arange(1000.0) * seed");
    for (int i = 0; i < 20; ++i) {
      const gasell::Value sum = session.evaluate("(x * 2 + 1).sum()");
      if (sum.as<double>() != 999000.0 * seed + 1000) ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 1; t <= 3; ++t) threads.emplace_back(work, t);
  }
  CHECK(wrong == 0);
  // Who waits for its turn can be interrupted.
  gasell::Session first(engine), second(engine);
  std::atomic<bool> begun = false;
  first.set_output([&](std::string_view) { begun = true; });
  gasell_status status{};
  std::jthread busy([&] { status = status_of(first, "print('here')\nwhile True: pass"); });
  while (!begun) std::this_thread::yield();
  second.set_seconds(0.1);
  CHECK(status_of(second, "1 + 1") == GASELL_LIMIT_EXCEEDED);
  first.interrupt();
  busy.join();
  CHECK(status == GASELL_INTERRUPTED);
  CHECK(second.evaluate("1 + 1").as<int>() == 2);
}

TEST_CASE("a direct call forgets interrupts from before it") {
  gasell::Engine engine;
  auto count = engine.compile<int64_t(int64_t)>("def f(n):\n    s = 0\n    while s < n:\n        s += 1\n    return s\n");
  engine.interrupt();
  CHECK(count(1000) == 1000);
  std::atomic<bool> begun = false;
  std::jthread stopper([&] {
    while (!begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    engine.interrupt();
  });
  begun = true;
  CHECK_THROWS_AS(count(int64_t{1} << 60), gasell::Error);
}

TEST_CASE("an interrupt of one session leaves the others alone, one of the engine does not") {
  gasell::Engine engine;
  gasell::Session first(engine), second(engine);
  std::atomic<int> begun = 0;
  const auto note = [&](std::string_view text) { begun += text.find("here") != text.npos; };
  first.set_output(note);
  second.set_output(note);
  std::atomic<bool> first_ended = false, second_ended = false;
  gasell_status first_status{}, second_status{};
  std::jthread one([&] {
    first_status = status_of(first, "print('here')\ntry:\n    while True: pass\nexcept BaseException:\n    while True: pass");
    first_ended = true;
  });
  std::jthread two([&] {
    second_status = status_of(second, "print('here')\nwhile True: pass");
    second_ended = true;
  });
  while (begun < 2) std::this_thread::yield();
  first.interrupt();
  one.join();
  CHECK(first_ended);
  CHECK(first_status == GASELL_INTERRUPTED);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK_FALSE(second_ended);
  engine.interrupt();
  two.join();
  CHECK(second_status == GASELL_INTERRUPTED);
  CHECK(first.evaluate("1 + 1").as<int>() == 2);
}

TEST_CASE("values are freed from any thread") {
  gasell::Engine engine;
  gasell::Session session(engine);
  std::atomic<bool> begun = false;
  session.set_output([&](std::string_view) { begun = true; });
  auto value = std::make_unique<gasell::Value>(session.evaluate("[1, 2, 3]"));
  gasell_status status{};
  std::jthread busy([&] { status = status_of(session, "print('here')\nwhile True: pass"); });
  while (!begun) std::this_thread::yield();
  value.reset();
  session.interrupt();
  busy.join();
  CHECK(status == GASELL_INTERRUPTED);
}

TEST_CASE("functions of the program are called by scripts") {
  gasell::Engine engine;
  gasell::Session session(engine);
  int calls = 0;
  session.define("price", [&calls](double s, double k) {
    ++calls;
    return s > k ? s - k : 0.0;
  });
  CHECK(session.evaluate("price(5, 3.5)").as<double>() == 1.5);
  CHECK(session.evaluate("price(np.array([1.0, 4.0, 9.0]), 2).tolist()").text() == "[0.0, 2.0, 7.0]");
  CHECK(session.evaluate("price(np.arange(3.0)[:, None], np.arange(2.0)).shape").text() == "(3, 2)");
  CHECK(calls == 10);
  CHECK_THAT(error_of(session, "price(1)"), Contains("price() takes 2 positional arguments but 1 was given"));

  session.define("count_true",
                 [](std::span<const bool> flags) { return static_cast<int64_t>(std::count(flags.begin(), flags.end(), true)); });
  CHECK(session.evaluate("count_true(np.arange(10) > 6)").as<int>() == 3);
  session.define("fill", [](std::span<double> out, double value) { std::fill(out.begin(), out.end(), value); });
  CHECK(session.evaluate("a = np.zeros(4)\nb = a + 1\nfill(a, 2.5)\n[a.sum(), b.sum()]").text() == "[np.float64(10.0), np.float64(4.0)]");
  session.define("check", [](int64_t n) {
    if (n < 0) throw std::invalid_argument("n must not be negative");
    return n;
  });
  CHECK(session.evaluate("try:\n    check(-1)\nexcept ValueError as e:\n    m = str(e)\nm").text() == "n must not be negative");
  session.define("shout", [](std::string_view text) { return static_cast<int64_t>(text.size()); });
  CHECK(session.evaluate("shout('hello')").as<int>() == 5);
  CHECK_THAT(error_of(session, "shout(3)"), Contains("takes a str"));
}

TEST_CASE("compiled functions call functions of the program") {
  gasell::Engine engine;
  gasell::Session session(engine);
  session.define("price", [](double s, double k) { return s > k ? s - k : 0.0; });
  session.define("next_seed", [](uint32_t n) { return n * 3U + 1U; });
  session.define("check", [](int64_t n) {
    if (n > 2) throw std::out_of_range("too many");
  });
  session.evaluate(R"(
@njit
def total(x, k):
    s = 0.0
    for i in range(x.size):
        s += price(x[i], k)
    return s
@njit(parallel=True)
def together(x):
    s = 0.0
    for i in prange(x.size):
        s += price(x[i], 1)
    return s
@njit
def seeds(n):
    a = np.uint32(1)
    for i in range(n):
        a = next_seed(a)
    return a
@njit
def fails(n):
    for i in range(n):
        check(i)
    return n
)");
  CHECK(session.evaluate("total(np.arange(5.0), 2)").as<double>() == 3.0);
  CHECK(session.evaluate("together(np.arange(100000.0))").as<double>() == 4999850001.0);
  CHECK(session.evaluate("int(seeds(3))").as<int>() == 40);
  CHECK(session.evaluate("fails(3)").as<int>() == 3);
  CHECK_THAT(error_of(session, "fails(4)"), Contains("IndexError: too many"));
  CHECK_THAT(error_of(session, "@njit\ndef wrong(x): return price(x)\nwrong(1.0)"), Contains("price() takes 2 numbers"));
}

TEST_CASE("objects of the program pass through scripts") {
  struct Camera {
    int frames;
  };
  gasell::Engine engine;
  auto camera = std::make_shared<Camera>(Camera{7});
  {
    gasell::Session session(engine);
    session.bind_object("camera", camera, "Camera");
    CHECK(camera.use_count() == 2);
    const gasell::Value value = session.evaluate("holder = [camera]\nholder[0]");
    CHECK(value.kind() == GASELL_KIND_HANDLE);
    CHECK(value.object<Camera>("Camera").frames == 7);
    CHECK_THROWS_WITH(value.object<Camera>("Printer"), Contains("'Camera' is no Printer"));
    CHECK(session.evaluate("repr(camera)").text() == "<Camera handle>");
  }
  CHECK(camera.use_count() == 1);
}

TEST_CASE("memory is bound with strides") {
  gasell::Engine engine;
  gasell::Session session(engine);
  std::vector<float> image(4 * 10);
  std::iota(image.begin(), image.end(), 0.0F);
  session.bind("window", gasell::View<float, 2>{image.data() + 2, {3, 4}, {10, 2}});
  CHECK(session.evaluate("window.tolist()[1]").text() == "[12.0, 14.0, 16.0, 18.0]");
  session.evaluate("before = window.sum()\nwindow[1:] += 100");
  CHECK(image[12] == 112.0F);
  CHECK(image[13] == 13.0F);
  CHECK(session.evaluate("before").as<double>() == 180.0);
  session.bind("back", gasell::View<const float, 1>{image.data() + 39, {40}, {-1}});
  CHECK(session.evaluate("back[0]").as<double>() == 39.0);
  CHECK_THAT(error_of(session, "back[0] = 1"), Contains("read-only"));
}

TEST_CASE("lists, dicts and times go in and out") {
  gasell::Engine engine;
  gasell::Session session(engine);
  session.bind_json("config", R"({"name": "é", "sizes": [1, 2.5, null, true], "inner": {"k": -7}})");
  CHECK(session.evaluate("config['inner']['k'] + config['sizes'][0]").as<int>() == -6);
  CHECK(session.evaluate("config").json() == R"({"name":"é","sizes":[1,2.5,null,true],"inner":{"k":-7}})");
  CHECK(session.evaluate("{'a': np.arange(4).reshape(2, 2), 'b': (1, 'x'), 'c': np.float32(0.5)}").json() ==
        R"({"a":[[0,1],[2,3]],"b":[1,"x"],"c":0.5})");
  CHECK_THROWS_WITH(session.evaluate("{1: 2}").json(), Contains("keys must be str, not int"));
  CHECK_THROWS_WITH(session.evaluate("[float('nan')]").json(), Contains("JSON has no number"));
  CHECK_THROWS_WITH(session.evaluate("l = []\nl.append(l)\nl").json(), Contains("Circular reference"));
  CHECK_THROWS_WITH(session.bind_json("x", "{"), Contains("no JSON"));
  CHECK(session.evaluate("{'a': 3}")["a"].as<int>() == 3);
  CHECK_THROWS_WITH(session.evaluate("{'a': 3}")["b"], Contains("KeyError"));
  CHECK(session.evaluate("pd.DataFrame({'v': [1, 2]})")["v"].kind() == GASELL_KIND_SERIES);

  using namespace std::chrono;
  const sys_time<nanoseconds> time = sys_days(2024y / 2 / 29) + 13h + 5ns;
  session.bind("t", time);
  CHECK(session.evaluate("str(t)").text() == "2024-02-29 13:00:00.000000005");
  CHECK(session.evaluate("t + pd.Timedelta('1D')").time() == time + 24h);
  CHECK(session.evaluate("pd.Timedelta('90min')").duration() == 90min);
  CHECK_THROWS_AS(session.evaluate("3").time(), gasell::Error);
}

TEST_CASE("calls end in time") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.seconds = 0.2;
  gasell::Session session(engine, options);
  for (const char* endless :
       {"while True: pass", "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "def f(): f()\nwhile True:\n    try: f()\n    except RecursionError: pass", "sum(i for i in iter(int, 1))",
        "@njit\ndef f():\n    n = 0\n    while True:\n        n += 1\n    return n\nf()", "import time\ntime.sleep(100)",
        "np.sin(da.random.RandomState(1).normal(size=(1000000, 1000000))).sum().compute()"}) {
    INFO(endless);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(status_of(session, endless) == GASELL_LIMIT_EXCEEDED);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1500));
  }
  CHECK(session.evaluate("1 + 1").as<int>() == 2);
  session.set_seconds(0);

  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  CHECK_THROWS_AS(session.evaluate("while True: pass", source.get_token()), gasell::Error);
  CHECK_THROWS_AS(session.evaluate("1", source.get_token()), gasell::Error);
  CHECK(session.evaluate("2").as<int>() == 2);
}

TEST_CASE("calls print, recurse and allocate within limits") {
  gasell::Engine engine;
  gasell::SessionOptions options;
  options.output = 100;
  options.recursion = 50;
  options.memory = 1 << 20;
  gasell::Session session(engine, options);
  std::string seen;
  session.set_output([&](std::string_view text) { seen += text; });
  CHECK(status_of(session, "while True:\n    try:\n        print('spam')\n    except BaseException: pass") == GASELL_LIMIT_EXCEEDED);
  CHECK(seen.size() <= 100);
  CHECK(status_of(session, "print('again')") == GASELL_OK);
  CHECK_THAT(error_of(session, "def f(n): return 0 if n == 0 else f(n - 1)\nf(60)"), Contains("RecursionError"));
  CHECK_THAT(error_of(session, "x = np.ones(1000000)\nx.sum()\nx[0] = 1"), Contains("MemoryError"));
  CHECK(status_of(session, "for i in range(100):\n    y = np.ones(60000) * i\n    y.persist()") == GASELL_OK);
}
