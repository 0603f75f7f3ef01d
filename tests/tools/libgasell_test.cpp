// The embedding library as a host program sees it: the public headers and the shared library, nothing of ours beside them.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <gasell/gasell.hpp>
#include <numeric>
#include <thread>

#include "catch.h"

namespace {

struct Fixture {
  gasell::Engine engine;
  gasell::Session session{engine};

  gasell_status status_of(const std::string& text) {
    try {
      session.evaluate(text);
      return GASELL_OK;
    } catch (const gasell::Error& e) {
      return e.status;
    }
  }
};

/// Calls whose last argument is the error object; checks that one comes with a failure, and frees it.
template <class Function, class... Arguments>
gasell_status status_with_error(Function function, Arguments... arguments) {
  gasell_error* error = nullptr;
  const gasell_status status = function(arguments..., &error);
  CHECK((status == GASELL_OK) == (error == nullptr));
  gasell_error_free(error);
  return status;
}

}  // namespace

TEST_CASE("results are read back as C++ values") {
  Fixture f;
  CHECK(f.session.evaluate("1 + 1").as<int>() == 2);
  CHECK(f.session.evaluate("1 / 4").as<double>() == 0.25);
  CHECK(f.session.evaluate("3 > 2").as<bool>());
  CHECK(f.session.evaluate("'é' * 2").text() == "éé");
  CHECK(f.session.evaluate("2 + 3j").as<std::complex<double>>() == std::complex<double>(2, 3));
  CHECK(f.session.evaluate("np.arange(4).sum()").as<int64_t>() == 6);
  CHECK(f.session.evaluate("np.float32(0.5)").as<double>() == 0.5);
  CHECK(f.session.evaluate("[1, 'a', None]").size() == 3);
  CHECK(f.session.evaluate("[1, 'a', None]")[1].text() == "a");
  CHECK(f.session.evaluate("x = 3").is_none());
  CHECK(f.session.evaluate("").is_none());
  CHECK(f.session["x"].kind() == GASELL_KIND_INTEGER);
  CHECK(f.session.evaluate("{}").kind() == GASELL_KIND_DICT);
  CHECK(f.session.evaluate("range(3)").kind() == GASELL_KIND_OTHER);
  CHECK_THROWS_AS(f.session.evaluate("300").as<int8_t>(), std::out_of_range);
  CHECK_THROWS_AS(f.session.evaluate("'a'").as<double>(), gasell::Error);
}

TEST_CASE("values are made, looked into and called") {
  Fixture f;
  const gasell::Value linalg = f.session.module("numpy.linalg");
  CHECK(linalg.attribute("norm")(f.session.evaluate("[3.0, 4.0]")).as<double>() == 5);
  CHECK(f.session
            .evaluate("lambda a, b, c, d: repr((a, b, c, d))")(f.session.make(1), f.session.make(0.5), f.session.make("é"),
                                                               f.session.make(true))
            .text() == "(1, 0.5, 'é', True)");
  CHECK(f.session.evaluate("lambda: 2")().as<int>() == 2);
  CHECK_THROWS_AS(linalg.attribute("nothing"), gasell::Error);
  CHECK_THROWS_AS(f.session.make(1)(), gasell::Error);
  CHECK_THROWS_AS(f.session.make(UINT64_MAX), std::out_of_range);
}

TEST_CASE("arrays are read with dtype, shape and elements") {
  Fixture f;
  const gasell::Value value = f.session.evaluate("np.arange(6, dtype='int16').reshape(2, 3).T");
  const auto view = value.array<int16_t>();
  CHECK(std::vector<int64_t>(view.shape.begin(), view.shape.end()) == std::vector<int64_t>{3, 2});
  CHECK(std::vector<int16_t>(view.elements.begin(), view.elements.end()) == std::vector<int16_t>{0, 3, 1, 4, 2, 5});
  CHECK_THROWS_AS(value.array<double>(), std::invalid_argument);
  CHECK(f.session.evaluate("np.zeros((0, 3))").array<double>().elements.empty());
  CHECK(f.session.evaluate("np.array([True, False])").array<bool>().elements[0]);
  gasell_array description{};
  description.struct_size = sizeof description;
  // Describing computes nothing: this array is larger than any memory.
  const gasell::Value huge = f.session.evaluate("np.ones((1000000, 1000000)) + 1");
  CHECK(status_with_error(gasell_value_describe, huge.handle(), &description) == GASELL_OK);
  CHECK(description.size == 1000000000000);
  CHECK(description.data == nullptr);
  CHECK(status_with_error(gasell_value_array, huge.handle(), &description) == GASELL_ENVIRONMENT);
  CHECK(f.session.evaluate("1").as<int>() == 1);
}

TEST_CASE("bound memory is shared, not copied") {
  Fixture f;
  std::vector<double> x(1000);
  std::iota(x.begin(), x.end(), 0.0);
  f.session.bind("x", std::span(x));
  CHECK(f.session.evaluate("x.sum()").as<double>() == 499500);
  f.session.evaluate("x[10:] = 7\nx[0] += 0.5");
  CHECK(x[0] == 0.5);
  CHECK(x[10] == 7);
  x[1] = 100;  // what is recorded after this sees it
  CHECK(f.session.evaluate("float(x[1])").as<double>() == 100);
  CHECK(f.session.evaluate("x").array<double>().elements.data() == x.data());
}

TEST_CASE("memory bound without the right to write is read-only") {
  Fixture f;
  const std::vector<int32_t> x{1, 2, 3, 4};
  f.session.bind("x", std::span(x), {2, 2});
  CHECK(f.session.evaluate("x.T[0, 1]").as<int>() == 3);
  try {
    f.session.evaluate("x[0] = 5");
    FAIL("a write into read-only memory went through");
  } catch (const gasell::Error& e) {
    CHECK(e.kind == "ValueError");
    CHECK(e.message == "assignment destination is read-only");
  }
  CHECK(x[0] == 1);
}

TEST_CASE("bound memory is released once, when the last array over it is gone") {
  auto alive = std::make_shared<std::vector<float>>(8, 2.0F);
  const std::weak_ptr<std::vector<float>> watch = alive;
  Fixture f;
  {
    gasell::Session session(f.engine);
    session.bind("x", std::span(*alive), {8}, alive);
    alive.reset();
    CHECK_FALSE(watch.expired());
    session.evaluate("y = x[2:4]\nx = None");
    CHECK_FALSE(watch.expired());
    CHECK(session.evaluate("y.sum()").as<double>() == 4);
    session.evaluate("y = None");
    CHECK(watch.expired());
  }
  auto second = std::make_shared<std::vector<float>>(8, 2.0F);
  const std::weak_ptr<std::vector<float>> watch_second = second;
  {
    gasell::Session session(f.engine);
    const std::span<float> elements(*second);
    session.bind("x", elements, {8}, std::exchange(second, nullptr));
    session.evaluate("def f(): return x\nz = [x, f]");
  }
  CHECK(watch_second.expired());
}

TEST_CASE("script errors come with their place, and the session goes on") {
  Fixture f;
  try {
    f.session.evaluate("a = 1\nb = a + missing_name", "host.gsl");
    FAIL("no error");
  } catch (const gasell::Error& e) {
    CHECK(e.status == GASELL_SCRIPT_ERROR);
    CHECK(e.kind == "NameError");
    CHECK(e.message == "name 'missing_name' is not defined");
    CHECK(e.source == "host.gsl");
    CHECK(e.line == 2);
    CHECK(e.column == 9);
    CHECK(e.rendered.find("^^^^^^^^^^^^") != std::string::npos);
  }
  CHECK(f.session.evaluate("a").as<int>() == 1);
  CHECK(f.status_of("(((") == GASELL_SCRIPT_ERROR);
  CHECK(f.status_of("class A(str): pass") == GASELL_LIMITATION);
  CHECK(f.status_of(std::string(1 << 20, '(')) == GASELL_SCRIPT_ERROR);
  CHECK(f.status_of("import sys; sys.exit(3)") == GASELL_EXIT);
  CHECK(f.status_of("open('/nowhere/at_all')") != GASELL_OK);
  CHECK(f.status_of("\xff\xfe") == GASELL_SCRIPT_ERROR);
  CHECK(f.session.evaluate("a").as<int>() == 1);
}

TEST_CASE("wrong calls are refused") {
  Fixture f;
  gasell_session* session = f.session.handle();
  gasell_value* value = nullptr;
  double x = 0;
  const int64_t three = 3, negative = -1, huge[2] = {INT64_MAX, 2};
  CHECK(status_with_error(gasell_engine_create, static_cast<gasell_engine_options*>(nullptr), static_cast<gasell_engine**>(nullptr)) ==
        GASELL_INVALID_ARGUMENT);
  CHECK(status_with_error(gasell_evaluate, static_cast<gasell_session*>(nullptr), "1", nullptr, &value) == GASELL_INVALID_ARGUMENT);
  CHECK(status_with_error(gasell_evaluate, session, static_cast<const char*>(nullptr), nullptr, &value) == GASELL_INVALID_ARGUMENT);
  CHECK(status_with_error(gasell_value_float, static_cast<gasell_value*>(nullptr), &x) == GASELL_INVALID_ARGUMENT);
  const auto bind = [&](const char* name, void* data, int dtype, int rank, const int64_t* shape, unsigned flags) {
    return status_with_error(gasell_bind_array, session, name, data, static_cast<gasell_dtype>(dtype), rank, shape, flags, nullptr,
                             nullptr);
  };
  alignas(8) char memory[64] = {};
  CHECK(bind("x", memory, GASELL_F64, 1, &three, 0) == GASELL_OK);
  CHECK(bind(nullptr, memory, GASELL_F64, 1, &three, 0) == GASELL_INVALID_ARGUMENT);
  CHECK(bind("x", nullptr, GASELL_F64, 1, &three, 0) == GASELL_INVALID_ARGUMENT);
  CHECK(bind("x", memory, 99, 1, &three, 0) == GASELL_INVALID_ARGUMENT);
  CHECK(bind("x", memory, GASELL_F64, -1, &three, 0) == GASELL_INVALID_ARGUMENT);
  CHECK(bind("x", memory, GASELL_F64, 1, nullptr, 0) == GASELL_INVALID_ARGUMENT);
  CHECK(bind("x", memory, GASELL_F64, 1, &negative, 0) == GASELL_INVALID_ARGUMENT);
  CHECK(bind("x", memory, GASELL_F64, 2, huge, 0) == GASELL_INVALID_ARGUMENT);
  CHECK(bind("x", memory + 1, GASELL_F64, 1, &three, 0) == GASELL_INVALID_ARGUMENT);
  CHECK(bind("x", memory, GASELL_F64, 1, &three, 8) == GASELL_INVALID_ARGUMENT);
  gasell::Session other(f.engine);
  CHECK_THROWS_AS(other.bind("v", f.session.evaluate("1")), gasell::Error);
  CHECK(gasell_value_kind(nullptr) == GASELL_KIND_NONE);
  CHECK(gasell_dtype_name(static_cast<gasell_dtype>(99)) == nullptr);
  CHECK(std::strcmp(gasell_dtype_name(GASELL_C64), "complex64") == 0);
  CHECK(gasell_dtype_size(GASELL_C128) == 16);
  gasell_error_free(nullptr);
  gasell_value_free(nullptr);
  gasell_session_free(nullptr);
  gasell_engine_free(nullptr);
  gasell_engine_interrupt(nullptr);
}

TEST_CASE("a caller built against a shorter struct is served as far as it knows") {
  Fixture f;
  gasell_error* error = nullptr;
  REQUIRE(gasell_evaluate(f.session.handle(), "nope", nullptr, nullptr, &error) == GASELL_SCRIPT_ERROR);
  gasell_error_info info;
  std::memset(&info, 0x55, sizeof info);
  info.struct_size = offsetof(gasell_error_info, message);
  CHECK(gasell_error_describe(error, &info) == GASELL_OK);
  CHECK(std::strcmp(info.kind, "NameError") == 0);
  CHECK(reinterpret_cast<uintptr_t>(info.message) == 0x5555555555555555);
  gasell_error_free(error);
}

TEST_CASE("output goes where the host says") {
  Fixture f;
  std::string seen;
  f.session.set_output([&](std::string_view text) { seen += text; });
  f.session.evaluate("print('a', 1)\nprint(np.arange(3))");
  CHECK(seen == "a 1\n[0 1 2]\n");
}

TEST_CASE("another thread interrupts, and the session goes on") {
  Fixture f;
  for (const char* endless : {"while True: pass", "np.sin(da.random.RandomState(1).normal(size=(1000000, 1000000))).sum().compute()"}) {
    std::chrono::steady_clock::time_point asked;
    std::jthread alarm([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      asked = std::chrono::steady_clock::now();
      f.engine.interrupt();
    });
    CHECK(f.status_of(endless) == GASELL_INTERRUPTED);
    alarm.join();
    CHECK(std::chrono::steady_clock::now() - asked < std::chrono::milliseconds(500));
    CHECK(f.session.evaluate("np.ones(5).sum()").as<double>() == 5);
  }
}

TEST_CASE("sessions of one engine have names of their own") {
  gasell::Engine engine;
  gasell::Session first(engine), second(engine);
  first.evaluate("x = np.arange(5)\ndef f(a): return a + 1");
  second.evaluate("x = 'text'");
  CHECK(first.evaluate("f(x).sum()").as<int64_t>() == 15);
  CHECK(second.evaluate("x").as<std::string>() == "text");
  CHECK_THROWS_AS(second.evaluate("f(1)"), gasell::Error);
  second.evaluate("np.set_printoptions(precision=2)\nimport math\nmath.mine = 3");
  CHECK(first.evaluate("hasattr(math, 'mine')").as<bool>() == false);
  {
    gasell::Session third(engine);
    third.evaluate("y = np.ones(100000)\ny.persist()");
  }
  CHECK(first.evaluate("x.sum()").as<int64_t>() == 10);
}

TEST_CASE("a script chooses among the engine's devices") {
  gasell::EngineOptions options;
  options.device = "sim:2";
  gasell::Engine engine(options);
  gasell::Session session(engine);
  session.evaluate("x = np.arange(1000.0)");
  session.evaluate("with device('gpu:1'):\n    y = (x * 2).persist()");
  session.evaluate("with device('cpu'):\n    total = float(y.sum())");
  CHECK(session.evaluate("total").as<double>() == 999000.0);
  CHECK_THROWS_WITH(session.evaluate("with device('gpu:2'):\n    pass"), Catch::Matchers::Contains("there is no GPU 2 in this session"));
  CHECK_THROWS(session.evaluate("with device('cpu'):\n    1 / 0"));
  CHECK(session.evaluate("y.sum()").as<double>() == 999000.0);
}

TEST_CASE("engines are independent") {
  const auto work = [](int seed, double* result) {
    gasell::EngineOptions options;
    options.threads = 1;
    gasell::Engine engine(options);
    gasell::Session session(engine);
    session.bind("seed", seed);
    for (int i = 0; i < 20; ++i) *result = session.evaluate("(np.arange(1000.0) * seed).sum()").as<double>();
  };
  double a = 0, b = 0;
  {
    std::jthread first(work, 1, &a), second(work, 2, &b);
  }
  CHECK(a == 499500);
  CHECK(b == 999000);
}

TEST_CASE("a second thread in a session is refused, and leaves the first one alone") {
  Fixture f;
  f.session.evaluate("n = 0");
  std::atomic<bool> begun = false;
  f.session.set_output([&](std::string_view) { begun = true; });
  std::thread first([&] { CHECK(f.status_of("print('here')\nwhile True:\n    n += 1") == GASELL_INTERRUPTED); });
  while (!begun) std::this_thread::yield();
  std::string refused;
  try {
    f.session.evaluate("n");
  } catch (const gasell::Error& e) {
    CHECK(e.status == GASELL_INVALID_ARGUMENT);
    refused = e.what();
  }
  CHECK(refused.find("another thread uses this session") != std::string::npos);
  gasell::Session own{f.engine};
  CHECK(own.evaluate("1 + 1").as<int>() == 2);
  f.engine.interrupt();
  first.join();
  CHECK(f.session.evaluate("n > 0").as<bool>());
}
