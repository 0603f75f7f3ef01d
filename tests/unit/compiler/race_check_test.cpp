// Races between the threads of kernels mapped to a grid: kernels with their barriers, and without one of them; the checker against a model
// that remembers everything.
#include <numeric>
#include <random>

#include "catch.h"
#include "compiler/codegen/race_check.h"
#include "unit/compiler/codegen_support.h"

using namespace gasell;
using namespace gasell::test;
using ir::Space;

namespace {

/// What a run of the kernel's units 0 to `units` reports; `arrays` are its parameters, 64 elements each.
std::vector<std::string> races_in(const std::string& text, int64_t units, std::vector<std::vector<double>> arrays) {
  JitOptions options = without_disk();
  options.check_races = true;
  Jit jit(options);
  std::vector<std::string> reports;
  RaceChecker checker([&](const std::string& race) { reports.push_back(race); });
  std::vector<void*> entries;
  for (auto& array : arrays) entries.push_back(array.data());
  for (auto& array : arrays) entries.push_back(array.data());
  for (auto& array : arrays) entries.push_back(array.data() + array.size());
  entries.push_back(&checker);
  jit.compile(ir::parse(text)).function(entries.data(), nullptr, 0, units);
  return reports;
}
std::vector<std::string> races_in(const std::string& text, int64_t units = 2) {
  const size_t arrays = ir::parse(text).params.size();
  return races_in(text, units, std::vector<std::vector<double>>(arrays, std::vector<double>(64, 1.0)));
}

/// The text without its barrier number `which`; empty when it has not so many.
std::string without_barrier(const std::string& text, int which) {
  size_t at = text.find("barrier ");
  for (; which > 0 && at != std::string::npos; --which) at = text.find("barrier ", at + 1);
  if (at == std::string::npos) return "";
  return text.substr(0, at) + text.substr(text.find('\n', at));
}

const char* const kTree = R"(kernel tree(in x: f64, out y: f64) threads 64 {
  for u in 0 .. 2 unit {
    local a: f64[64] block
    for i in 0 .. 64 within 64 {
      a[i] = x[i]
    }
    barrier block
    for j in 0 .. 32 within 64 {
      a[j] = (a[j] + a[(j + 32)])
    }
    barrier block
    for k in 0 .. 1 within 64 {
      y[u] = (a[0] + a[1])
    }
    barrier block
    for l in 0 .. 64 within 64 {
      a[l] = 0.0
    }
  }
})";

}  // namespace

TEST_CASE("a tree of sums needs each of its barriers") {
  CHECK(races_in(kTree) == std::vector<std::string>{});
  CHECK(races_in(without_barrier(kTree, 0)) ==
        std::vector<std::string>{
            "kernel tree has a race: a[32] is used by two threads of unit 0 with no barrier between: thread 32 writes it in "
            "'a[i] = x[i]', thread 0 reads it in 'a[j] = (a[j] + a[(j + 32)])'"});
  CHECK(races_in(without_barrier(kTree, 1)) ==
        std::vector<std::string>{
            "kernel tree has a race: a[1] is used by two threads of unit 0 with no barrier between: thread 1 writes it in "
            "'a[j] = (a[j] + a[(j + 32)])', thread 0 reads it in 'y[u] = (a[0] + a[1])'"});
  CHECK(races_in(without_barrier(kTree, 2)) ==
        std::vector<std::string>{
            "kernel tree has a race: a[1] is used by two threads of unit 0 with no barrier between: thread 0 reads it in "
            "'y[u] = (a[0] + a[1])', thread 1 writes it in 'a[l] = 0.0'"});
  CHECK(without_barrier(kTree, 3).empty());
}

TEST_CASE("what a whole block or warp reads, all of its threads read") {
  const std::string text = R"(kernel k(in x: f64, out y: f64) threads 64 {
  for u in 0 .. 2 unit {
    local a: f64[2] block
    for r in 0 .. 4 across 32 {
      local b: f64[32] warp
      for i in 0 .. 32 within 32 {
        b[i] = x[i]
      }
      barrier warp
      let s: f64 = (b[0] + b[1])
      if (r < 2) {
        for one in 0 .. 1 within 32 {
          a[r] = s
        }
      }
      barrier warp
    }
    barrier block
    let t: f64 = (a[0] + a[1])
    for two in 0 .. 1 within 64 {
      y[u] = t
    }
  }
})";
  CHECK(races_in(text).empty());
  CHECK(
      races_in(without_barrier(text, 0)) ==
      std::vector<std::string>{"kernel k has a race: b[0] is used by two threads of unit 0 with no barrier between: thread 0 writes it in "
                               "'b[i] = x[i]', thread 1 reads it in 'let s: f64 = (b[0] + b[1])'"});
  // The warp's next row overwrites what a thread of it may still read.
  CHECK(races_in(without_barrier(text, 1)) ==
        std::vector<std::string>{"kernel k has a race: b[0] is used by two threads of unit 0 with no barrier between: thread 1 reads it in "
                                 "'let s: f64 = (b[0] + b[1])', thread 0 writes it in 'b[i] = x[i]'"});
  CHECK(races_in(without_barrier(text, 2)) ==
        std::vector<std::string>{
            "kernel k has a race: a[0] is used by two threads of unit 0 with no barrier between: thread 0 writes it in 'a[r] = s', "
            "thread 32 reads it in 'let t: f64 = (a[0] + a[1])'"});
}

TEST_CASE("a warp's barrier orders no other warp") {
  const std::string text = R"(kernel k(in x: f64, out y: f64) threads 64 {
  for u in 0 .. 1 unit {
    for i in 0 .. 64 within 64 {
      y[i] = x[i]
    }
    barrier block
    for j in 0 .. 64 within 64 {
      y[j ^ 1] = (x[j] + 1.0)
    }
  }
})";
  const auto with = [&](const std::string& partner, const std::string& space) {
    std::string changed = text;
    changed.replace(changed.find("j ^ 1"), 5, "(j ^ " + partner + ")");
    changed.replace(changed.find("block"), 5, space);
    return races_in(changed, 1);
  };
  CHECK(with("1", "block").empty());
  CHECK(with("1", "warp").empty());
  CHECK(with("32", "block").empty());
  CHECK(with("0", "warp").empty());
  CHECK(with("32", "warp") ==
        std::vector<std::string>{
            "kernel k has a race: y[32] is used by two threads of unit 0 with no barrier between: thread 32 writes it in "
            "'y[i] = x[i]', thread 0 writes it in 'y[(j ^ 32)] = (x[j] + 1.0)'"});
}

TEST_CASE("units have places of their own") {
  const std::string text = R"(kernel k(in x: f64, out y: f64) threads 32 {
  for u in 0 .. 4 unit {
    for i in 0 .. 8 within 32 {
      y[(OFFSET + i)] = x[i]
    }
  }
})";
  const auto with = [&](const std::string& offset) {
    std::string changed = text;
    changed.replace(changed.find("OFFSET"), 6, offset);
    return races_in(changed, 4);
  };
  CHECK(with("(u * 8)").empty());
  CHECK(with("(u * 7)") == std::vector<std::string>{
                               "kernel k has a race: y[7] is used by two units: thread 7 of unit 0 writes it in 'y[((u * 7) + i)] = x[i]', "
                               "thread 0 of unit 1 writes it in 'y[((u * 7) + i)] = x[i]'"});
}

TEST_CASE("an array may begin in the middle of its memory") {
  RaceChecker checker([](const std::string& race) { FAIL(race); });
  const AccessSite site{"k", "a", "a[i] = 1.0", 0, static_cast<int8_t>(Space::automatic), 1};
  checker.unit(0);
  for (int64_t index = -3000; index < 3000; ++index) checker.access(site, index, index & 63, 1);
  for (int64_t index = -3000; index < 3000; ++index) checker.access(site, index, index & 63, 1);
}

TEST_CASE("complex numbers, and groups of fewer threads than a warp") {
  JitOptions options = without_disk();
  options.check_races = true;
  Jit jit(options);
  const auto run = [&](const std::string& index) {
    std::vector<std::complex<double>> z(64);
    std::vector<std::string> reports;
    RaceChecker checker([&](const std::string& race) { reports.push_back(race); });
    void* arrays[] = {z.data(), z.data(), z.data() + z.size(), &checker};
    const auto kernel = jit.compile(ir::parse(R"(kernel k(out z: c128) threads 64 {
      for u in 0 .. 1 unit {
        for r in 0 .. 16 across 4 {
          for i in 0 .. 4 within 4 {
            z[)" + index + R"(] = (1.0, 2.0)c128
          }
        }
      }
    })"));
    kernel.function(arrays, nullptr, 0, 1);
    return reports;
  };
  CHECK(run("((r * 4) + i)").empty());
  CHECK(run("((r * 4) + (i // 2))") ==
        std::vector<std::string>{
            "kernel k has a race: z[0] is used by two threads of unit 0 with no barrier between: thread 0 writes it in "
            "'z[((r * 4) + (i // 2))] = (1.0, 2.0)c128', thread 1 writes it in 'z[((r * 4) + (i // 2))] = (1.0, 2.0)c128'"});
}

TEST_CASE("the checker finds what a model finds that remembers every use") {
  struct Used {
    bool writes;
    int64_t unit, first, count;
    int64_t epoch;
    std::vector<int64_t> warp_epochs;
  };
  constexpr int kThreads = 96;
  AccessSite sites[2][2];
  for (int shared = 0; shared < 2; ++shared)
    for (int writes = 0; writes < 2; ++writes)
      sites[shared][writes] = {"k",
                               "a",
                               writes ? "writes" : "reads",
                               shared,
                               static_cast<int8_t>(shared ? Space::block : Space::automatic),
                               static_cast<int8_t>(writes)};
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n)); };
  int racing = 0, clean = 0;
  for (int round = 0; round < 4000; ++round) {
    bool reported = false, expected = false;
    RaceChecker checker([&](const std::string&) { reported = true; });
    const bool shared = below(2);
    int64_t unit = 0, epoch = 0;
    std::vector<int64_t> warps(kThreads / 32, 0);
    std::vector<Used> before;
    checker.unit(unit);
    const int writes_of_ten = static_cast<int>(below(4));
    for (int step = 0; step < 12 && !expected; ++step) {
      const int64_t what = below(10);
      if (what == 0) {
        checker.unit(++unit);
        ++epoch;
      } else if (what == 1) {
        checker.barrier(Space::block, 0, kThreads);
        ++epoch;
      } else if (what == 2) {
        const int64_t warp = below(kThreads / 32);
        checker.barrier(Space::warp, warp * 32, 32);
        ++warps[static_cast<size_t>(warp)];
      } else {
        Used now{below(10) < writes_of_ten, unit, below(3) + 32 * below(kThreads / 32), 1, epoch, warps};
        if (!now.writes && below(6) == 0) now.first = now.first / 32 * 32, now.count = 32;
        if (!now.writes && below(12) == 0) now.first = 0, now.count = kThreads;
        for (const Used& then : before) {
          if (!then.writes && !now.writes) continue;
          if (then.unit != now.unit) {
            expected = expected || !shared;
            continue;
          }
          for (int64_t a = then.first; a < then.first + then.count; ++a)
            for (int64_t b = now.first; b < now.first + now.count; ++b) {
              const auto warp = static_cast<size_t>(a / 32);
              const bool ordered = then.epoch != now.epoch || (a / 32 == b / 32 && then.warp_epochs[warp] != now.warp_epochs[warp]);
              expected = expected || (a != b && !ordered);
            }
        }
        before.push_back(now);
        checker.access(sites[shared][now.writes], 5, now.first, now.count);
      }
      REQUIRE(reported == expected);
    }
    ++(expected ? racing : clean);
  }
  CHECK(racing > 500);
  CHECK(clean > 500);
}

TEST_CASE("two statements are named once, and a store by many threads is a race of its own") {
  const AccessSite site{"k", "a", "a[0] = 1.0", 0, static_cast<int8_t>(Space::block), 1};
  std::vector<std::string> reports;
  RaceChecker checker([&](const std::string& race) { reports.push_back(race); });
  checker.unit(7);
  for (int64_t k = 0; k < 3; ++k) checker.access(site, k, 0, 64);
  CHECK(reports == std::vector<std::string>{"kernel k has a race: a[0] is written by 64 threads of unit 7 at once, in 'a[0] = 1.0'"});
}
