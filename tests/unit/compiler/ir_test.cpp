#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "catch.h"
#include "compiler/ir/map_to_grid.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/place_barriers.h"
#include "compiler/ir/text.h"
#include "compiler/plan/plan.h"
#include "lang/diagnostic.h"

using namespace gasell;
using namespace gasell::ir;

namespace {

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

void check_round_trip(const Kernel& kernel) {
  const std::string text = print(kernel);
  CHECK(print(parse(text)) == text);
}

/// The pipelines' passes and those that map_to_grid consists of.
std::vector<Pass> all_passes() {
  std::vector<Pass> passes = function_pipeline();
  passes.insert(passes.end(), grid_pipeline().begin(), grid_pipeline().end());
  passes.push_back({"map_to_grid",
                    [](const Kernel& kernel) { return map_to_grid(kernel, {.most_threads = 256, .shared_bytes = 48 << 10}).value(); }, ""});
  passes.push_back({"place_barriers", place_barriers, ""});
  return passes;
}

}  // namespace

TEST_CASE("text tests of passes") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GASELL_IR_TESTS)) {
    if (entry.path().extension() != ".loops") continue;
    ++files;
    std::ifstream file(entry.path());
    std::stringstream content;
    content << file.rdbuf();
    const std::string text = content.str();
    const size_t line_end = text.find('\n'), cut = text.find("---\n");
    REQUIRE(text.starts_with("# pass: "));
    REQUIRE(cut != std::string::npos);
    const std::string name = text.substr(8, line_end - 8);
    INFO(entry.path().string());
    bool found = false;
    for (const Pass& pass : all_passes()) {
      if (pass.name != name || found) continue;
      found = true;
      const Kernel result = run_passes(parse(text.substr(line_end, cut - line_end)), {pass});
      CHECK(print(result) == print(parse(text.substr(cut + 4))));
      if (result.threads) CHECK(print(place_barriers(result)) == print(result));  // nothing is missing
    }
    CHECK(found);
  }
  CHECK(files >= 15);
}

TEST_CASE("print and parse are inverse, on kernels the planner makes") {
  using namespace gasell::graph;
  const auto storage = std::make_shared<Storage>();
  const NodeRef a = buffer(storage, DType::f64, {30, 40}, {80, 2}, 3), c = buffer(storage, DType::c64, {30, 40}, {40, 1}, 0);
  const NodeRef n = random(Distribution::standard_normal, DType::f64, {30, 40}, 1, 2),
                k = random(Distribution::integers, DType::i64, {30, 40}, 1, 2, -5, 11);
  for (const NodeRef& root :
       {map(ScalarOp::add, {a, n}), graph::cast(k, DType::u8),
        map(ScalarOp::mul, {c, graph::constant(Scalar::of_complex({1.5, -2}, DType::c64))}), reduce(ReduceOp::var, a, {1}),
        reduce(ReduceOp::argmin, n, {0, 1}), reduce(ReduceOp::max, c, {0}), reduce(ReduceOp::all, map(ScalarOp::lt, {a, n}), {0, 1})})
    for (const auto& step : plan::make_plan({root}, {}).steps) {
      check_round_trip(*step.kernel);
      verify(run_passes(*step.kernel, pipeline()));
      const auto mapped = map_to_grid(run_passes(*step.kernel, grid_pipeline()), {});
      REQUIRE(mapped);
      check_round_trip(*mapped);
      verify(*mapped);
    }
}

TEST_CASE("literals keep type and bits") {
  Body body;
  for (const Scalar& s : {Scalar::of_float(0.1), Scalar::of_float(-0.0), Scalar::of_float(5e-324), Scalar::of_float(1e300),
                          Scalar::of_float(0.1f, DType::f32), Scalar::of_float(INFINITY), Scalar::of_float(-INFINITY),
                          Scalar::of_int(INT64_MIN), Scalar::of_int(-1, DType::u64), Scalar::of_int(-128, DType::i8),
                          Scalar::of_int(65535, DType::u16), Scalar::of_bool(true), Scalar::of_complex({1e-7, -0.0})})
    body.push_back(let("v" + std::to_string(body.size()), constant(s)));
  const Kernel kernel{"k", {}, body};
  const Kernel back = parse(print(kernel));
  REQUIRE(back.body.size() == body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    INFO(print(body[i]->value));
    CHECK(back.body[i]->value->value.same_bits(body[i]->value->value));
  }
}

TEST_CASE("illegal kernels are refused by rule") {
  CHECK(error_of([] { parse("kernel k(out y: f64) { y[0] = z }"); }) == "SyntaxError: loop IR, line 1, column 33: z is not declared");
  CHECK(error_of([] { parse("kernel k(in x: f64) { x[0] = 1.0 }"); }).find("stores go to out parameters and local arrays") !=
        std::string::npos);
  CHECK(error_of([] { parse("kernel k(n: i64) { for i in 0 .. n { for u in 0 .. n unit { } } }"); }).find("a unit loop stands outermost") !=
        std::string::npos);
  CHECK(error_of([] { parse("kernel k(n: i64) { let n: i64 = 1 }"); }).find("declared once") != std::string::npos);
  CHECK(error_of([] { parse("kernel k(n: i64) { n = 1 }"); }).find("only a var is assigned") != std::string::npos);
  CHECK(error_of([] { parse("kernel k(n: i64, x: f64) { let y: f64 = (x + n) }"); }).find("operands of types float64 and int64") !=
        std::string::npos);
  CHECK(error_of([] { parse("kernel k(n: i64) { if n { } }"); }).find("a condition is boolean") != std::string::npos);
}

TEST_CASE("kernels mapped to a grid keep to their threads") {
  const auto refused = [](const std::string& body) {
    return error_of([&] { parse("kernel k(in x: f64, out y: f64, n: i64, w: i64) threads 64 { for u in 0 .. n unit { " + body + " } }"); });
  };
  const auto says = [&](const std::string& body, const std::string& rule) {
    INFO(body);
    CHECK(refused(body).find(rule) != std::string::npos);
  };
  CHECK(refused("var s: f64 = 0.0 for r in 0 .. n across 32 { var t: f64 = s t = 1.0 barrier warp for i in 0 .. n within 32 { y[i] = t } } "
                "s = 1.0") == "no error");
  CHECK(refused("for r in 0 .. n across w { for i in 0 .. n within w { y[i] = 0.0 } }") == "no error");
  says("y[u] = 1.0", "what a block or a warp stores, one of its threads does");
  says("for r in 0 .. n across 32 { y[r] = 1.0 }", "what a block or a warp stores, one of its threads does");
  says("for i in 0 .. n within 32 { y[i] = 0.0 }", "a loop over threads is as wide as their group");
  says("for r in 0 .. n across 32 { for i in 0 .. n within 64 { y[i] = 0.0 } }", "a loop over threads is as wide as their group");
  says("for r in 0 .. n across 32 { for q in 0 .. n across 32 { } }", "groups of threads have no groups");
  says("for r in 0 .. n across 32 { barrier block }", "a block's barrier stands where the whole block comes");
  says("for r in 0 .. n across 16 { barrier warp }", "a warp's barrier stands where whole warps come");
  says("for r in 0 .. n across w { barrier warp }", "a warp's barrier stands where whole warps come");
  says("for i in 0 .. n within 64 { barrier block }", "a barrier stands where all threads come");
  says("var s: f64 = 0.0 for i in 0 .. n within 64 { s = x[i] }", "a var is assigned by all threads that have it");
  says("var s: f64 = 0.0 for r in 0 .. n across 32 { s = x[r] }", "a var is assigned by all threads that have it");
}

TEST_CASE("what a grid cannot do is not mapped") {
  // No units; more shared memory than a block of one warp may have; memory of the block that warps read and write.
  CHECK_FALSE(map_to_grid(parse("kernel k(out y: f64) { y[0] = 1.0 }"), {}));
  const char* large = R"(kernel k(out y: f64, n: i64) {
    for u in 0 .. n unit {
      local a: f64[8192]
      for i in 0 .. 8192 simd { a[i] = f64(i) }
      for i in 0 .. 8192 simd { y[i] = a[(8191 - i)] }
    }
  })";
  CHECK_FALSE(map_to_grid(parse(large), {.most_threads = 256, .shared_bytes = 48 << 10}));
  CHECK(map_to_grid(parse(large), {.most_threads = 256, .shared_bytes = 64 << 10}));
  CHECK_FALSE(map_to_grid(parse(R"(kernel k(out y: f64, n: i64) {
    for u in 0 .. n unit {
      local a: f64[64]
      for r in 0 .. n team {
        for i in 0 .. 64 simd { a[i] = f64(r) }
        for i in 0 .. 64 simd { y[((r * 64) + i)] = a[(63 - i)] }
      }
    }
  })"),
                          {}));
}

TEST_CASE("shared memory is counted for the whole block") {
  const Kernel kernel = parse(R"(kernel k(n: i64) threads 128 {
    for u in 0 .. n unit {
      local a: f64[3] block
      for r in 0 .. n across 32 {
        local b: i8[5] warp
      }
    }
  })");
  CHECK(shared_bytes(kernel) == 32 + 4 * 16);
}
