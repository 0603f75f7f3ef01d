// PTX of the kernels that the planner makes; assembled where the toolkit is.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "compiler/codegen/gpu.h"
#include "compiler/ir/text.h"
#include "compiler/plan/plan.h"

using namespace gasell;
using namespace gasell::graph;

namespace {

std::string find_ptxas() {
  for (const char* variable : {"GASELL_CUDA", "CUDA_HOME"})
    if (const char* root = std::getenv(variable); root && std::filesystem::exists(std::string(root) + "/bin/ptxas"))
      return std::string(root) + "/bin/ptxas";
  return std::filesystem::exists("/usr/local/cuda/bin/ptxas") ? "/usr/local/cuda/bin/ptxas" : "";
}

/// Whether ptxas takes the code for these GPUs; true where there is no ptxas.
bool assembles(const std::string& ptx, const std::vector<int>& capabilities) {
  static const std::string ptxas = find_ptxas();
  if (ptxas.empty()) return true;
  const auto file = std::filesystem::temp_directory_path() / ("gasell_gpu_code_test." + std::to_string(getpid()) + ".ptx");
  std::ofstream(file) << ptx;
  bool all = true;
  for (const int capability : capabilities)
    all = all && std::system((ptxas + " -arch=sm_" + std::to_string(capability) + " -o /dev/null " + file.string()).c_str()) == 0;
  std::filesystem::remove(file);
  return all;
}

std::vector<NodeRef> programs() {
  const auto storage = std::make_shared<Storage>();
  const NodeRef x = buffer(storage, DType::f64, {300, 400}, {400, 1}, 0), f = buffer(storage, DType::f32, {300, 400}, {1, 300}, 5);
  const NodeRef i = buffer(storage, DType::i64, {300, 400}, {400, 1}, 0), b = buffer(storage, DType::i8, {300, 400}, {800, 2}, 1);
  const NodeRef normal = random(Distribution::standard_normal, DType::f64, {300, 400}, 1, 2),
                dice = random(Distribution::integers, DType::i64, {300, 400}, 1, 2, -5, 11);
  std::vector<NodeRef> roots{map(ScalarOp::add, {x, normal}), map(ScalarOp::mul, {f, f}), map(ScalarOp::floordiv, {i, dice}),
                             map(ScalarOp::max, {b, b}), cast(x, DType::u8)};
  const NodeRef hundred = constant(Scalar::of_float(1e5));  // divided twice by one number
  roots.push_back(map(ScalarOp::div, {map(ScalarOp::div, {x, hundred}), hundred}));
  const auto rows = [](const NodeRef& a, int64_t begin) { return view(a, {298, 399}, {{0, begin, 1}, {1, begin ? 1 : 0, 1}}); };
  for (const NodeRef& a : {x, f, i, b}) roots.push_back(map(ScalarOp::sub, {map(ScalarOp::add, {rows(a, 2), rows(a, 1)}), rows(a, 0)}));
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::var, ReduceOp::argmax, ReduceOp::max})
    for (const NodeRef& source : {x, f, i, normal}) {
      if (op == ReduceOp::var && source == i) continue;
      roots.push_back(reduce(op, source, {0, 1}));
      roots.push_back(reduce(op, source, {1}));
    }
  return roots;
}

}  // namespace

TEST_CASE("kernels become PTX that ptxas takes for sm_75, sm_80 and sm_90") {
  plan::PlanOptions options;
  options.grain.rolled = GENERATE(true, false);
  for (const NodeRef& root : programs())
    for (const plan::Step& step : plan::make_plan({root}, options).steps) {
      const auto code = compile_ptx(*step.kernel, 75);
      REQUIRE(code);
      INFO(code->ptx);
      CHECK(code->ptx.find(".entry " + code->symbol) != std::string::npos);
      CHECK(code->ptx.find(".target sm_75") != std::string::npos);
      CHECK(code->ptx.find(".version 6.3") != std::string::npos);
      CHECK(code->threads % 32 == 0);
      CHECK(assembles(code->ptx, {75, 80, 90}));
    }
}

TEST_CASE("results round as on the host: nothing is contracted to fma") {
  const auto storage = std::make_shared<Storage>();
  const NodeRef x = buffer(storage, DType::f64, {1000}, {1}, 0), y = buffer(storage, DType::f64, {1000}, {1}, 1000);
  const auto steps = plan::make_plan({map(ScalarOp::add, {map(ScalarOp::mul, {x, y}), x})}, {}).steps;
  const auto code = compile_ptx(*steps.at(0).kernel, 90);
  REQUIRE(code);
  CHECK(code->ptx.find("fma") == std::string::npos);
  CHECK(code->ptx.find("mul.rn.f64") != std::string::npos);  // without .rn ptxas would contract
  CHECK(code->ptx.find("add.rn.f64") != std::string::npos);
  CHECK(code->ptx.find("ld.global.nc.f64") != std::string::npos);
}

TEST_CASE("reductions for GPUs are short: what is waited for the first time is the driver's compiler") {
  const auto storage = std::make_shared<Storage>();
  const NodeRef x = buffer(storage, DType::f64, {1 << 26}, {1}, 0);
  plan::PlanOptions options;
  options.grain.rolled = true;
  const auto count = [](const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const auto [op, lines, loads] =
      GENERATE(std::tuple{ReduceOp::sum, 420, 11}, std::tuple{ReduceOp::var, 630, 13}, std::tuple{ReduceOp::argmax, 550, 11});
  const auto code = compile_ptx(*plan::make_plan({reduce(op, x, {0})}, options).steps.at(0).kernel, 90);
  REQUIRE(code);
  INFO(code->ptx);
  CHECK(count(code->ptx, "\n") <= static_cast<size_t>(lines));
  // A thread's two lanes four rows at a time, then row by row, then the elements of the last row: one loop for both lanes.
  CHECK(count(code->ptx, "ld.global.nc") == static_cast<size_t>(loads));
  CHECK(count(code->ptx, ".local") == 0);
}

TEST_CASE("quotients need no function where doubles are quick, nor do those of means") {
  const auto storage = std::make_shared<Storage>();
  const NodeRef f = buffer(storage, DType::f32, {3000}, {1}, 0), x = buffer(storage, DType::f64, {30000, 500}, {500, 1}, 0);
  const NodeRef root = GENERATE_COPY(map(ScalarOp::div, {f, f}), reduce(ReduceOp::mean, x, {1}), reduce(ReduceOp::var, x, {1}));
  const auto code = compile_ptx(*plan::make_plan({root}, {}).steps.at(0).kernel, 90);
  REQUIRE(code);
  INFO(code->ptx);
  CHECK(code->ptx.find("div.") == std::string::npos);
  CHECK(code->ptx.find("rcp.approx.ftz.f64") != std::string::npos);
  CHECK(assembles(code->ptx, {90}));
}

TEST_CASE("quotients of floats are the driver's where doubles are slow") {
  const NodeRef f = buffer(std::make_shared<Storage>(), DType::f32, {3000}, {1}, 0);
  const auto code = compile_ptx(*plan::make_plan({map(ScalarOp::div, {f, f})}, {}).steps.at(0).kernel, 86);
  REQUIRE(code);
  CHECK(code->ptx.find("div.rn.f32") != std::string::npos);
}

TEST_CASE("filters of bytes add four at once") {
  const auto storage = std::make_shared<Storage>();
  const DType type = GENERATE(DType::i8, DType::u8);
  const NodeRef image = buffer(storage, type, {3000, 4096}, {4096, 1}, 0);
  NodeRef sum;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      const NodeRef moved = cast(view(image, {2998, 4088}, {{0, i, 1}, {1, j, 1}}), DType::i32);
      sum = sum ? map(ScalarOp::add, {sum, moved}) : moved;
    }
  plan::PlanOptions options;
  options.grain.rolled = true;
  const auto code = compile_ptx(*plan::make_plan({cast(sum, DType::i8)}, options).steps.at(0).kernel, 75);
  REQUIRE(code);
  INFO(code->ptx);
  CHECK(code->ptx.find(type == DType::i8 ? "dp4a.s32.s32" : "dp4a.u32.s32") != std::string::npos);
  CHECK(assembles(code->ptx, {75, 80, 90}));
}

TEST_CASE("integer powers need no function") {
  const auto storage = std::make_shared<Storage>();
  for (const DType type : {DType::i64, DType::i8, DType::u32}) {
    const NodeRef a = buffer(storage, type, {1000}, {1}, 0);
    const auto code = compile_ptx(*plan::make_plan({map(ScalarOp::pow, {a, a})}, {}).steps.at(0).kernel, 90);
    REQUIRE(code);
    CHECK(code->ptx.find("call") == std::string::npos);
    CHECK(assembles(code->ptx, {90}));
  }
}

TEST_CASE("what GPUs lack is left to the host") {
  const auto storage = std::make_shared<Storage>();
  const NodeRef z = buffer(storage, DType::c128, {1000}, {1}, 0);
  CHECK_FALSE(compile_ptx(*plan::make_plan({map(ScalarOp::exp, {z})}, {}).steps.at(0).kernel, 90));
}

TEST_CASE("functions' threads leave, check and raise on a grid") {
  // A block of 64 threads: what one leaves, the others go on with until they come together.
  const auto code = compile_ptx(ir::parse(R"(kernel f(in x: f64, any y: f64, n: i64, any error: i64) threads 64 function {
    for u in 0 .. ((n + 63) // 64) unit {
      local shared: f64[64] block
      for t in 0 .. 64 within 64 {
        let i: i64 = ((u * 64) + t)
        scope out_of_range {
          if (i >= n) { leave out_of_range }
          check k = (i - 1) of n else 3
          pointer p: f64 = x
          if (x[k] < 0.0) { point p = y }
          var s: f64 = 0.0
          for j in 0 .. n { if (p[j] > 1000.0) { raise 4(j) } s = (s + p[j]) }
          shared[t] = s
        }
      }
      barrier block
      for t in 0 .. 64 within 64 {
        check k = ((u * 64) + t) of n else 5
        y[k] = shared[(63 - t)]
      }
    }
  })"),
                                75);
  REQUIRE(code);
  INFO(code->ptx);
  CHECK(code->threads == 64);
  CHECK(code->shared_bytes == 512);
  CHECK(code->ptx.find(".cas.b64") != std::string::npos);
  CHECK(code->ptx.find("trap") == std::string::npos);
  CHECK(code->ptx.find("exit;") == std::string::npos);
  CHECK(assembles(code->ptx, {75, 80, 90}));
}
