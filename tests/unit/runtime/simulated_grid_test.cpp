// Kernels of threads on the host: turns at barriers, exchanges in warps, and what is reported instead of waited for.
#include <atomic>
#include <cstring>
#include <vector>

#include "catch.h"
#include "compiler/codegen/jit.h"
#include "compiler/ir/text.h"
#include "runtime/gpu/fiber.h"
#include "runtime/gpu/simulated_grid.h"
#include "runtime/gpu/thread_races.h"

using namespace gasell;

namespace {

struct Ran {
  GridFault fault;
  std::vector<int64_t> x, error;
};

Ran run(const std::string& text, std::vector<int64_t> x, const GridShape& shape, bool checked = false) {
  register_simt_functions();
  Jit jit({.disk_cache = false, .check_bounds = true, .check_thread_races = checked});
  const ir::Kernel kernel = ir::parse("kernel k(any x: i64, n: i64, any error: i64) function simt {\n" + text + "}\n");
  const GridKernel grid = grid_kernel(jit.compile(kernel).function, kernel);
  std::vector<int64_t> error(10);
  void* arrays[] = {x.data(), error.data(), x.data(), error.data(), x.data() + x.size(), error.data() + 10};
  const int64_t scalars[] = {static_cast<int64_t>(x.size())};
  const std::atomic<bool> stop{false};
  const GridFault fault = run_grid(grid, arrays, scalars, shape, checked, stop);
  return {fault, std::move(x), std::move(error)};
}

constexpr const char* kPlace =
    "  simt t: i32 = tid_x() else 0\n  simt b: i32 = ctaid_x() else 0\n  simt w: i32 = ntid_x() else 0\n"
    "  let i: i64 = ((i64(b) * i64(w)) + i64(t))\n";
const GridShape kTwoBlocks{{2, 1, 1}, {48, 1, 1}, 0, false};

}  // namespace

TEST_CASE("fibers run in turns and begin anew") {
  Fibers fibers(3, 16 << 10);
  std::vector<int> order;
  for (int round = 0; round < 2; ++round) {
    for (size_t k = 0; k < 3; ++k)
      fibers.prepare(k, [&, k] {
        order.push_back(static_cast<int>(k));
        fibers.pause();
        order.push_back(static_cast<int>(k) + 10);
      });
    for (size_t k = 0; k < 3; ++k) CHECK(fibers.resume(k));
    for (size_t k = 3; k-- > 0;) CHECK_FALSE(fibers.resume(k));
  }
  CHECK(order == std::vector<int>{0, 1, 2, 12, 11, 10, 0, 1, 2, 12, 11, 10});
}

TEST_CASE("threads of a block wait for each other") {
  const std::string text = std::string(kPlace) +
                           "  local s: i64[48] block\n  s[i64(t)] = x[i]\n  simt barrier() else 1\n"
                           "  x[i] = s[(47 - i64(t))]\n";
  std::vector<int64_t> x(96);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<int64_t>(k);
  for (const bool checked : {false, true}) {
    const Ran ran = run(text, x, kTwoBlocks, checked);
    CHECK(ran.fault.kind == GridFault::Kind::none);
    CHECK(ran.x[0] == 47);
    CHECK(ran.x[95] == 48);
  }
}

TEST_CASE("lanes exchange values, in warps that are not full, too") {
  const Ran ran = run(std::string(kPlace) +
                          "  simt v: i64 = shuffle_xor(-1i32, i, 1i32) else 1\n  simt c: i32 = vote_ballot(-1i32, t) else 1\n"
                          "  simt p: i64 = popc(c) else 0\n  x[i] = ((v * 100) + p)\n",
                      std::vector<int64_t>(96), kTwoBlocks);
  CHECK(ran.x[0] == 131);  // thread 0's vote is no
  CHECK(ran.x[1] == 31);
  CHECK(ran.x[33] == 3216);  // sixteen lanes
}

TEST_CASE("an error ends its thread and says where") {
  for (const char* barrier : {"", "  simt barrier() else 1\n"}) {
    const Ran ran =
        run(std::string(kPlace) + "  check k = (95 - i) of n else 7\n" + barrier + "  x[k] = 1\n", std::vector<int64_t>(50), kTwoBlocks);
    CHECK(ran.error[0] == 7);
    CHECK(ran.error[1] >= 50);
    CHECK(ran.error[2] == 50);
    CHECK(95 - (ran.error[4] * 48 + ran.error[7]) == ran.error[1]);
    CHECK(ran.x == std::vector<int64_t>(50, 1));  // two threads of the first block, all of the second
  }
}

TEST_CASE("threads that would wait for ever are named") {
  const Ran ran =
      run(std::string(kPlace) + "  if (t < 5i32) {\n    simt warp_barrier(-1i32) else 3\n  } else {\n    simt barrier() else 4\n  }\n",
          std::vector<int64_t>(96), kTwoBlocks);
  CHECK(ran.fault.kind == GridFault::Kind::hung);
  CHECK(ran.fault.sites[0] == 3);
  CHECK(ran.fault.sites[1] == 4);
  CHECK(ran.fault.threads[1][0] == 5);
}

TEST_CASE("barriers that ended threads leave out are faults where that is checked") {
  const std::string text = std::string(kPlace) + "  if (t < 5i32) {\n    simt barrier() else 3\n    x[i] = 1\n  }\n";
  CHECK(run(text, std::vector<int64_t>(96), kTwoBlocks).x[52] == 1);
  const Ran ran = run(text, std::vector<int64_t>(96), kTwoBlocks, true);
  CHECK(ran.fault.kind == GridFault::Kind::diverged);
  CHECK(ran.fault.threads[1][0] == 5);
}

TEST_CASE("races are found, and atomic operations are none") {
  const Ran plain = run(std::string(kPlace) + "  simt line() else 5\n  x[0] = i\n", std::vector<int64_t>(96), kTwoBlocks, true);
  CHECK(plain.fault.kind == GridFault::Kind::race);
  CHECK(plain.fault.sites[0] == 5);
  CHECK_FALSE(plain.fault.shared);
  const Ran atomic = run(std::string(kPlace) + "  atomic o: i64 = add x[0](i)\n", std::vector<int64_t>(96), kTwoBlocks, true);
  CHECK(atomic.fault.kind == GridFault::Kind::none);
  CHECK(atomic.x[0] == 96 * 95 / 2);
}

TEST_CASE("a grid's blocks wait for each other") {
  const Ran ran =
      run(std::string(kPlace) +
              "  x[i] = i\n  simt grid_barrier() else 1\n  let v: i64 = x[(95 - i)]\n  simt grid_barrier() else 1\n  x[i] = v\n",
          std::vector<int64_t>(96), kTwoBlocks);
  CHECK(ran.fault.kind == GridFault::Kind::none);
  CHECK(ran.x[0] == 95);
  CHECK(ran.x[95] == 0);
}

TEST_CASE("barriers of warps order the warp's threads alone") {
  ThreadRaces races;
  races.begin(1, 64);
  int64_t element = 0;
  ThreadRaces::Use before;
  CHECK_FALSE(races.access(0, &element, {0, 1, true, false}, before));
  races.warp_barrier(0, 0);
  CHECK_FALSE(races.access(0, &element, {1, 2, false, false}, before));
  CHECK(races.access(0, &element, {40, 3, false, false}, before));
  CHECK(before.thread == 0);
  races.block_barrier(0);
  CHECK_FALSE(races.access(0, &element, {40, 3, true, false}, before));
}
