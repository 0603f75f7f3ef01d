#include "runtime/frame/join.h"

#include <algorithm>
#include <map>

#include "catch.h"
#include "unit/runtime/frame_random.h"

using namespace frame_test;

namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Pairs pairs_of(const JoinedRows& rows) {
  Pairs result;
  for (int64_t i = 0; i < rows.count(); ++i) result.emplace_back(rows.left[i], rows.right[i]);
  return result;
}

/// The matching pairs in the order of the left rows; with `all`, left rows without a match too.
Pairs expected_pairs(const std::vector<std::string>& left, const std::vector<std::string>& right, bool all) {
  std::map<std::string, std::vector<int64_t>> where;
  for (size_t i = 0; i < right.size(); ++i) where[right[i]].push_back(static_cast<int64_t>(i));
  Pairs result;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto found = where.find(left[i]);
    if (found == where.end()) {
      if (all) result.emplace_back(static_cast<int64_t>(i), -1);
    } else
      for (const int64_t r : found->second) result.emplace_back(static_cast<int64_t>(i), r);
  }
  return result;
}

Pairs turned(Pairs pairs) {
  for (auto& [l, r] : pairs) std::swap(l, r);
  return pairs;
}

std::vector<std::string> keys_of(const std::vector<Random>& columns, int64_t n) {
  std::vector<std::string> keys(static_cast<size_t>(n));
  for (const Random& c : columns)
    for (size_t i = 0; i < keys.size(); ++i) keys[i] += c.plain.key[i] + ";";
  return keys;
}

}  // namespace

TEST_CASE("rows are joined by keys of every type") {
  std::mt19937_64 random(31);
  for (int trial = 0; trial < 120; ++trial) {
    const int64_t n = std::vector<int64_t>{0, 1, 40, 1000, 30'000}[random() % 5], m = std::vector<int64_t>{0, 1, 30, 700}[random() % 4];
    std::vector<Random> left, right;
    std::vector<Column> left_columns, right_columns;
    for (size_t k = 0, count = 1 + random() % 3; k < count; ++k) {
      const auto sort = static_cast<Sort>(random() % static_cast<uint64_t>(Sort::count));
      const int64_t different = k ? 3 : 500;
      // One draw for both sides, so that categories and dictionaries are the same.
      const Random both = random_column(sort, n + m, different, 0.05, random);
      Random l = both, r = both;
      l.column = slice(engine(), both.column, 0, n);
      r.column = slice(engine(), both.column, n, n + m);
      r.plain.key.erase(r.plain.key.begin(), r.plain.key.begin() + n);
      l.plain.key.resize(static_cast<size_t>(n));
      match_types(engine(), l.column, r.column, "k");
      left_columns.push_back(l.column);
      right_columns.push_back(r.column);
      left.push_back(std::move(l));
      right.push_back(std::move(r));
    }
    const std::vector<std::string> l = keys_of(left, n), r = keys_of(right, m);
    const auto join = [&](Join how) { return pairs_of(join_rows(engine(), left_columns, right_columns, how)); };
    REQUIRE(join(Join::inner) == expected_pairs(l, r, false));
    REQUIRE(join(Join::left) == expected_pairs(l, r, true));
    REQUIRE(join(Join::right) == turned(expected_pairs(r, l, true)));
    // The outer join has the left join's pairs and the right rows without a match, in the order of the keys.
    Pairs outer = join(Join::outer), all = expected_pairs(l, r, true);
    for (const auto& [right_row, left_row] : expected_pairs(r, l, true))
      if (left_row < 0) all.emplace_back(-1, right_row);
    std::sort(outer.begin(), outer.end());
    std::sort(all.begin(), all.end());
    REQUIRE(outer == all);
    const auto matches = numbers(has_match(engine(), left_columns, right_columns));
    for (int64_t i = 0; i < n; ++i) {
      const bool there = std::find(r.begin(), r.end(), l[static_cast<size_t>(i)]) != r.end();
      if (matches[static_cast<size_t>(i)] != static_cast<double>(there)) FAIL("has_match of row " << i);
    }
  }
}

TEST_CASE("many rows are joined") {
  std::mt19937_64 random(32);
  const int64_t n = 1'200'000;
  for (const Sort sort : {Sort::i64, Sort::wide_i64}) {
    const Random both = random_column(sort, 2 * n, 2 * n, 0, random);
    const std::vector<std::string> l(both.plain.key.begin(), both.plain.key.begin() + n),
        r(both.plain.key.begin() + n, both.plain.key.end());
    const Pairs got =
        pairs_of(join_rows(engine(), {slice(engine(), both.column, 0, n)}, {slice(engine(), both.column, n, 2 * n)}, Join::inner));
    CHECK((got == expected_pairs(l, r, false)));
  }
}

TEST_CASE("many rows are joined with others whose keys are all different") {
  std::mt19937_64 random(33);
  for (const int64_t most : {int64_t{300'000}, int64_t{1} << 40}) {  // by tables of the keys, and by hashes
    std::vector<int64_t> other(200'000), some(500'000);
    for (size_t i = 0; i < other.size(); ++i) other[i] = static_cast<int64_t>(i) * (most / 300'000) + 5;
    std::shuffle(other.begin(), other.end(), random);
    for (int64_t& key : some) key = static_cast<int64_t>(random() % 300'000) * (most / 300'000) + 5;
    const auto texts = [](const std::vector<int64_t>& keys) {
      std::vector<std::string> result;
      for (const int64_t key : keys) result.push_back(std::to_string(key));
      return result;
    };
    const std::vector<std::string> l = texts(some), r = texts(other);
    const Column left = number_column(node_of(some)), right = number_column(node_of(other));
    const auto join = [&](Join how) { return join_rows(engine(), {left}, {right}, how); };
    CHECK((pairs_of(join(Join::inner)) == expected_pairs(l, r, false)));
    CHECK(!join(Join::inner).right_missing);
    CHECK((pairs_of(join(Join::left)) == expected_pairs(l, r, true)));
    CHECK(join(Join::left).right_missing);
    CHECK((pairs_of(join(Join::right)) == turned(expected_pairs(r, l, true))));
  }
}

TEST_CASE("numbers of different types match") {
  Column integers = number_column(node_of(std::vector<int32_t>{1, 2, 3})), floats = number_column(node_of(std::vector<double>{3, 2.5, 1}));
  match_types(engine(), integers, floats, "k");
  CHECK(pairs_of(join_rows(engine(), {integers}, {floats}, Join::inner)) == Pairs{{0, 2}, {2, 0}});
}
