// Expressions over arrays that are walked across their memory, as in a transposition, for devices whose threads are many: a unit reads a
// square of such an array along its memory into memory that its threads share, and takes it from there along the rows of the result.
#include <cstdlib>

#include "compiler/plan/extents.h"
#include "compiler/plan/lower.h"

namespace gasell::plan {
namespace {

using ir::Body;
using ir::constant_i64;
using ir::ExprRef;
using ir::LoopKind;

constexpr int64_t kLine = 64;                   // bytes of a cache line
constexpr int64_t kMostSharedBytes = 20 << 10;  // of a unit, so that many units of one multiprocessor wait for memory beside each other

/// Of a row of a square in shared memory: a column's elements lie in different banks.
int64_t pitch_of(int64_t square) { return square + 1; }

}  // namespace

bool crosses_memory(const Shape& space, const Access& access) {
  const size_t rank = space.size();
  if (rank < 2 || space[rank - 2] < 2) return false;
  const int64_t size = gasell::size_of(access.dtype);
  const int64_t down = std::abs(access.coefficients[rank - 2]), along = std::abs(access.coefficients[rank - 1]);
  return down != 0 && along * size >= kLine && down * size < kLine;
}

std::optional<Step> lower_crossing(const Pulled& pulled, const std::vector<Output>& outputs, const std::vector<Access>& results) {
  const Shape& space = pulled.space;
  std::vector<int> crossing;
  int64_t widest = 1, bytes = 0;
  for (size_t a = 0; a < pulled.accesses.size(); ++a) {
    if (!crosses_memory(space, pulled.accesses[a])) continue;
    if (!pulled.accesses[a].source->as<graph::BufferNode>()) continue;
    crossing.push_back(static_cast<int>(a));
    widest = std::max<int64_t>(widest, gasell::size_of(pulled.accesses[a].dtype));
    bytes += gasell::size_of(pulled.accesses[a].dtype);
  }
  // A row of a square is 256 bytes, which each access reads or writes in one piece.
  int64_t square = widest > 4 ? 32 : 64;
  if (bytes * square * pitch_of(square) > kMostSharedBytes) square = 32;
  const int64_t pitch = pitch_of(square);
  const bool results_cross = std::any_of(results.begin(), results.end(), [&](const Access& a) { return crosses_memory(space, a); });
  if (crossing.empty() || results_cross || has_random(pulled) || bytes * square * pitch > kMostSharedBytes) return std::nullopt;

  const int64_t columns = space.back(), rows = graph::size_of(Shape(space.begin(), space.end() - 1));
  const int64_t segments = (columns + square - 1) / square, units = (rows + square - 1) / square * segments;
  KernelBuilder builder("map_across", true);
  StripExpression expression(builder, pulled);
  std::vector<std::string> out_names;
  for (size_t k = 0; k < outputs.size(); ++k) out_names.push_back(builder.output(outputs[k].storage, results[k].dtype, results[k].offset));
  const Positions out_positions(builder, space, results);
  const ExprRef n = builder.scalar("n", columns), row_count = builder.scalar("rows", rows);
  const Extents extents(builder, Shape(space.begin(), space.end() - 1));
  const ExprRef side = constant_i64(square), u = ir::variable(builder.fresh("u"), DType::i64);
  Body unit;
  const Parts of_unit = Divisor(builder, segments, units).divide(unit, u);
  const ExprRef r0 = define(builder, unit, "r", of_unit.quotient * side), c0 = define(builder, unit, "c", of_unit.remainder * side);
  std::vector<std::string> squares;
  for (const int a : crossing) {
    squares.push_back(builder.fresh("square"));
    unit.push_back(ir::local_array(squares.back(), pulled.accesses[static_cast<size_t>(a)].dtype, square * pitch));
  }

  // Two loops over the square, whose inner one the threads walk side by side. What lies outside of the space is read as its last element,
  // so that all of a thread's loads are under way together.
  const auto over = [&](Body& body, const auto& inside) {
    const ExprRef outer = ir::variable(builder.fresh("s"), DType::i64), inner = ir::variable(builder.fresh("t"), DType::i64);
    Body each;
    inside(each, outer, inner);
    body.push_back(ir::loop(outer->name, constant_i64(0), side, LoopKind::team,
                            {ir::loop(inner->name, constant_i64(0), side, LoopKind::simd, std::move(each))}));
  };
  over(unit, [&](Body& body, const ExprRef& column, const ExprRef& row) {
    const ExprRef r = define(builder, body, "r", minimum(r0 + row, row_count - constant_i64(1)));
    expression.begin_row(body, extents.coordinates(body, r));
    expression.begin_strip(body, minimum(c0 + column, n - constant_i64(1)), constant_i64(1));
    for (size_t k = 0; k < crossing.size(); ++k)
      body.push_back(ir::store(squares[k], row * constant_i64(pitch) + column, expression.read(crossing[k], constant_i64(0))));
  });
  over(unit, [&](Body& body, const ExprRef& row, const ExprRef& column) {
    Body there;
    const ExprRef r = define(builder, body, "r", r0 + row), c = define(builder, body, "c", c0 + column);
    const std::vector<ExprRef> outer = extents.coordinates(there, r);
    expression.begin_row(there, outer);
    expression.begin_strip(there, c, constant_i64(1));
    for (size_t k = 0; k < crossing.size(); ++k) expression.read_from(crossing[k], squares[k], row * constant_i64(pitch) + column);
    const std::vector<ExprRef> values = expression.at(there, constant_i64(0));
    for (size_t k = 0; k < out_names.size(); ++k) {
      const int result = static_cast<int>(k);
      there.push_back(ir::store(out_names[k], out_positions.base(result, outer) + c * out_positions.inner_stride(result), values[k]));
    }
    body.push_back(
        ir::if_(ir::op(ScalarOp::logical_and, {ir::op(ScalarOp::lt, {r, row_count}), ir::op(ScalarOp::lt, {c, n})}), std::move(there)));
  });

  Body body{ir::loop(u->name, constant_i64(0), builder.scalar("units", units), LoopKind::unit, std::move(unit))};
  Step step = builder.finish(std::move(body), units);
  const int64_t elements = square * columns;
  std::vector<Walk> walks;
  for (const Access& result : results) walks.push_back(walk_of(space, result, elements));
  describe_walks(step, pulled, segments, elements, walks);
  return step;
}

}  // namespace gasell::plan
