// The statements of compiled functions, on the host.
#include <cstdlib>
#include <thread>

#include "catch.h"
#include "compiler/codegen/externals.h"
#include "compiler/ir/passes.h"
#include "function_support.h"
#include "lang/diagnostic.h"

using namespace gasell;
using namespace gasell::test;

namespace {

Jit& jit() {
  static Jit jit(without_disk());
  return jit;
}

std::string error_of(const std::string& text) {
  try {
    ir::parse(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

int64_t external_sum(int64_t a, double b, int64_t c) { return a + static_cast<int64_t>(b) + c; }
double external_half(double x) { return x / 2; }
void external_set(int64_t address, int64_t value) { *reinterpret_cast<int64_t*>(address) = value; }

bool memory_is_out = false;
std::vector<void*> given;
void* allocate([[maybe_unused]] void* context, int64_t bytes) {
  if (memory_is_out) return nullptr;
  given.push_back(std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64)));
  return given.back();
}

}  // namespace

TEST_CASE("the statements of functions print and parse back") {
  const std::string text =
      R"(kernel f(in x: f64, out y: f64, any z: i32, n: i64, any error: i64, any context: u8, any interrupt: u8) function fast {
  scope done {
    for i in 0 .. n {
      poll
      check k = (i - 1) of n else 4
      if (x[k] == 0.0) {
        leave done
      }
      y[k] = x[i]
    }
    raise 3(i64(z[0]), n)
  }
  allocate t: f64[(n * 2)] else 5
  pointer p: f64 = t
  point p = y
  p[0] = 1.0
  pointer q: f64 = x
  pointer none: f64 = null
  call r: f64 = gasell_f(address(context), n, q[0])
  call gasell_g()
  let call: f64 = r
  var poll: f64 = call
  poll = 2.0
  y[1] = poll
}
)";
  CHECK(ir::print(ir::parse(text)) == text);
}

TEST_CASE("the statements of functions keep their rules") {
  const auto says = [](const std::string& body, const std::string& rule) {
    INFO(body);
    CHECK(error_of("kernel f(in x: f64, out y: f64, n: i64, any error: i64, any context: u8) function { " + body + " }").find(rule) !=
          std::string::npos);
  };
  CHECK(error_of("kernel f(n: i64) { scope a { } }").find("only compiled functions have this statement") != std::string::npos);
  CHECK(error_of("kernel f(any x: i64) { }").find("only compiled functions have parameters of kind any") != std::string::npos);
  CHECK(error_of("kernel f(n: i64) function { raise 1() }").find("a function has the parameters that its statements need (at error)") !=
        std::string::npos);
  says("leave a", "declared before it is used");
  says("leave n", "a leave names a scope it stands in");
  says("scope a { } leave a", "declared before it is used");
  says("scope a { leave a let b: i64 = 1 }", "nothing stands behind a leave or a raise");
  says("scope a { for i in 0 .. n simd { leave a } }", "a leave stays within the iteration");
  says("raise 0()", "a site is a number from 1");
  says("raise 1(n, n, n, n)", "three values at most");
  says("raise 1(x[0])", "an error's values are i64");
  says("poll", "a function has the parameters that its statements need (at interrupt)");
  says("pointer p: i64 = x", "a pointer has its array's type");
  says("pointer p: f64 = x p[0] = 1.0", "never points to an array that is only read");
  says("pointer p: f64 = y point p = x pointer q: f64 = p q[0] = 1.0", "never points to an array that is only read");
  says("point x = y", "only a pointer is pointed elsewhere");
  says("call r: c128 = g()", "no complex numbers");
  says("let a: i64 = address(x)", "an address is an argument of a call");
  says("call g(address(n))", "only arrays are pointed to and have addresses");
  says("check k = n of x else 1", "an array is read by index");
}

TEST_CASE("leave goes behind its scope, over several loops") {
  Function find(jit(), "in x: i64, out found: i64, n: i64, m: i64, wanted: i64", R"(
    found[0] = -1
    scope all {
      for i in 0 .. n {
        scope row {
          for j in 0 .. m {
            let v: i64 = x[((i * m) + j)]
            if (v < 0) { leave row }
            if (v == wanted) { found[0] = ((i * m) + j) leave all }
          }
          found[1] = (found[1] + 1)
        }
      }
      found[0] = -2
    })");
  int64_t x[] = {1, 2, -1, 7, 4, 5, 6, 8, 7}, found[2] = {0, 0};
  find({x, found}, {3, 3, 8});
  CHECK(found[0] == 7);
  CHECK(found[1] == 1);
  find({x, found}, {3, 3, 9});
  CHECK(found[0] == -2);
}

TEST_CASE("a while loop is left from its middle, and both ways of an if may leave") {
  Function collatz(jit(), "out steps: i64, n: i64", R"(
    var k: i64 = n
    scope out_of {
      while true {
        if (k == 1) { leave out_of }
        scope next {
          steps[0] = (steps[0] + 1)
          if ((k % 2) == 0) { k = (k // 2) leave next } else { k = ((3 * k) + 1) leave next }
          steps[0] = -100
        }
      }
    })");
  int64_t steps = 0;
  collatz({&steps}, {27});
  CHECK(steps == 111);
}

TEST_CASE("an index is counted from the end where it is negative, and an error where it is outside") {
  Function get(jit(), "in x: f64, out y: f64, n: i64, i: i64", "check k = i of n else 7 y[0] = x[k]");
  double x[] = {10, 11, 12}, y = 0;
  for (int64_t i = -3; i < 3; ++i) {
    CHECK(get({x, &y}, {3, i}) == Outcome{});
    CHECK(y == x[(i + 3) % 3]);
  }
  y = -1;
  for (int64_t i : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) CHECK(get({x, &y}, {3, i}) == Outcome{{7, i, 3, 0}});
  CHECK(get({x, &y}, {0, 0}) == Outcome{{7, 0, 0, 0}});
  CHECK(y == -1);
}

TEST_CASE("the first error stays and nothing is done behind it") {
  Function f(jit(), "out y: i64, n: i64", "for i in 0 .. n { y[0] = i if (i == 5) { raise 2(i, (i * i), -1) } } raise 3()");
  int64_t y = 0;
  CHECK(f({&y}, {100}) == Outcome{{2, 5, 25, -1}});
  CHECK(y == 5);
  CHECK(f({&y}, {5}) == Outcome{{3, 0, 0, 0}});
  Function later(jit(), "out y: i64", "error[0] = 9 raise 3(1)");
  CHECK(later({&y}) == Outcome{{9, 0, 0, 0}});
}

TEST_CASE("units raise, too") {
  const ir::Kernel kernel =
      ir::parse("kernel f(in x: i64, n: i64, any error: i64) function { for u in 0 .. n unit { check k = x[u] of 10 else 4 } }");
  int64_t x[] = {1, 2, 3, 11, 5, 12}, n = 6, error[4] = {};
  void* arrays[] = {x, error};
  const auto function = jit().compile(kernel).function;
  function(arrays, &n, 0, 3);
  CHECK(error[0] == 0);
  function(arrays, &n, 3, 6);
  CHECK(error[0] == 4);
  CHECK(error[1] == 11);
}

TEST_CASE("memory is asked from the context") {
  register_external("gasell_allocate", reinterpret_cast<void*>(&allocate));
  Function reverse(jit(), "any x: c64, n: i64", R"(
    allocate t: c64[n] else 5
    for i in 0 .. n { t[i] = x[i] }
    for i in 0 .. n { x[i] = t[((n - 1) - i)] })");
  std::complex<float> x[] = {{1, 2}, {3, 4}, {5, 6}};
  CHECK(reverse({x}, {3}) == Outcome{});
  CHECK(x[0] == std::complex<float>(5, 6));
  CHECK(x[2] == std::complex<float>(1, 2));
  memory_is_out = true;
  CHECK(reverse({x}, {3}) == Outcome{{5, 24, 0, 0}});
  memory_is_out = false;
  for (void* memory : given) std::free(memory);
  given.clear();
}

TEST_CASE("pointers change places") {
  // Jacobi's way: two arrays take turns.
  Function smooth(jit(), "any x: f64, any y: f64, n: i64, steps: i64", R"(
    pointer from: f64 = x
    pointer to: f64 = y
    for t in 0 .. steps {
      to[0] = from[0]
      to[(n - 1)] = from[(n - 1)]
      for i in 1 .. (n - 1) { to[i] = ((from[(i - 1)] + from[(i + 1)]) / 2.0) }
      pointer kept: f64 = from
      point from = to
      point to = kept
    }
    if (steps == 3) { for i in 0 .. n { x[i] = from[i] } })");
  double x[] = {0, 0, 0, 16}, y[4] = {};
  smooth({x, y}, {4, 3});
  CHECK(x[1] == 4);
  CHECK(x[2] == 10);
  // An array that is only read, and one of two.
  Function either(jit(), "in a: i8, in b: i8, out r: i8, c: bool", "pointer p: i8 = a if c { point p = b } r[0] = p[0]");
  int8_t a = 3, b = -4, r = 0;
  either({&a, &b, &r}, {0});
  CHECK(r == 3);
  either({&a, &b, &r}, {1});
  CHECK(r == -4);
}

TEST_CASE("calls take and give 64 bits") {
  register_external("test_sum", reinterpret_cast<void*>(&external_sum));
  register_external("test_half", reinterpret_cast<void*>(&external_half));
  register_external("test_set", reinterpret_cast<void*>(&external_set));
  Function f(jit(), "any y: i64, a: i8, b: f32, c: bool, d: u32", R"(
    call s: i64 = test_sum(a, b, c)
    y[0] = s
    call t: i16 = test_sum(d, 1.0, 0)
    y[1] = i64(t)
    call h: f32 = test_half(b)
    y[2] = i64((h * 100.0f32))
    call k: bool = test_sum(1, -1.0, 0)
    y[3] = i64(k)
    call test_set(address(y), (y[0] + 1000)))");
  int64_t y[4] = {};
  f({y}, {-5, slot(2.5), 1, 0xffffffff});
  CHECK(y[0] == -5 + 2 + 1 + 1000);
  CHECK(y[1] == 0);
  CHECK(y[2] == 125);
  CHECK(y[3] == 0);
}

TEST_CASE("who waits is interrupted") {
  Function spin(jit(), "out y: i64", "while true { poll y[0] = (y[0] + 1) }");
  int64_t y = 0;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic_ref(spin.interrupt).store(1);
  });
  CHECK(spin({&y}) == Outcome{{ir::kInterrupted, 0, 0, 0}});
  other.join();
}

TEST_CASE("vars and lets of all types go through functions") {
  for (int t = 0; t < kDTypeCount; ++t) {
    const auto type = static_cast<DType>(t);
    const std::string name = std::string(ir::print(ir::cast(ir::variable("v", type == DType::u8 ? DType::i8 : DType::u8), type)));
    const std::string word = name.substr(0, name.find('('));
    Function f(jit(), "any x: " + word + ", n: i64",
               "var v: " + word + " = x[0] for i in 1 .. n { let w: " + word +
                   " = x[i] x[(i - 1)] = w v = select((i == 2), w, v) } x[(n - 1)] = v");
    Memory x(type,
             {Scalar::of_int(1).cast(type), Scalar::of_int(0).cast(type), Scalar::of_int(3).cast(type), Scalar::of_int(4).cast(type)});
    f({x.data()}, {4});
    INFO(word);
    const int64_t expected[] = {0, 3, 4, 3};
    for (size_t k = 0; k < 4; ++k) CHECK(x[k].same_bits(Scalar::of_int(expected[k]).cast(type)));
  }
}

TEST_CASE("checked bounds hold in functions") {
  Jit checking({.disk_cache = false, .cache_directory = {}, .check_bounds = true});
  register_external("gasell_allocate", reinterpret_cast<void*>(&allocate));
  const auto function = checking
                            .compile(ir::parse(R"(kernel f(in x: f64, out y: f64, n: i64, any error: i64, any context: u8) function {
    allocate t: f64[n] else 1
    pointer p: f64 = t
    for i in 0 .. n { p[i] = x[i] }
    point p = y
    for i in 0 .. n { p[i] = (t[i] + 1.0) }
  })"))
                            .function;
  double x[] = {1, 2, 3}, y[3] = {};
  int64_t error[4] = {}, n = 3;
  uint8_t context = 0;
  void* arrays[] = {x, y, error, &context, x, y, error, &context, x + 3, y + 3, error + 4, &context + 1};
  function(arrays, &n, 0, 1);
  CHECK(y[2] == 4);
  std::free(given.back());
  given.clear();
}

TEST_CASE("serial loops of functions become vectors") {
  const auto code = [](const std::string& head, const std::string& body, const std::string& flags = "") {
    return jit().emit_llvm(ir::parse("kernel f(" + head + ", n: i64) function " + flags + " { " + body + " }"));
  };
  CHECK(code("in b: f64, out a: f64", "for i in 0 .. n { a[i] = (b[i] * 2.0) }").find("x double>") != std::string::npos);
  CHECK(code("any b: f64, any a: f64", "for i in 0 .. n { a[i] = (b[i] * 2.0) }").find("x double>") != std::string::npos);
  const std::string sum = "for i in 0 .. n { s = (s + b[i]) } a[0] = s";
  CHECK(code("in b: i64, out a: i64", "var s: i64 = 0 " + sum).find("vector.reduce.add") != std::string::npos);
  CHECK(code("in b: f64, out a: f64", "var s: f64 = 0.0 " + sum).find("vector.reduce.fadd") == std::string::npos);
  CHECK(code("in b: f64, out a: f64", "var s: f64 = 0.0 " + sum, "fast").find("vector.reduce.fadd") != std::string::npos);
}

TEST_CASE("passes leave the effects of functions") {
  // Stores through another name, an index that is only checked, memory that a call gets.
  const ir::Kernel kernel = ir::parse(R"(kernel f(out y: f64, n: i64, any error: i64, any context: u8) function {
    allocate t: f64[n] else 1
    allocate unused: f64[n] else 2
    unused[0] = 1.0
    local a: f64[4]
    a[0] = 1.0
    pointer p: f64 = t
    point p = a
    p[1] = 2.0
    y[0] = a[1]
    check k = n of 4 else 3
    check same = n of 4 else 4
    call g(address(t))
    if (n > 0) { let c: i64 = n y[c] = 1.0 } else { check c = (n + 1) of 5 else 6 y[c] = 2.0 }
  })");
  const std::string text = ir::print(ir::run_passes(kernel, ir::function_pipeline()));
  INFO(text);
  for (const char* kept : {"a[0] = 1.0", "p[1] = 2.0", "check k", "call g(address(t))", "allocate t", "y[n] = 1.0", "y[c] = 2.0"})
    CHECK(text.find(kept) != std::string::npos);
  for (const char* gone : {"unused", "same"}) CHECK(text.find(gone) == std::string::npos);
}

TEST_CASE("loops in strips run as they did") {
  const std::string count = "for i in b .. e { y[0] = (y[0] + 1) y[1] = (y[1] + i) e = 0 }",
                    all = "scope out_of { for i in b .. e { y[0] = (y[0] + 1) y[1] = (y[1] + i) if (y[0] == 10) { leave out_of } } }";
  Function f(jit(), "out y: i64, b: i64, end: i64", "y[0] = 0 y[1] = 0 var e: i64 = end " + count),
      g(jit(), "out y: i64, b: i64, e: i64", "y[0] = 0 y[1] = 0 " + all);
  CHECK(ir::print(ir::run_passes(f.kernel, ir::function_pipeline())).find("poll") != std::string::npos);
  int64_t y[2];
  for (int64_t begin : {int64_t{0}, int64_t{-3}, int64_t{5}, int64_t{-100000}, INT64_MIN, INT64_MAX - 4097})
    for (int64_t length : {-1, 0, 1, 4095, 4096, 4097, 8191, 8192, 10000}) {
      const int64_t end = begin > INT64_MAX - 10000 ? INT64_MAX : begin == INT64_MIN && length < 0 ? begin : begin + length;
      INFO(begin << " .. " << end);
      CHECK(f({y}, {begin, end}) == Outcome{});
      CHECK(y[0] == std::max<int64_t>(end - begin, 0));
      uint64_t sum = 0;
      for (int64_t i = begin; i < end; ++i) sum += static_cast<uint64_t>(i);
      CHECK(y[1] == static_cast<int64_t>(sum));
    }
  for (const auto& [begin, end] : {std::pair{INT64_MIN, INT64_MAX}, std::pair{int64_t{-5}, INT64_MAX}, std::pair{INT64_MIN, int64_t{3}}}) {
    g({y}, {begin, end});
    CHECK(y[0] == 10);
  }
}

TEST_CASE("every long loop ends when it is asked to, and vectors remain") {
  for (const char* body : {"for i in 0 .. n { y[0] = (y[0] + i) }", "for i in 0 .. 1000000 { y[0] = (y[0] + i) }",
                           "for i in 0 .. n { for j in 0 .. m { y[0] = (y[0] + 1) } }", "while true { y[0] = (y[0] + 1) }",
                           "for i in 0 .. 10 { while true { y[0] = (y[0] + 1) } }"}) {
    INFO(body);
    Function f(jit(), "out y: i64, n: i64, m: i64", body);
    int64_t y = 0;
    f.interrupt = 1;
    CHECK(f({&y}, {int64_t{1} << 40, int64_t{1} << 40}) == Outcome{{ir::kInterrupted, 0, 0, 0}});
    CHECK(y < 4096 * 4096);  // a strip at most
  }
  Function vectors(jit(), "in x: f64, out y: f64, n: i64", "for i in 0 .. n { y[i] = (x[i] * 2.0) }");
  CHECK(jit().emit_llvm(vectors.kernel).find("x double>") != std::string::npos);
  // A loop of few iterations is not cut.
  Function few(jit(), "in x: f64, out y: f64, n: i64", "for i in 0 .. 100 { y[i] = (x[i] * 2.0) }");
  CHECK(ir::print(ir::run_passes(few.kernel, ir::function_pipeline())).find("poll") == std::string::npos);
}

TEST_CASE("functions mapped to a grid run on the host, too") {
  const auto function = jit()
                            .compile(ir::parse(R"(kernel f(in x: i64, any y: i64, n: i64, any error: i64) threads 64 function {
    for u in 0 .. ((n + 63) // 64) unit {
      for t in 0 .. 64 within 64 {
        let i: i64 = ((u * 64) + t)
        scope inside { if (i >= n) { leave inside } check k = x[i] of n else 3 y[k] = i }
      }
    }
  })"))
                            .function;
  std::vector<int64_t> x(100), y(100);
  for (int64_t i = 0; i < 100; ++i) x[static_cast<size_t>(i)] = 99 - i;
  int64_t n = 100, error[4] = {};
  void* arrays[] = {x.data(), y.data(), error};
  function(arrays, &n, 0, 2);
  CHECK(error[0] == 0);
  CHECK(y == x);
  x[70] = 100;
  function(arrays, &n, 0, 2);
  CHECK(error[0] == 3);
  CHECK(error[1] == 100);
}

TEST_CASE("loops of large functions that differ in names alone are compiled once") {
  std::string body;
  for (int k = 2; k < 14; ++k) {
    const std::string i = "i" + std::to_string(k), from = "from" + std::to_string(k);
    body += "let " + from + ": i64 = (n * " + std::to_string(k) + ") for " + i + " in 0 .. n simd { y[(" + from + " + " + i + ")] = (x[" +
            i + "] * 2.0) } ";
  }
  body += "for i in 0 .. n simd { check k = (i + 4990) of 5000 else 7 y[k] = x[i] }";
  Function f(jit(), "in x: f64, out y: f64, n: i64", body);
  const std::string code = jit().emit_llvm(f.kernel);
  size_t parts = 0;
  for (size_t at = 0; (at = code.find("define internal i1", at)) != std::string::npos; ++at) ++parts;
  CHECK(parts == 1);
  std::vector<double> x(5000), y(70000);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k);
  CHECK(f({x.data(), y.data()}, {10}) == Outcome{});
  CHECK(y[139] == 18);
  CHECK(y[4995] == 5);
  CHECK(f({x.data(), y.data()}, {5000}) == Outcome{{7, 5000, 5000, 0}});
  CHECK(y[69999] == 9998);
  f.interrupt = 1;
  CHECK(f({x.data(), y.data()}, {5000}) == Outcome{{ir::kInterrupted, 0, 0, 0}});
}
