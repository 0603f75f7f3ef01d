#include "runtime/frame/rows.h"

#include <algorithm>
#include <numeric>

#include "catch.h"
#include "runtime/frame/gathers.h"
#include "runtime/frame/rules.h"
#include "runtime/frame/run.h"
#include "unit/runtime/frame_random.h"

using namespace frame_test;

namespace {

NodeRef numbers(const std::vector<int64_t>& values) {
  NewValues result(engine(), DType::i64, static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), result.as<int64_t>());
  return result.node();
}
NodeRef flags(const std::vector<int>& values) {
  NewValues result(engine(), DType::boolean, static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), result.as<bool>());
  return result.node();
}
Column column(const std::vector<int64_t>& values) { return number_column(numbers(values)); }
std::vector<int64_t> values_of(Column c) {
  const ColumnData data = read(engine(), c);
  return {data.as<int64_t>(), data.as<int64_t>() + data.count};
}
std::vector<int64_t> found(const RowsRef& rows) { return values_of(number_column(numbers_of(engine(), rows))); }
OrderRef by(const Column& key, bool descending = false) {
  auto order = std::make_shared<Order>();
  order->keys = {key};
  order->order = {{descending, false}};
  return order;
}
std::vector<std::string> fired(const RowsRef& rows) {
  std::vector<std::string> names;
  simplify(engine(), rows, &names);
  return names;
}

const std::vector<int64_t> kValues = {5, 3, 9, 1, 7, 3, 8, 2};

/// The rows of kValues that are above 2.
RowsRef above_two() { return filter_rows(memory_rows(8), flags({1, 1, 1, 0, 1, 1, 1, 0}), numbers({0, 1, 2, 4, 5, 6})); }

}  // namespace

TEST_CASE("rows are printed as a tree") {
  const RowsRef rows = slice_rows(ordered_rows(above_two(), by(column({5, 3, 9, 7, 3, 8}), true)), 1, 3);
  CHECK(to_text(*rows) ==
        "slice from 1: 3 rows\n"
        "  order by 1 key, descending: 6 rows\n"
        "    filter: 6 rows\n"
        "      memory: 8 rows\n");
}

TEST_CASE("equal rows are one node") {
  CHECK(memory_rows(8) == memory_rows(8));
  const NodeRef some = numbers({1, 2});
  const RowsRef rows = take_rows(memory_rows(8), some, false);
  CHECK(rows == take_rows(memory_rows(8), some, false));
  CHECK(rows != take_rows(memory_rows(8), some, true));
  CHECK(slice_rows(rows, 0, 1) == slice_rows(rows, 0, 1));
  CHECK(slice_rows(rows, 0, 1) != slice_rows(rows, 1, 1));
}

TEST_CASE("numbers of rows are those of the memory") {
  const RowsRef filter = above_two();
  CHECK(found(filter) == std::vector<int64_t>{0, 1, 2, 4, 5, 6});
  const RowsRef order = ordered_rows(filter, by(column({5, 3, 9, 7, 3, 8})));
  CHECK(found(slice_rows(order, 0, 2)) == std::vector<int64_t>{1, 5});
  CHECK(found(order) == std::vector<int64_t>{1, 5, 0, 4, 6, 2});
  CHECK(found(take_rows(order, numbers({5, -1, 0}), true)) == std::vector<int64_t>{2, -1, 1});
  CHECK(found(slice_rows(order, 5, 3, -2)) == std::vector<int64_t>{2, 4, 5});
}

TEST_CASE("a slice of a slice is a slice") {
  const RowsRef rows = slice_rows(slice_rows(ordered_rows(memory_rows(8), by(column(kValues))), 1, 3, 2), 1, 2);
  CHECK(fired(rows).at(0) == "merge_slices");
  CHECK(to_text(*simplify(engine(), rows)).starts_with("slice from 3 by 2: 2 rows\n  order"));
  CHECK(found(rows) == std::vector<int64_t>{5, 4});
}

TEST_CASE("the first rows of an order need no order") {
  const RowsRef rows = slice_rows(ordered_rows(memory_rows(8), by(column(kValues))), 1, 2);
  CHECK(fired(rows) == std::vector<std::string>{"top_n"});
  CHECK(to_text(*simplify(engine(), rows)) ==
        "slice from 1: 2 rows\n"
        "  first of order by 1 key, ascending: 3 rows\n"
        "    memory: 8 rows\n");
  CHECK(found(rows) == std::vector<int64_t>{7, 1});
}

TEST_CASE("slices of numbers are fewer numbers") {
  CHECK(fired(slice_rows(take_rows(memory_rows(8), numbers({7, 6, 5}), false), 1, 2)) == std::vector<std::string>{"slice_of_numbers"});
  CHECK(found(slice_rows(take_rows(memory_rows(8), numbers({7, 6, 5}), false), 1, 2)) == std::vector<int64_t>{6, 5});
  CHECK(found(slice_rows(above_two(), 3, 2)) == std::vector<int64_t>{4, 5});
}

TEST_CASE("an order that a later one includes is dropped") {
  const Column a = column({2, 1, 2, 1}), b = column({4, 3, 2, 1});
  const std::vector<Column> sorted = gather(engine(), {a, b}, [&](const RowsRef& rows) { return ordered_rows(rows, by(a)); });
  const RowsRef inner = gather_of(sorted[0])->rows;
  const auto both = std::make_shared<Order>();
  both->keys = {sorted[1], sorted[0]};
  both->order = {{false, false}, {true, false}};
  CHECK(fired(ordered_rows(inner, both)) == std::vector<std::string>{"drop_inner_order"});
  CHECK(found(ordered_rows(inner, both)) == std::vector<int64_t>{3, 2, 1, 0});
  CHECK(fired(ordered_rows(inner, by(sorted[1]))).empty());
  CHECK(values_of(sorted[1]) == std::vector<int64_t>{3, 1, 4, 2});
}

TEST_CASE("operators take filters and orders over") {
  const Column a = column(kValues);
  const std::vector<Column> filtered = gather(engine(), {a}, [&](const RowsRef&) { return above_two(); });
  const Column sum = number_column(graph::map(ScalarOp::add, {filtered[0].values, filtered[0].values}));
  Input input{{filtered[0], sum}};
  REQUIRE(apply(engine(), filter_into_operator(), input));
  CHECK(input.columns[0].values == a.values);
  CHECK(values_of(input.columns[1]) == std::vector<int64_t>{10, 6, 18, 2, 14, 6, 16, 4});
  Input mixed{{filtered[0], column({1, 2, 3, 4, 5, 6})}};
  CHECK_FALSE(apply(engine(), filter_into_operator(), mixed));
  const std::vector<Column> sorted = gather(engine(), filtered, [&](const RowsRef& rows) { return ordered_rows(rows, by(filtered[0])); });
  Input ordered{sorted};
  REQUIRE(apply(engine(), order_into_operator(), ordered));
  CHECK(ordered.by.size() == 1);
  CHECK(values_of(ordered.columns[0]) == std::vector<int64_t>{5, 3, 9, 7, 3, 8});
}

TEST_CASE("a filter of a filter is a mask over all rows") {
  const RowsRef twice = filter_rows(above_two(), flags({1, 0, 0, 1, 0, 1}), numbers({0, 3, 5}));
  Column mask = number_column(mask_of_all(engine(), twice));
  const ColumnData data = read(engine(), mask);
  CHECK(std::vector<bool>(data.as<bool>(), data.as<bool>() + 8) == std::vector<bool>{1, 0, 0, 0, 1, 0, 1, 0});
}

TEST_CASE("columns that nobody reads are made of few nodes") {
  std::vector<Column> columns = {column(kValues)};
  for (int turn = 0; turn < 1000; ++turn) {
    const NodeRef all = numbers({1, 2, 3, 4, 5, 6, 7, 0});
    columns = gather(engine(), columns, [&](const RowsRef& rows) { return take_rows(rows, all, false); });
    REQUIRE(gather_of(columns[0])->rows->depth() < 10);
  }
  CHECK(values_of(columns[0]) == kValues);
}
