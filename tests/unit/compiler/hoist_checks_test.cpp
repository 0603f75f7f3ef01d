// Hoisted bounds checks: the same results and the same errors as without, for indices inside and outside.
#include <algorithm>
#include <numeric>
#include <random>

#include "catch.h"
#include "compiler/ir/hoist_checks.h"
#include "compiler/ir/passes.h"
#include "function_support.h"

using namespace gasell;
using namespace gasell::test;

namespace {

Jit& jit() {
  static Jit jit(without_disk());
  return jit;
}

/// How many checks are in a text.
size_t checks(const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find("check "); at != std::string::npos; at = text.find("check ", at + 1)) ++count;
  return count;
}

/// The first of the two versions of a kernel that was made two.
std::string fast_version(const ir::Kernel& kernel) {
  const std::string text = ir::print(ir::hoist_checks(kernel));
  const size_t begin = text.find("if ("), end = text.find("} else {");
  return begin == std::string::npos || end == std::string::npos ? "" : text.substr(begin, end - begin);
}

}  // namespace

TEST_CASE("a stencil's checks are hoisted, and hold at each border") {
  // y[i, j] = the sum of the 3 x 3 elements around x[i, j], for rows r0 .. r1 and columns c0 .. c1 of an n x m array.
  std::string body = "for i in r0 .. r1 { for j in c0 .. c1 { ", sum = "0.0";
  int site = 0;
  for (const char* di : {"-1", "0", "1"}) {
    for (const char* dj : {"-1", "0", "1"}) {
      const std::string k = std::to_string(site);
      body += "check a" + k + " = (i + " + di + ") of n else " + std::to_string(2 * site + 1) + " check b" + k + " = (j + " + dj +
              ") of m else " + std::to_string(2 * site + 2) + " ";
      sum = "(" + sum + " + x[((a" + k + " * m) + b" + k + ")])";
      ++site;
    }
  }
  body += "check p = i of n else 20 check q = j of m else 21 y[((p * m) + q)] = " + sum + " } }";
  Function f(jit(), "in x: f64, out y: f64, n: i64, m: i64, r0: i64, r1: i64, c0: i64, c1: i64", body);
  CHECK(checks(fast_version(f.kernel)) == 0);
  CHECK(jit().emit_llvm(f.kernel).find("x double>") != std::string::npos);

  const int64_t n = 7, m = 40;
  std::vector<double> x(static_cast<size_t>(n * m));
  std::iota(x.begin(), x.end(), 1.0);
  for (const auto& [r0, r1, c0, c1] : std::vector<std::array<int64_t, 4>>{{1, 6, 1, 39},
                                                                          {0, 6, 0, 39},
                                                                          {1, 7, 1, 39},
                                                                          {1, 6, 1, 40},
                                                                          {3, 3, 100, 200},
                                                                          {-5, -2, -20, -3},
                                                                          {1, 6, 38, 41},
                                                                          {-9, -8, 0, 1},
                                                                          {INT64_MAX - 1, INT64_MAX, 0, 1},
                                                                          {INT64_MIN, INT64_MIN + 1, 0, 1}}) {
    INFO(r0 << " " << r1 << " " << c0 << " " << c1);
    std::vector<double> y(x.size()), wanted(x.size());
    Outcome error;
    const auto checked = [&](int64_t index, int64_t extent, int64_t s) {
      const int64_t k = index < 0 ? index + extent : index;
      if (!error.error[0] && (k < 0 || k >= extent)) error.error = {s, index, extent, 0};
      return k;
    };
    const auto wrapped = [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); };
    for (int64_t i = r0; i < r1 && !error.error[0]; ++i)
      for (int64_t j = c0; j < c1 && !error.error[0]; ++j) {
        double total = 0;
        for (int64_t k = 0; k < 9 && !error.error[0]; ++k) {
          const int64_t a = checked(wrapped(i, k / 3 - 1), n, 2 * k + 1);
          const int64_t b = error.error[0] ? 0 : checked(wrapped(j, k % 3 - 1), m, 2 * k + 2);
          if (!error.error[0]) total += x[static_cast<size_t>(a * m + b)];
        }
        if (error.error[0]) break;
        const int64_t a = checked(i, n, 20), b = checked(j, m, 21);
        if (!error.error[0]) wanted[static_cast<size_t>(a * m + b)] = total;
      }
    CHECK(f({x.data(), y.data()}, {n, m, r0, r1, c0, c1}) == error);
    CHECK(y == wanted);
  }
}

TEST_CASE("checks in triangles") {
  Function f(jit(), "out y: i64, n: i64, extent: i64", R"(
    for i in 0 .. n {
      for j in 0 .. i { check a = ((i - j) - 1) of extent else 1 y[a] = (y[a] + 1) }
      for j in (i + 1) .. n { check b = ((j - i) - 1) of extent else 2 y[b] = (y[b] + 1) check c = j of extent else 3 y[c] = (y[c] + 100) }
    })");
  CHECK(checks(fast_version(f.kernel)) == 0);
  for (int64_t n : {0, 1, 2, 9}) {
    std::vector<int64_t> y(10), wanted(10);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) ++wanted[static_cast<size_t>(i - j - 1)];
      for (int64_t j = i + 1; j < n; ++j) ++wanted[static_cast<size_t>(j - i - 1)], wanted[static_cast<size_t>(j)] += 100;
    }
    CHECK(f({y.data()}, {n, std::max<int64_t>(n, 1)}) == Outcome{});
    CHECK(y == wanted);
  }
  std::vector<int64_t> y(10);
  CHECK(f({y.data()}, {9, 8}) == Outcome{{3, 8, 8, 0}});
  CHECK(f({y.data()}, {4, 2}) == Outcome{{3, 2, 2, 0}});
}

TEST_CASE("ranges that go backwards, in steps, and over negative indices") {
  // for k-th i of range(start, …, step)
  Function f(jit(), "any x: i64, n: i64, count: i64, start: i64, step: i64",
             "for k in 0 .. count { let i: i64 = (start + (k * step)) check a = i of n else 1 x[a] = (x[a] + (k + 1)) }");
  CHECK(checks(fast_version(f.kernel)) == 0);
  const int64_t n = 10;
  for (int64_t count : {0, 1, 3, 5, 10, 11})
    for (int64_t start : {int64_t{0}, int64_t{9}, int64_t{-1}, int64_t{-10}, int64_t{4}, int64_t{10}, INT64_MAX, INT64_MIN})
      for (int64_t step :
           {int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{-3}, int64_t{0}, INT64_MAX, INT64_MIN, int64_t{1} << 61, int64_t{1} << 62}) {
        INFO(count << " from " << start << " by " << step);
        std::vector<int64_t> x(n), wanted(n);
        Outcome error;
        for (int64_t k = 0; k < count; ++k) {
          const auto i = static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(k) * static_cast<uint64_t>(step));
          const int64_t a = i < 0 ? i + n : i;
          if (a < 0 || a >= n) {
            error.error = {1, i, n, 0};
            break;
          }
          wanted[static_cast<size_t>(a)] += k + 1;
        }
        CHECK(f({x.data()}, {n, count, start, step}) == error);
        CHECK(x == wanted);
      }
}

TEST_CASE("indices at the ends of what i64 holds go the slow way") {
  Function f(jit(), "any x: i64, n: i64, first: i64, last: i64, scale: i64",
             "for i in first .. last { let t: i64 = max((i * scale), -1) check a = (t // 4) of n else 1 check b = min((i + scale), 3) of n "
             "else 2 x[a] = (x[a] + 1) x[b] = (x[b] + 10) }");
  CHECK(checks(fast_version(f.kernel)) == 0);
  const auto mul = [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); };
  const auto add = [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); };
  const int64_t n = 8;
  const int64_t large = int64_t{1} << 62;
  for (const auto& [first, last, scale] : std::vector<std::array<int64_t, 3>>{{0, 8, 1},
                                                                              {0, 8, 4},
                                                                              {2, 5, 6},
                                                                              {0, 9, 4},
                                                                              {-2, 2, 3},
                                                                              {0, 5, large},
                                                                              {0, 3, large / 2},
                                                                              {large, large + 4, 1},
                                                                              {large, large + 4, 4},
                                                                              {INT64_MAX - 2, INT64_MAX, 1},
                                                                              {INT64_MIN, INT64_MIN + 3, 2},
                                                                              {1, 5, INT64_MIN},
                                                                              {3, 3, 7}}) {
    INFO(first << " .. " << last << " scale " << scale);
    std::vector<int64_t> x(n), wanted(n);
    Outcome error;
    for (int64_t i = first; i < last && !error.error[0]; ++i) {
      const int64_t t = std::max<int64_t>(mul(i, scale), -1), q = t < 0 ? -1 : t / 4, r = std::min<int64_t>(add(i, scale), 3);
      const int64_t a = q < 0 ? q + n : q, b = r < 0 ? add(r, n) : r;
      if (a < 0 || a >= n)
        error.error = {1, q, n, 0};
      else if (b < 0 || b >= n)
        error.error = {2, r, n, 0};
      if (error.error[0]) break;
      ++wanted[static_cast<size_t>(a)];
      wanted[static_cast<size_t>(b)] += 10;
    }
    CHECK(f({x.data()}, {n, first, last, scale}) == error);
    CHECK(x == wanted);
  }
}

TEST_CASE("what a remainder leaves is inside, where the divisor is an extent") {
  Function f(jit(), "in x: f64, out y: f64, n: i64", R"(
    for i in 0 .. n {
      check a = ((i + 1) % n) of n else 1
      check b = ((i - 1) % n) of n else 2
      check c = i of n else 3
      y[c] = (x[a] - x[b])
    })");
  CHECK(checks(fast_version(f.kernel)) == 0);
  double x[] = {1, 2, 4, 8}, y[4];
  CHECK(f({x, y}, {4}) == Outcome{});
  CHECK(std::vector(y, y + 4) == std::vector<double>{2 - 8, 4 - 1, 8 - 2, 1 - 4});
}

TEST_CASE("a version is made where most checks go") {
  // The rows change in the outer loop; in the inner one everything but the gathered index is known.
  const auto kernel = ir::parse(R"(kernel f(in x: f64, in of: i64, out y: f64, n: i64, any error: i64) function {
    var m: i64 = n
    for i in 0 .. n {
      check r = i of n else 1
      m = (m - 1)
      for j in 0 .. m {
        check a = (j + 1) of (m + 1) else 2
        check b = of[j] of n else 3
        check c = j of m else 4
        y[c] = (x[a] + x[b])
      }
    }
  })");
  const std::string text = ir::print(ir::hoist_checks(kernel));
  INFO(text);
  CHECK(text.find("for i in 0 .. n {\n    check r") != std::string::npos);
  CHECK(checks(fast_version(kernel)) == 1);
}

TEST_CASE("vars are followed from one assignment to the next") {
  const auto kernel = ir::parse(R"(kernel f(out y: f64, n: i64, any error: i64) function {
    var i: i64 = 0
    for k in 0 .. n {
      i = (k + 2)
      check a = (i - 1) of n else 1
      y[a] = 1.0
      for j in 0 .. 3 {
        check b = (i + j) of n else 2
        y[b] = 1.0
      }
      if (n > 5) { i = (i + 1) check c = i of n else 3 y[c] = 1.0 } else { check d = i of n else 4 y[d] = 1.0 }
      check e = i of n else 5
      y[e] = 1.0
    }
  })");
  const std::string text = ir::print(ir::hoist_checks(kernel));
  INFO(text);
  CHECK(checks(text) == 1 + 5);  // of the first version and of the second
  CHECK(text.find("check e") < text.rfind("check a"));
}

namespace {

/// Random nests of two loops whose indices are mostly affine, some of them outside.
class Nests {
 public:
  explicit Nests(unsigned seed) : random_(seed) {}

  std::string body() {
    std::string text = "var w: i64 = 1 for i in " + bound("") + " .. " + bound("") + " { " + statements("i", 0);
    text += " for j in " + bound("i") + " .. " + bound("i") + " { " + statements("j", 10) + " }";
    if (below(3) == 0) text += " w = (w + i) ";
    return text + statements("i", 20) + " }";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string bound(const std::string& variable) {
    const std::string c = std::to_string(below(7) - 2);
    switch (below(variable.empty() ? 4 : 8)) {
      case 0: return std::to_string(below(4) - 1);
      case 1: return "n";
      case 2: return "(n - " + c + ")";
      case 3: return "max(" + c + ", (m - 3))";
      case 4: return variable;
      case 5: return "(" + variable + " + " + c + ")";
      case 6: return "(n - " + variable + ")";
      default: return "min((" + variable + " + 3), n)";
    }
  }
  std::string index(int depth, const std::string& variable) {
    if (depth == 0) {
      switch (below(6)) {
        case 0: return std::to_string(below(9) - 3);
        case 1: return "m";
        case 2: return "i";
        case 3: return below(4) ? variable : "w";
        default: return variable;
      }
    }
    const std::string a = index(depth - 1, variable), b = index(depth - 1, variable);
    switch (below(10)) {
      case 0:
      case 1:
      case 2: return "(" + a + " + " + b + ")";
      case 3:
      case 4: return "(" + a + " - " + b + ")";
      case 5: return "(" + a + " * " + (below(2) ? "s" : std::to_string(below(5) - 2)) + ")";
      case 6: return "min(" + a + ", " + b + ")";
      case 7: return "max(" + a + ", " + b + ")";
      case 8: return "(" + a + " // " + std::to_string(1 + below(4)) + ")";
      default: return "(" + a + " % " + (below(2) ? "m" : "5") + ")";
    }
  }
  std::string statements(const std::string& variable, int number) {
    std::string text;
    for (int k = 0, count = (variable == "j") + below(2); k < count; ++k, ++number) {
      const std::string name = "k" + std::to_string(number), site = std::to_string(number + 1);
      const std::string one = "check " + name + " = " + index(below(2) + below(2), variable) + " of EXTENT else " + site + " y[" + name +
                              "] = ((y[" + name + "] * 3) + " + site + ") ";
      text += below(4) ? one : "if (" + variable + " > 2) { " + one + "} ";
    }
    return text;
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("random nests do the same with their checks hoisted") {
  const std::string head = "any y: i64, in e: i64, n: i64, m: i64, s: i64";
  size_t versions = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = Nests(seed).body();
    const auto with_extent = [&](const std::string& extent) {
      std::string result = text;
      for (size_t at; (at = result.find("EXTENT")) != std::string::npos;) result.replace(at, 6, extent);
      return result;
    };
    // An extent that comes from memory is none that a loop could be sure of.
    Function hoisted(jit(), head, with_extent("m")), plain(jit(), head, with_extent("e[0]"));
    versions += !fast_version(hoisted.kernel).empty();
    REQUIRE(fast_version(plain.kernel).empty());
    INFO(ir::print(ir::hoist_checks(hoisted.kernel)));
    for (const int64_t n : {0, 1, 2, 5, 9})
      for (int64_t m : {1, 4, 7, 12, 40})
        for (const int64_t s : {-2, 0, 1, 3}) {
          std::vector<int64_t> y(40), wanted(40);
          const Outcome expected = plain({wanted.data(), &m}, {n, m, s});
          CAPTURE(n, m, s);
          REQUIRE(hoisted({y.data(), &m}, {n, m, s}) == expected);
          REQUIRE(y == wanted);
        }
  }
  CHECK(versions > 30);
}
