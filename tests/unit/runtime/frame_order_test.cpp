#include "runtime/frame/order.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "catch.h"
#include "runtime/frame/group_firsts.h"
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

TEST_CASE("first rows of groups are those of ordered rows") {
  std::mt19937_64 random(23);
  int found_all = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int64_t n = std::vector<int64_t>{1, 50, 3000, 90'000, 200'000}[random() % 5];
    const auto any_sort = [&] { return static_cast<Sort>(random() % static_cast<uint64_t>(Sort::count)); };
    std::vector<Random> keys, by;
    FirstsOfGroups wanted;
    for (size_t k = 0, count = 1 + random() % 2; k < count; ++k) {
      keys.push_back(random_column(any_sort(), n, 1 + static_cast<int64_t>(random() % 40), 0.1, random));
      wanted.keys.push_back(keys.back().column);
    }
    for (size_t k = 0, count = random() % 3; k < count; ++k) {
      by.push_back(random_column(any_sort(), n, 1 + static_cast<int64_t>(random() % 2000), 0.1, random));
      wanted.by.push_back(by.back().column);
      wanted.order.push_back({random() % 2 == 0, random() % 2 == 0});
    }
    std::vector<bool> kept(static_cast<size_t>(n), true);
    if (random() % 2) {
      for (size_t i = 0; i < kept.size(); ++i) kept[i] = random() % 4 != 0;
      wanted.mask = flags_of(kept);
    }
    wanted.missing = random() % 2 ? MissingKeys::dropped : MissingKeys::kept;
    wanted.count = 1 + static_cast<int64_t>(random() % 4);
    wanted.last = random() % 2;
    wanted.only_last_of_them = random() % 3 == 0;
    // By the definition: in the order, those before which (behind which) so many of the group stand.
    std::vector<uint32_t> rows = expected_order(by, wanted.order, n), expected;
    if (wanted.last) std::reverse(rows.begin(), rows.end());
    std::map<std::string, int64_t> seen;
    for (const uint32_t row : rows) {
      std::string key;
      bool dropped = !kept[row];
      for (const Random& k : keys) {
        dropped |= wanted.missing == MissingKeys::dropped && k.plain.key[row].empty();
        key += k.plain.key[row] + "|";
      }
      if (dropped) continue;
      const int64_t place = ++seen[key];
      if (wanted.only_last_of_them ? place == wanted.count : place <= wanted.count) expected.push_back(row);
    }
    if (wanted.last) std::reverse(expected.begin(), expected.end());
    const auto got = firsts_of_groups(engine(), wanted);
    if (!got) continue;
    ++found_all;
    REQUIRE(static_cast<size_t>(got->size()) == expected.size());
    REQUIRE(std::equal(got->begin(), got->end(), expected.begin()));
  }
  CHECK(found_all > 120);
}
