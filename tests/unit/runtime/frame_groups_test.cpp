#include "runtime/frame/groups.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "catch.h"
#include "unit/runtime/frame_random.h"

using namespace frame_test;

namespace {

/// Groups by their definition.
struct Expected {
  std::vector<int32_t> ids;
  std::vector<int64_t> first_rows;
};
Expected expected_groups(const std::vector<Random>& keys, int64_t n, GroupOrder order, MissingKeys missing) {
  std::map<std::vector<std::string>, int64_t> known;
  std::vector<int64_t> first;
  std::vector<int64_t> group(static_cast<size_t>(n), -1);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<std::string> key;
    bool dropped = false;
    for (const Random& k : keys) {
      key.push_back(k.plain.key[static_cast<size_t>(i)]);
      dropped |= key.back().empty() && missing == MissingKeys::dropped;
    }
    if (dropped) continue;
    const auto [place, is_new] = known.emplace(key, static_cast<int64_t>(first.size()));
    if (is_new) first.push_back(i);
    group[static_cast<size_t>(i)] = place->second;
  }
  std::vector<int64_t> order_of(first.size());
  std::iota(order_of.begin(), order_of.end(), 0);
  if (order == GroupOrder::sorted)
    std::stable_sort(order_of.begin(), order_of.end(), [&](int64_t a, int64_t b) {
      for (const Random& k : keys) {
        const auto& x = k.plain.number[static_cast<size_t>(first[static_cast<size_t>(a)])];
        const auto& y = k.plain.number[static_cast<size_t>(first[static_cast<size_t>(b)])];
        if (x == y) continue;
        if (!x || !y) return y == std::nullopt;
        return *x < *y;
      }
      return false;
    });
  Expected result;
  std::vector<int32_t> number(first.size());
  for (size_t i = 0; i < order_of.size(); ++i) {
    number[static_cast<size_t>(order_of[i])] = static_cast<int32_t>(i);
    result.first_rows.push_back(first[static_cast<size_t>(order_of[i])]);
  }
  for (const int64_t g : group) result.ids.push_back(g < 0 ? -1 : number[static_cast<size_t>(g)]);
  return result;
}

void check(const std::vector<Random>& keys, int64_t n, GroupOrder order, MissingKeys missing) {
  std::vector<Column> columns;
  for (const Random& k : keys) columns.push_back(k.column);
  const GroupsRef groups = group_rows(engine(), columns, order, missing);
  const Expected expected = expected_groups(keys, n, order, missing);
  REQUIRE(groups->rows() == n);
  REQUIRE(groups->count() == static_cast<int64_t>(expected.first_rows.size()));
  REQUIRE(std::equal(expected.first_rows.begin(), expected.first_rows.end(), groups->first_rows()));
  REQUIRE(std::equal(expected.ids.begin(), expected.ids.end(), groups->ids()));
  CHECK(groups->has_all_rows() == (std::count(expected.ids.begin(), expected.ids.end(), -1) == 0));
  const Groups::Listing& listing = groups->listing(engine());
  int64_t at = 0;
  for (int64_t g = 0; g < groups->count(); ++g) {
    REQUIRE(listing.starts[g] == at);
    for (; at < listing.starts[g + 1]; ++at) {
      if (groups->ids()[listing.rows[at]] != g || (at > listing.starts[g] && listing.rows[at] <= listing.rows[at - 1]))
        FAIL("the listing of group " << g);
    }
  }
  CHECK(at == n - std::count(expected.ids.begin(), expected.ids.end(), -1));
}

}  // namespace

TEST_CASE("rows are grouped by keys of every type") {
  std::mt19937_64 random(5);
  for (int sort = 0; sort < static_cast<int>(Sort::count); ++sort)
    for (const int64_t n : {0, 1, 2, 100, 3000})
      for (const int64_t different : {1, 7, 5000})
        for (const MissingKeys missing : {MissingKeys::dropped, MissingKeys::kept})
          for (const GroupOrder order : {GroupOrder::sorted, GroupOrder::appearance}) {
            INFO("type " << sort << ", rows " << n << ", different " << different);
            check({random_column(static_cast<Sort>(sort), n, different, 0.1, random)}, n, order, missing);
          }
}

TEST_CASE("rows are grouped by several keys") {
  std::mt19937_64 random(6);
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t n = static_cast<int64_t>(random() % 4000);
    std::vector<Random> keys;
    for (size_t k = 0, count = 2 + random() % 4; k < count; ++k)
      keys.push_back(random_column(static_cast<Sort>(random() % static_cast<uint64_t>(Sort::count)), n,
                                   1 + static_cast<int64_t>(random() % 6), 0.05, random));
    check(keys, n, random() % 2 ? GroupOrder::sorted : GroupOrder::appearance, random() % 2 ? MissingKeys::dropped : MissingKeys::kept);
  }
}

TEST_CASE("keys wider than a number are grouped") {
  std::mt19937_64 random(7);
  const int64_t n = 5000;
  for (const MissingKeys missing : {MissingKeys::dropped, MissingKeys::kept}) {
    std::vector<Random> keys;
    for (int k = 0; k < 3; ++k) keys.push_back(random_column(Sort::wide_i64, n, 9, 0, random));
    keys.push_back(random_column(Sort::f64, n, 5, 0.1, random));
    check(keys, n, GroupOrder::sorted, missing);
    check(keys, n, GroupOrder::appearance, missing);
  }
}

TEST_CASE("many rows are grouped by tables, in small tables and by parts") {
  std::mt19937_64 random(8);
  const int64_t n = 1'200'000;
  for (const int64_t different : {50, 3000, 900'000})
    for (const Sort sort : {Sort::i64, Sort::wide_i64, Sort::f64, Sort::text}) {
      const Random key = random_column(sort, n, different, 0.01, random);
      INFO("type " << static_cast<int>(sort) << ", different " << different);
      check({key}, n, GroupOrder::sorted, MissingKeys::dropped);
      check({key}, n, GroupOrder::appearance, MissingKeys::kept);
    }
}
