// Loops, branches, variables, memory and parameters, compiled from loop IR as text; checked bounds; the Jit from several threads.
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <numeric>
#include <thread>

#include "catch.h"
#include "unit/compiler/codegen_support.h"

using namespace gasell;
using namespace gasell::test;

namespace {

/// What the process prints on stderr before it ends by abort(); "" when it ends otherwise.
std::string message_of_abort(const std::function<void()>& run) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);  // not the test runner's
    run();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : "";
}

/// Arrays as a kernel that checks bounds wants them: pointers, first bytes, ends.
template <class... T>
std::vector<void*> with_bounds(std::vector<T>&... arrays) {
  return {arrays.data()..., arrays.data()..., arrays.data() + arrays.size()...};
}

}  // namespace

TEST_CASE("units run in the range asked for, a kernel without units when the range begins at 0") {
  Jit jit(without_disk());
  const auto marks = jit.compile(ir::parse("kernel marks(out r: i32) { for u in 0 .. 10 unit { r[u] = 1i32 } }"));
  std::vector<int32_t> r(10);
  void* arrays[] = {r.data()};
  marks.function(arrays, nullptr, 3, 5);
  CHECK(r == std::vector<int32_t>{0, 0, 0, 1, 1, 0, 0, 0, 0, 0});
  marks.function(arrays, nullptr, 7, 7);
  CHECK(std::accumulate(r.begin(), r.end(), 0) == 2);

  const auto whole = jit.compile(ir::parse("kernel whole(out r: i32) { r[0] = (r[0] + 1i32) }"));
  r[0] = 0;
  whole.function(arrays, nullptr, 1, 2);
  CHECK(r[0] == 0);
  whole.function(arrays, nullptr, 0, 1);
  CHECK(r[0] == 1);
}

TEST_CASE("scalar parameters of every type") {
  Jit jit(without_disk());
  for (int t = 0; t < kDTypeCount; ++t) {
    const auto type = static_cast<DType>(t);
    ir::Kernel kernel{"scalar",
                      {{ir::Parameter::Kind::scalar, "before", DType::i64},
                       {ir::Parameter::Kind::scalar, "x", type},
                       {ir::Parameter::Kind::scalar, "after", DType::i64},
                       {ir::Parameter::Kind::out, "r", type},
                       {ir::Parameter::Kind::out, "s", DType::i64}},
                      {}};
    kernel.body = {ir::store("r", ir::constant_i64(0), ir::variable("x", type)),
                   ir::store("s", ir::constant_i64(0), ir::variable("before", DType::i64) + ir::variable("after", DType::i64))};
    const Scalar value = is_complex(type)         ? Scalar::of_complex({1.5, -2.25}, type)
                         : type == DType::boolean ? Scalar::of_bool(true)
                                                  : Scalar::of_float(-3.0).cast(type);
    std::vector<int64_t> slots = {1000};
    if (value.is_integral()) {
      slots.push_back(value.i);
    } else {
      slots.push_back(std::bit_cast<int64_t>(value.c.real()));
      if (is_complex(type)) slots.push_back(std::bit_cast<int64_t>(value.c.imag()));
    }
    slots.push_back(1);
    Memory r(type, 1), s(DType::i64, 1);
    void* arrays[] = {r.data(), s.data()};
    jit.compile(kernel).function(arrays, slots.data(), 0, 1);
    INFO(name_of(type));
    CHECK(r[0].same_bits(value));
    CHECK(s[0].i == 1001);
  }
}

TEST_CASE("branches, variables, nested loops and local arrays") {
  Jit jit(without_disk());
  const auto collatz = jit.compile(ir::parse(R"(kernel collatz(out steps: i64, n: i64) {
    for u in 0 .. n unit {
      var x: i64 = (u + 1)
      var count: i64 = 0
      while (x != 1) {
        if ((x % 2) == 0) { x = (x // 2) } else { x = ((3 * x) + 1) }
        count = (count + 1)
      }
      steps[u] = count
    }
  })"));
  std::vector<int64_t> steps(9);
  const int64_t n = 9;
  void* arrays[] = {steps.data()};
  collatz.function(arrays, &n, 0, n);
  CHECK(steps == std::vector<int64_t>{0, 1, 7, 2, 5, 8, 16, 3, 19});

  // Loops whose range is empty or backwards do nothing; a local array lives a unit long; complex variables have two parts.
  const auto sums = jit.compile(ir::parse(R"(kernel sums(in x: c128, out r: c128, n: i64) {
    for u in 0 .. 3 unit {
      local strip: c128[16]
      for i in 0 .. 16 simd { strip[i] = (x[i] * c128(u)) }
      var total: c128 = (0.0, 0.0)c128
      for i in 5 .. (u * 8) { for j in i .. (i + 1) { total = (total + strip[j]) } }
      r[u] = total
    }
  })"));
  std::vector<std::complex<double>> x(16), r(3);
  for (size_t k = 0; k < 16; ++k) x[k] = {static_cast<double>(k), -1.0};
  void* complex_arrays[] = {x.data(), r.data()};
  sums.function(complex_arrays, &n, 0, 3);
  CHECK(r == std::vector<std::complex<double>>{{0, 0}, {5 + 6 + 7, -3}, {2 * (5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15), -22}});
}

TEST_CASE("threads that want one kernel get one compilation") {
  Jit jit(without_disk());
  std::vector<HostKernel> kernels(8);
  {
    std::vector<std::jthread> threads;
    for (size_t k = 0; k < kernels.size(); ++k)
      threads.emplace_back([&jit, &kernel = kernels[k], k] {
        kernel = jit.compile(ir::parse("kernel k(out r: f64) { r[0] = " + std::to_string(k % 2) + ".5 }"));
      });
  }
  int compiled = 0;
  for (size_t k = 0; k < kernels.size(); ++k) {
    CHECK(kernels[k].function == kernels[k % 2].function);
    compiled += kernels[k].origin == HostKernel::Origin::compiled;
    double r = 0;
    void* arrays[] = {&r};
    kernels[k].function(arrays, nullptr, 0, 1);
    CHECK(r == static_cast<double>(k % 2) + 0.5);
  }
  CHECK(compiled == 2);
}

TEST_CASE("with checked bounds a kernel does what it does without, until an address is wrong") {
  JitOptions options = without_disk();
  options.check_bounds = true;
  Jit jit(options);
  const ir::Kernel kernel = ir::parse(R"(kernel shift(in x: f64, out y: c64, distance: i64) {
    for u in 0 .. 4 unit {
      local strip: f64[4]
      strip[u] = x[(u + distance)]
      y[u] = c64(strip[u])
    }
  })");
  std::vector<double> x = {1, 2, 3, 4, 5};
  std::vector<std::complex<float>> y(4);
  std::vector<void*> arrays = with_bounds(x, y);
  const auto shift = jit.compile(kernel).function;
  int64_t distance = 1;
  shift(arrays.data(), &distance, 0, 4);
  CHECK(y == std::vector<std::complex<float>>{2, 3, 4, 5});

  auto run = [&](int64_t by, int64_t begin, int64_t end) {
    return message_of_abort([&, by, begin, end] { shift(arrays.data(), &by, begin, end); });
  };
  CHECK(run(2, 0, 4) == "gasell: internal error: kernel shift uses x[5], which has elements 0 to 4\n");
  CHECK(run(-1, 0, 4) == "gasell: internal error: kernel shift uses x[-1], which has elements 0 to 4\n");
  CHECK(run(0, 4, 5) == "gasell: internal error: kernel shift uses strip[4], which has elements 0 to 3\n");

  // Where an array begins within its memory: what stands before it may be read too.
  arrays[0] = x.data() + 3;
  distance = -3;
  shift(arrays.data(), &distance, 0, 4);
  CHECK(y == std::vector<std::complex<float>>{1, 2, 3, 4});
  CHECK(run(-4, 0, 4) == "gasell: internal error: kernel shift uses x[-4], which has elements -3 to 1\n");
}
