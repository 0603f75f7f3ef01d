// Kernels of threads: their text, what is legal in them, and PTX that is assembled where the toolkit is.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "catch.h"
#include "compiler/codegen/gpu.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/simt.h"
#include "compiler/ir/text.h"
#include "compiler/ir/thread_axes.h"
#include "lang/diagnostic.h"

using namespace gasell;

namespace {

constexpr const char* kAll = R"(kernel all(any x: f64, in y: f32, any z: i32, any w: i64, n: i64, any error: i64) function simt {
  local tile: f64[40] block
  local grown: f64[0] block
  local mine: i32[5]
  simt t: i32 = tid_x() else 0
  simt b: i32 = ctaid_z() else 0
  simt l: i32 = lane() else 0
  simt d: i64 = dynamic_shared() else 0
  check i = i64(t) of n else 1
  mine[0] = b
  tile[i] = (x[i] + f64(y[i]))
  simt barrier() else 2
  simt c: i32 = barrier_count(t) else 3
  simt e: i32 = barrier_and(t) else 3
  simt f: i32 = barrier_or(t) else 3
  simt warp_barrier(-1i32) else 4
  simt fence() else 0
  simt fence_block() else 0
  simt fence_system() else 0
  let v: f64 = tile[(n - i)]
  simt s: f64 = shuffle_down(-1i32, v, 3i32) else 5
  simt s2: i32 = shuffle_idx(-1i32, t, 3i32) else 5
  simt s3: f32 = shuffle_up(-1i32, y[i], 3i32) else 5
  simt s4: i64 = shuffle_xor(-1i32, i, 3i32) else 5
  simt q: i32 = vote_all(-1i32, t) else 5
  simt q2: i32 = vote_ballot(-1i32, t) else 5
  simt q3: i32 = vote_eq(-1i32, t) else 5
  simt m: i32 = match_any(-1i32, t) else 5
  simt m2: i32 = match_all(-1i32, i) else 5
  simt a: i32 = active_mask() else 0
  simt p: i32 = popc(t) else 0
  simt p2: i64 = clz(i) else 0
  simt p3: u32 = ffs(t) else 0
  simt p4: i32 = brev(t) else 0
  simt g: f64 = fma(v, s, v) else 0
  grown[i] = g
  atomic o1: f64 = add x[i](v)
  atomic o2: f64 = nanmax x[i](v)
  atomic o3: f64 = max x[i](v)
  atomic o4: i32 = inc z[i](t)
  atomic o5: i64 = cas w[i](i, n)
  atomic o6: i64 = max w[i](i)
  atomic o7: f64 = add tile[i](v)
  atomic o8: f64 = exch x[i](v)
  atomic o9: i32 = xor mine[0](t)
  if (x[i] < 0.0) {
    raise 6(i)
  }
  simt grid_barrier() else 7
  x[i] = ((((((o1 + o2) + o3) + o7) + o8) + s) + grown[i])
  z[i] = (((((((((((((((c + e) + f) + q) + q2) + q3) + m) + m2) + a) + p) + p4) + l) + o4) + s2) + o9) + i32(s3))
  w[i] = ((((((o5 + o6) + p2) + i64(p3)) + d) + s4) + i64(mine[1]))
}
)";

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
  const auto file = std::filesystem::temp_directory_path() / ("gasell_simt_code_test." + std::to_string(getpid()) + ".ptx");
  std::ofstream(file) << ptx;
  bool all = true;
  for (const int capability : capabilities)
    all = all && std::system((ptxas + " -arch=sm_" + std::to_string(capability) + " -o /dev/null " + file.string()).c_str()) == 0;
  std::filesystem::remove(file);
  return all;
}

}  // namespace

TEST_CASE("kernels of threads print and parse back") {
  const ir::Kernel kernel = ir::parse(kAll);
  CHECK(kernel.simt);
  CHECK(ir::print(kernel) == ir::print(ir::parse(ir::print(kernel))));
  CHECK(ir::static_shared_bytes(kernel) == 320);
  CHECK(ir::waits_together(kernel));
  CHECK(ir::waits_for_grid(kernel));
}

TEST_CASE("what threads do together stays") {
  const ir::Kernel kernel = ir::parse(kAll);
  const std::string text = ir::print(ir::run_passes(kernel, ir::pipeline_of(kernel)));
  for (const char* kept :
       {"simt barrier()", "simt warp_barrier", "simt grid_barrier()", "shuffle_down", "tile[i] =", "grown[i] =", "atomic o9"})
    CHECK(text.find(kept) != std::string::npos);
}

TEST_CASE("only kernels of threads have their statements") {
  CHECK_THROWS_AS(ir::parse("kernel k(any error: i64) function {\n  simt barrier() else 1\n}\n"), Error);
  CHECK_THROWS_AS(ir::parse("kernel k(any error: i64) function simt {\n  simt nonsense() else 1\n}\n"), Error);
  CHECK_THROWS_AS(ir::parse("kernel k(in x: i64, any error: i64) function simt {\n  atomic o: i64 = add x[0](1)\n}\n"), Error);
}

TEST_CASE("kernels of threads become PTX that ptxas takes for sm_75, sm_80 and sm_90") {
  const auto code = compile_ptx(ir::parse(kAll), 75);
  REQUIRE(code);
  INFO(code->ptx);
  CHECK(code->shared_bytes == 320);
  CHECK(assembles(code->ptx, {75, 80, 90}));
  for (const char* used :
       {"bar.sync", "shfl.sync.down", "atom.global.add.f64", "atom.shared.add.f64", "vote.sync.all", "match.any.sync", "ld.global.nc.f32"})
    CHECK(code->ptx.find(used) != std::string::npos);
}

TEST_CASE("products of a warp are tensor cores' where there are such for doubles") {
  const ir::Kernel kernel = ir::parse(R"(kernel products(any x: c128, any y: f64, any error: i64) function simt {
  simt t: i32 = tid_x() else 0
  let i: i64 = i64(t)
  simt z: c128 = mma(y[i], y[(i + 32)], y[(i + 64)], x[i], x[(i + 32)]) else 0
  simt w: c128 = mma_rest(z) else 0
  x[i] = z
  x[(i + 32)] = w
}
)");
  CHECK(ir::print(kernel) == ir::print(ir::parse(ir::print(kernel))));
  CHECK(ir::waits_together(kernel));
  CHECK(!compile_ptx(kernel, 75));
  const auto ampere = compile_ptx(kernel, 80), hopper = compile_ptx(kernel, 90);
  REQUIRE(ampere);
  REQUIRE(hopper);
  CHECK(ampere->ptx.find("mma.sync.aligned.m8n8k4") != std::string::npos);
  CHECK(hopper->ptx.find("mma.sync.aligned.m16n8k4") != std::string::npos);
  CHECK(assembles(ampere->ptx, {80, 90}));
  CHECK(assembles(hopper->ptx, {90}));
}

TEST_CASE("places that one way finds are not used on another") {
  // The code is checked before it is optimised: an address of the first way would not be there on the second.
  CHECK(compile_ptx(ir::parse(R"(kernel ways(any z: i64, n: i64, any error: i64) function simt {
  simt t: i32 = tid_x() else 0
  let i: i64 = i64(t)
  if gt(n, 3) {
    z[(i + 1)] = 1
    z[i] = 1
  } else {
    z[(i + 1)] = 2
    z[i] = 3
  }
  z[(i + 2)] = 4
}
)"),
                    75));
}

namespace {

/// A kernel whose thread (i, j) uses element (a, b) of a matrix with rows of m.
ir::Kernel matrix_kernel(const std::string& row, const std::string& column, const std::string& more = "") {
  return ir::parse(
      "kernel k(in x: f64, any y: f64, n: i64, m: i64, any error: i64) function simt {\n"
      "  simt tx: i32 = tid_x() else 0\n  simt bx: i32 = ctaid_x() else 0\n  simt ntid_x_1: i32 = ntid_x() else 0\n"
      "  simt ty: i32 = tid_y() else 0\n  simt by: i32 = ctaid_y() else 0\n  simt ntid_y_1: i32 = ntid_y() else 0\n"
      "  let i: i64 = ((i64(bx) * i64(ntid_x_1)) + i64(tx))\n  let j: i64 = ((i64(by) * i64(ntid_y_1)) + i64(ty))\n" +
      more + "  check a = (" + row + " - 1) of n else 1\n  check b = " + column +
      " of m else 1\n  y[((a * m) + b)] = x[((a * m) + b)]\n}\n");
}

}  // namespace

TEST_CASE("warps go along the axis that walks along rows") {
  CHECK(ir::prefers_warps_along_y(matrix_kernel("i", "j")));
  CHECK_FALSE(ir::prefers_warps_along_y(matrix_kernel("j", "i")));
  CHECK_FALSE(ir::prefers_warps_along_y(matrix_kernel("i", "j", "  simt s: i32 = shuffle_xor(-1i32, tx, 1i32) else 1\n")));
}
