// Who takes which units of a split launch.
#include "runtime/gpu/shares.h"

#include <algorithm>
#include <thread>

#include "catch.h"

using namespace gasell;

namespace {

std::optional<double> free_of_charge(size_t, UnitRange, double) { return 0; }
void pass(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

}  // namespace

TEST_CASE("a share's own pieces come from its front, in blocks") {
  Shares shares({{0, 10}, {10, 15}}, 2);
  const auto taken = [&](size_t share, int64_t blocks) {
    const UnitRange units = shares.take(share, blocks);
    return std::pair(units.begin, units.end);
  };
  CHECK(taken(0, 2) == std::pair<int64_t, int64_t>(0, 4));
  CHECK(taken(1, 2) == std::pair<int64_t, int64_t>(10, 14));
  CHECK(taken(0, 100) == std::pair<int64_t, int64_t>(4, 10));
  CHECK(taken(1, 1) == std::pair<int64_t, int64_t>(14, 15));
  CHECK(shares.take(0, 1).empty());
  CHECK(shares.take(1, 1).empty());
  CHECK(shares.expected(0, 10) >= 0);
}

TEST_CASE("an idle GPU takes from the back of the one that would be done last") {
  Shares shares({{0, 1}, {1, 21}, {21, 101}}, 1);
  CHECK(shares.take(0, 1).size() == 1);
  // Nobody knows yet how long the others take.
  CHECK(shares.steal(0, 4, free_of_charge).units.empty());
  shares.take(1, 1);
  shares.take(2, 1);
  pass(20);
  shares.take(1, 1);
  shares.take(2, 1);
  const Shares::Loot loot = shares.steal(0, 4, free_of_charge);
  CHECK(loot.owner == 2);
  CHECK((loot.units.begin == 97 && loot.units.end == 101));
  CHECK(shares.steal(0, 1000, free_of_charge).units.size() <= 38);  // half of what is left at most
}

TEST_CASE("units stay where moving them does not pay, or cannot be") {
  Shares shares({{0, 1}, {1, 21}}, 1);
  shares.take(0, 1);
  shares.take(1, 1);
  pass(20);
  shares.take(1, 1);
  shares.finish(0);
  CHECK(shares.steal(0, 1, [](size_t, UnitRange, double) { return std::optional<double>(1e6); }).units.empty());
  CHECK(shares.steal(0, 1, [](size_t, UnitRange, double) { return std::optional<double>(); }).units.empty());
  while (!shares.take(1, 1).empty()) {
  }
  CHECK(shares.steal(0, 1, free_of_charge).units.empty());
}

TEST_CASE("a GPU that is slower itself takes nothing") {
  Shares shares({{0, 1}, {1, 3}}, 1);
  shares.take(0, 1);
  pass(50);
  shares.finish(0);
  shares.take(1, 1);
  pass(2);
  CHECK(shares.steal(0, 1, free_of_charge).units.empty());
}

TEST_CASE("each unit goes to one GPU, though all take at once") {
  Shares shares({{0, 1000}, {1000, 2000}, {2000, 3001}}, 3);
  std::vector<int> times(3001);  // each written by whom it was handed to
  {
    std::vector<std::jthread> threads;
    for (size_t share = 0; share < 3; ++share) {
      threads.emplace_back([&, share] {
        const auto work = [&](UnitRange units) {
          for (int64_t k = units.begin; k < units.end; ++k) ++times[static_cast<size_t>(k)];
          if (share == 1) std::this_thread::sleep_for(std::chrono::microseconds(200));
        };
        for (UnitRange units; !(units = shares.take(share, 2)).empty();) work(units);
        for (UnitRange units; !(units = shares.steal(share, 2, free_of_charge).units).empty();) work(units);
        shares.finish(share);
      });
    }
  }
  CHECK(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
}

TEST_CASE("nothing is handed out after a failure") {
  Shares shares({{0, 10}, {10, 20}}, 1);
  shares.take(0, 1);
  shares.stop();
  CHECK(shares.take(0, 1).empty());
  CHECK(shares.take(1, 1).empty());
}
