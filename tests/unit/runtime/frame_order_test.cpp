#include "runtime/frame/order.h"

#include <algorithm>
#include <numeric>

#include "catch.h"
#include "unit/runtime/frame_random.h"

using namespace frame_test;

namespace {

/// Rows in order by the definition.
std::vector<uint32_t> expected_order(const std::vector<Random>& keys, const std::vector<KeyOrder>& order, int64_t n) {
  std::vector<uint32_t> rows(static_cast<size_t>(n));
  std::iota(rows.begin(), rows.end(), 0U);
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    for (size_t k = 0; k < keys.size(); ++k) {
      const auto &x = keys[k].plain.number[a], &y = keys[k].plain.number[b];
      if (x == y) continue;
      if (!x || !y) return !x == order[k].missing_first;
      return order[k].descending ? *x > *y : *x < *y;
    }
    return false;
  });
  return rows;
}

}  // namespace

TEST_CASE("rows are ordered by keys of every type") {
  std::mt19937_64 random(21);
  for (int trial = 0; trial < 150; ++trial) {
    const int64_t n = std::vector<int64_t>{0, 1, 2, 50, 3000, 50'000}[random() % 6];
    std::vector<Random> keys;
    std::vector<Column> columns;
    std::vector<KeyOrder> order;
    for (size_t k = 0, count = 1 + random() % 3; k < count; ++k) {
      keys.push_back(random_column(static_cast<Sort>(random() % static_cast<uint64_t>(Sort::count)), n,
                                   1 + static_cast<int64_t>(random() % (k ? 9 : 2000)), 0.1, random));
      columns.push_back(keys.back().column);
      order.push_back({random() % 2 == 0, random() % 2 == 0});
    }
    const std::vector<uint32_t> expected = expected_order(keys, order, n);
    const Scratch<uint32_t> got = order_rows(engine(), columns, order);
    REQUIRE(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
    const int64_t first = static_cast<int64_t>(random() % 60);
    const Scratch<uint32_t> few = first_rows(engine(), columns, order, first);
    REQUIRE(few.size() == std::min(first, n));
    REQUIRE(std::equal(few.begin(), few.end(), expected.begin()));
  }
}

TEST_CASE("many floats are ordered") {
  std::mt19937_64 random(22);
  const int64_t n = 1'500'000;
  const Random key = random_column(Sort::f64, n, 5'000'000, 0.001, random);
  const std::vector<uint32_t> expected = expected_order({key}, {{false, false}}, n);
  const Scratch<uint32_t> got = order_rows(engine(), {key.column});
  CHECK(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
  const Scratch<uint32_t> few = first_rows(engine(), {key.column}, {{false, false}}, 1000);
  CHECK(std::equal(few.begin(), few.end(), expected.begin()));
}

TEST_CASE("ranks are as defined") {
  std::mt19937_64 random(23);
  for (int trial = 0; trial < 40; ++trial) {
    const int64_t n = 1 + static_cast<int64_t>(random() % 300);
    const Random value = random_column(static_cast<Sort>(random() % static_cast<uint64_t>(Sort::count)), n, 20, 0.1, random);
    const Random key = random_column(Sort::nullable_i64, n, 4, 0.1, random);
    const GroupsRef groups = group_rows(engine(), {key.column});
    const bool descending = random() % 2;
    const auto got = [&](RankMethod method) {
      RankOptions options;
      options.method = method;
      options.descending = descending;
      return numbers(ranks(engine(), value.column, options, groups.get()));
    };
    const auto average = got(RankMethod::average), least = got(RankMethod::min), most = got(RankMethod::max),
               dense = got(RankMethod::dense), first = got(RankMethod::first);
    for (int64_t i = 0; i < n; ++i) {
      const auto& v = value.plain.number[static_cast<size_t>(i)];
      const int32_t group = groups->ids()[i];
      if (!v || group < 0) {
        REQUIRE(!average[static_cast<size_t>(i)]);
        continue;
      }
      int64_t before = 0, same = 0, same_before = 0;
      std::vector<double> different;
      for (int64_t k = 0; k < n; ++k) {
        const auto& w = value.plain.number[static_cast<size_t>(k)];
        if (!w || groups->ids()[k] != group) continue;
        const bool ahead = descending ? *w > *v : *w < *v;
        before += ahead;
        same += *w == *v;
        same_before += *w == *v && k < i;
        if (ahead && std::find(different.begin(), different.end(), *w) == different.end()) different.push_back(*w);
      }
      const auto at = static_cast<size_t>(i);
      REQUIRE(least[at] == static_cast<double>(before + 1));
      REQUIRE(most[at] == static_cast<double>(before + same));
      REQUIRE(average[at] == static_cast<double>(2 * before + same + 1) / 2);
      REQUIRE(first[at] == static_cast<double>(before + same_before + 1));
      REQUIRE(dense[at] == static_cast<double>(different.size() + 1));
    }
  }
}
