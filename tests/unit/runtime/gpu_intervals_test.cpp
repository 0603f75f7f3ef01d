#include <random>

#include "catch.h"
#include "runtime/gpu/intervals.h"

using namespace gasell;

TEST_CASE("sets of bytes are what their definition says") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Intervals set;
    std::vector<bool> expected(40);
    for (int step = 0; step < 12; ++step) {
      const int64_t a = random() % 41, b = random() % 41;
      const ByteRange range{std::min(a, b), std::max(a, b)};
      const bool adds = random() % 2;
      adds ? set.add(range) : set.remove(range);
      for (int64_t k = range.begin; k < range.end; ++k) expected[static_cast<size_t>(k)] = adds;

      std::vector<bool> got(40);
      int64_t bytes = 0, last_end = -1;
      for (const ByteRange& r : set.ranges()) {
        CHECK(r.begin > last_end);  // in order, and no two that touch
        CHECK(!r.empty());
        last_end = r.end;
        bytes += r.size();
        for (int64_t k = r.begin; k < r.end; ++k) got[static_cast<size_t>(k)] = true;
      }
      REQUIRE(got == expected);
      CHECK(set.size() == bytes);

      const int64_t c = random() % 41, d = random() % 41;
      const ByteRange asked{std::min(c, d), std::max(c, d)};
      std::vector<int> parts(40);
      for (const ByteRange& r : set.within(asked))
        for (int64_t k = r.begin; k < r.end; ++k) parts[static_cast<size_t>(k)] += expected[static_cast<size_t>(k)] ? 1 : 100;
      for (const ByteRange& r : set.missing(asked))
        for (int64_t k = r.begin; k < r.end; ++k) parts[static_cast<size_t>(k)] += expected[static_cast<size_t>(k)] ? 100 : 1;
      bool all = true;
      for (int64_t k = 0; k < 40; ++k) {
        const bool inside = k >= asked.begin && k < asked.end;
        REQUIRE(parts[static_cast<size_t>(k)] == (inside ? 1 : 0));
        all = all && (!inside || expected[static_cast<size_t>(k)]);
      }
      CHECK(set.contains(asked) == all);
    }
  }
}
