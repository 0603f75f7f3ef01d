// Tiles read what their iterations share once, and keep what the next tile reads again.
#include "compiler/ir/tile.h"

#include "catch.h"
#include "compiler/graph/node.h"
#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"
#include "compiler/plan/plan.h"

using namespace gasell;
using namespace gasell::ir;

namespace {

const auto kAll = [](const std::string&) { return true; };
ExprRef i64(const char* name) { return variable(name, DType::i64); }
ExprRef x_at(ExprRef index) { return load("x", DType::f64, std::move(index)); }
TileShape shape(int64_t rows, int64_t columns) { return {"i", "j", i64("r"), i64("c"), i64("next"), rows, columns}; }

/// y[i, j] = x[i - 1, j] + x[i + 1, j + shift], rows of n.
Body differences(int64_t shift) {
  const ExprRef above = (i64("i") - constant_i64(1)) * i64("n") + i64("j"),
                below = (i64("i") + constant_i64(1)) * i64("n") + i64("j") + constant_i64(shift);
  return {let("a", x_at(above)), let("b", x_at(below)),
          store("y", i64("i") * i64("n") + i64("j"), op(ScalarOp::add, {variable("a", DType::f64), variable("b", DType::f64)}))};
}

}  // namespace

TEST_CASE("a tile keeps what the one below it reads again") {
  const Tile tile = make_tile(differences(0), shape(2, 1));
  CHECK(tile.loads == 2);
  CHECK(tile.kept == 2);
  CHECK(tile.loads_apart == 4);
  CHECK(tile.first.size() == 5);  // where it goes on, where the two rows above begin, and what is kept of them
  CHECK(tile.next.size() == 3);
  CHECK(measure_tile(differences(0), shape(1, 1), kAll)->kept == 0);  // the row between is not read
  CHECK(measure_tile(differences(0), shape(4, 1), kAll)->kept == 2);
  CHECK(measure_tile(differences(1), shape(2, 1), kAll)->kept == 0);
  CHECK(measure_tile(differences(1), shape(2, 4), kAll)->kept == 6);  // columns 1, 2 and 3 of two rows
}

TEST_CASE("a tile asks for each row that the tile below it reads") {
  TileShape asking = shape(2, 4);
  const auto prefetched = [](const Tile& tile) {
    std::vector<std::string> places;
    for (const StmtRef& s : tile.body)
      if (s->kind == StmtKind::prefetch) places.push_back(print_head(*s));
    return places;
  };
  CHECK(prefetched(make_tile(differences(1), asking)).empty());
  asking.prefetches = true;
  // Two new rows, and of those above, which are kept but for their first column, these.
  const Tile tile = make_tile(differences(1), asking);
  const std::vector<std::string> places = prefetched(tile);
  CHECK(places.size() == 4);
  for (const std::string& place : places) CHECK(place.starts_with("prefetch x["));
}

TEST_CASE("what lies beside each other in a tile is read and written one after the other") {
  const Tile tile = make_tile(differences(1), shape(2, 4));
  std::vector<std::string> stored;
  int64_t last_read = -1;
  size_t apart = 0;
  for (const StmtRef& s : tile.body) {
    if (s->kind == StmtKind::store) stored.push_back(print(s->index));
    if (s->kind != StmtKind::let || s->value->kind != ExprKind::load) continue;
    const ExprRef& index = s->value->args[0];
    const int64_t distance = index->kind == ExprKind::op && index->op == ScalarOp::add ? index->args[1]->value.i : 0;
    apart += distance != last_read + 1;
    last_read = distance;
  }
  CHECK(apart <= 2);  // a row of four begins
  CHECK(stored.size() == 8);
  CHECK(stored[1] == "(" + stored[0] + " + 1)");
  CHECK(stored[3] == "(" + stored[0] + " + 3)");
  CHECK(has_tiles({while_(constant(Scalar::of_bool(true)), {let("r", i64("next")), assign("next", i64("r") + constant_i64(4))})}));
  CHECK_FALSE(has_tiles(tile.body));
  // A tree of a reduction.
  const ExprRef halved = op(ScalarOp::shr, {i64("w"), constant_i64(1)});
  CHECK_FALSE(has_tiles({while_(constant(Scalar::of_bool(true)), {let("w", i64("half")), assign("half", halved)})}));
}

TEST_CASE("bodies with other statements or indices, and arrays that are written, make no tiles") {
  Body body = differences(0);
  CHECK_FALSE(measure_tile(body, shape(2, 1), [](const std::string&) { return false; }));
  body.push_back(store("x", i64("i"), constant(Scalar::of_float(0, DType::f64))));
  CHECK_FALSE(measure_tile(body, shape(2, 1), kAll));
  CHECK_FALSE(
      measure_tile({let("a", x_at(i64("i") / constant_i64(2))), store("y", i64("i"), variable("a", DType::f64))}, shape(2, 1), kAll));
  CHECK_FALSE(measure_tile({let("a", x_at(i64("i") * i64("i"))), store("y", i64("i"), variable("a", DType::f64))}, shape(2, 1), kAll));
  CHECK_FALSE(measure_tile({if_(constant(Scalar::of_bool(true)), differences(0))}, shape(2, 1), kAll));
}

TEST_CASE("plans for GPUs take neighbours in tiles, others not") {
  using namespace gasell::graph;
  plan::PlanOptions options;
  options.grain.rolled = true;
  const auto kernel_of = [&](const NodeRef& root) { return print(*plan::make_plan({root}, options).steps.at(0).kernel); };
  const NodeRef x = buffer(std::make_shared<Storage>(), DType::f64, {300, 400}, {400, 1}, 0);
  const auto rows = [&](int64_t begin) { return view(x, {298, 399}, {{0, begin, 1}, {1, 0, 1}}); };
  const auto columns = [&](int64_t begin) { return view(x, {300, 398}, {{0, 0, 1}, {1, begin, 1}}); };
  CHECK(kernel_of(map(ScalarOp::sub, {rows(2), rows(0)})).find("kept") != std::string::npos);
  CHECK(kernel_of(map(ScalarOp::sub, {columns(2), columns(0)})).find("kept") == std::string::npos);
  CHECK(kernel_of(map(ScalarOp::mul, {x, x})).find("kept") == std::string::npos);
  // One text for all sizes, so that one compilation serves them.
  const auto of_size = [&](int64_t n, int64_t m) {
    const NodeRef a = buffer(std::make_shared<Storage>(), DType::f64, {n, m}, {m, 1}, 0);
    const auto part = [&](int64_t begin) { return view(a, {n - 2, m - 1}, {{0, begin, 1}, {1, 0, 1}}); };
    return kernel_of(map(ScalarOp::sub, {part(2), part(0)}));
  };
  CHECK(of_size(3000, 4000) == of_size(5000, 9000));
}
