#include <algorithm>
#include <cstdlib>

#include "compiler/ir/tile.h"
#include "compiler/plan/extents.h"
#include "compiler/plan/lower.h"

namespace gasell::plan {
namespace {

using ir::Body;
using ir::ExprRef;

constexpr int64_t kLine = 64;  // bytes of a cache line

/// Elements of a unit of a GPU that reads at indices: what runs together lies close together, and so do in most programs the places that
/// it reads, which then are in the cache. np.take of 10**8 elements at 7919 * i % n on an H200: 2.8 ms, and 3.5 where units have 24,000.
constexpr int64_t kIndexedUnit = 2048;

/// How many elements a thread of a GPU takes: bytes cost as much to load and to store as words do.
constexpr int64_t kBytesAThread = 8, kNarrow = 2;
int64_t elements_a_thread(const Pulled& pulled, const std::vector<Access>& results) {
  int64_t widest = 1;
  for (const std::vector<Access>* accesses : {&pulled.accesses, &results})
    for (const Access& a : *accesses) {
      if (a.coefficients.back() != 1) return 1;
      widest = std::max<int64_t>(widest, gasell::size_of(a.dtype));
    }
  return widest <= kNarrow ? kBytesAThread / widest : 1;
}

bool any_crosses(const Shape& space, const std::vector<Access>& accesses) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access& a) { return crosses_memory(space, a); });
}

}  // namespace

Step lower_elementwise(Pulled pulled, std::vector<Output> outputs, const Grain& grain, const Border* border) {
  std::vector<Access> results;
  for (Output& o : outputs) results.push_back(o.access);
  if (!border) collapse(pulled, results, std::vector<int>(pulled.space.size(), 0));
  if (pulled.space.empty()) {
    pulled.space = {1};
    for (Access& a : pulled.accesses) a.coefficients = {0};
    for (Access& a : results) a.coefficients = {1};
  }

  const size_t rank = pulled.space.size();
  const int64_t columns = pulled.space.back();
  const int64_t rows = graph::size_of(Shape(pulled.space.begin(), pulled.space.end() - 1));
  // Crossing accesses are walked in tiles of few columns and many rows, so that a cache line serves all its rows before it goes.
  const bool tiled = any_crosses(pulled.space, pulled.accesses) || any_crosses(pulled.space, results);
  const bool indexed = std::any_of(pulled.accesses.begin(), pulled.accesses.end(), [](const Access& a) { return a.index >= 0; });
  const int64_t most = indexed && grain.rolled ? kIndexedUnit : 16 * kStrip;
  const int64_t aim = grain.chunk > 0 ? grain.chunk : std::clamp<int64_t>(rows * columns / grain.units, grain.elements, most);
  if (grain.rolled && !indexed)
    if (std::optional<Step> step = !tiled   ? lower_tiles(pulled, outputs, results, grain, border)
                                   : border ? std::nullopt
                                            : lower_crossing(pulled, outputs, results))
      return std::move(*step);
  const int64_t together = grain.rolled && rank == 1 && !indexed && !border && !has_random(pulled) ? elements_a_thread(pulled, results) : 1;
  int64_t segment = std::min({columns, std::max<int64_t>(1, aim), tiled ? kLine / gasell::size_of(results[0].dtype) : columns});
  if (together > 1) segment = (segment + kLine - 1) / kLine * kLine;  // so that all begin at words
  const int64_t segments = (columns + segment - 1) / segment;
  const int64_t rows_a_unit = segments > 1 && !tiled ? 1 : std::clamp<int64_t>(aim / segment, 1, rows);
  const int64_t units = (rows + rows_a_unit - 1) / rows_a_unit * segments;

  KernelBuilder builder("map", grain.rolled);
  const ExprRef n = builder.scalar("n", columns);
  StripExpression expression(builder, pulled);
  std::vector<std::string> out_names;
  for (size_t k = 0; k < outputs.size(); ++k) out_names.push_back(builder.output(outputs[k].storage, results[k].dtype, results[k].offset));
  Positions out_positions(builder, pulled.space, results);

  const ExprRef u = ir::variable(builder.fresh("u"), DType::i64);
  Body unit;
  const ExprRef seg = builder.scalar("seg", segment);
  const Parts of_unit = rank == 1 ? Parts{nullptr, u} : Divisor(builder, segments, units).divide(unit, u);
  const ExprRef c0 = define(builder, unit, "c", of_unit.remainder * seg);
  const ExprRef count = define(builder, unit, "count", minimum(seg, n - c0));
  std::vector<ExprRef> begins, ends;  // of what is inside of the border
  if (border) {
    for (size_t k = 0; k < rank; ++k) {
      begins.push_back(builder.scalar("inner", border->begin[k]));
      ends.push_back(builder.scalar("outer", border->end[k]));
    }
  }

  // Which of the two loops over strips of random numbers is worth sharing out.
  const bool long_rows = rank == 1 || segment > rows_a_unit * kStrip;

  // The innermost loop, of a row whose coordinates are bound.
  const auto place = [&](size_t k, const std::vector<ExprRef>& out_bases, const ExprRef& column) {
    return out_bases[k] + column * out_positions.inner_stride(static_cast<int>(k));
  };
  auto strip_loop = [&](Body& body, const std::vector<ExprRef>& out_bases, const ExprRef& first, const ExprRef& length) {
    expression.begin_strip(body, first, length);
    const ExprRef j = ir::variable(builder.fresh("j"), DType::i64);
    Body inner;
    const std::vector<ExprRef> values = expression.at(inner, j);
    for (size_t k = 0; k < out_names.size(); ++k) inner.push_back(ir::store(out_names[k], place(k, out_bases, first + j), values[k]));
    const ExprRef zero = ir::constant_i64(0);
    if (together > 1) {
      const ExprRef t = ir::variable(builder.fresh("t"), DType::i64), at = ir::variable(builder.fresh("at"), DType::i64),
                    several = ir::constant_i64(together);
      if (const auto run = ir::make_run(inner, j->name, at, together, [](const std::string&) { return true; })) {
        const ExprRef times = define(builder, body, "times", length / several), rest = define(builder, body, "rest", times * several);
        Body thread{ir::let(at->name, t * several)};
        thread.insert(thread.end(), run->begin(), run->end());
        body.push_back(ir::loop(t->name, zero, times, ir::LoopKind::simd, std::move(thread)));
        const ExprRef l = ir::variable(builder.fresh("l"), DType::i64);
        Body one{ir::let(j->name, rest + l), ir::if_(ir::op(ScalarOp::lt, {j, length}), std::move(inner))};
        return body.push_back(ir::loop(l->name, zero, several, ir::LoopKind::simd, std::move(one)));
      }
    }
    body.push_back(ir::loop(j->name, zero, length, ir::LoopKind::simd, std::move(inner)));
  };
  // Columns [first, first + length) of the border.
  auto fill_loop = [&](Body& body, const std::vector<ExprRef>& out_bases, const ExprRef& value, const ExprRef& first,
                       const ExprRef& length) {
    const ExprRef j = ir::variable(builder.fresh("j"), DType::i64);
    Body inner;
    for (size_t k = 0; k < out_names.size(); ++k) inner.push_back(ir::store(out_names[k], place(k, out_bases, first + j), value));
    body.push_back(ir::loop(j->name, ir::constant_i64(0), length, ir::LoopKind::simd, std::move(inner)));
  };
  const auto within = [&](const ExprRef& at, size_t axis) {
    return ir::op(ScalarOp::logical_and, {ir::op(ScalarOp::ge, {at, begins[axis]}), ir::op(ScalarOp::lt, {at, ends[axis]})});
  };
  // Threads that walk along a row together each see for themselves what is inside.
  auto branching_row = [&](Body& body, const std::vector<ExprRef>& outer, const std::vector<ExprRef>& out_bases) {
    expression.begin_strip(body, c0, count);
    const ExprRef value = builder.scalar("border", border->value), j = ir::variable(builder.fresh("j"), DType::i64);
    Body inner, there;
    ExprRef inside = within(c0 + j, rank - 1);
    for (size_t k = 0; k < outer.size(); ++k) inside = ir::op(ScalarOp::logical_and, {inside, within(outer[k], k)});
    const std::string result = builder.fresh("v");
    inner.push_back(ir::var(result, value));
    const std::vector<ExprRef> values = expression.at(there, j);
    there.push_back(ir::assign(result, values[0]));
    inner.push_back(ir::if_(inside, std::move(there)));
    inner.push_back(ir::store(out_names[0], place(0, out_bases, c0 + j), ir::variable(result, results[0].dtype)));
    body.push_back(ir::loop(j->name, ir::constant_i64(0), count, ir::LoopKind::simd, std::move(inner)));
  };
  // A row of the border has all its columns left of what is inside.
  auto bordered_row = [&](Body& body, const std::vector<ExprRef>& outer, const std::vector<ExprRef>& out_bases) {
    const ExprRef end = define(builder, body, "stop", c0 + count), value = builder.scalar("border", border->value);
    ExprRef from = ir::op(ScalarOp::max, {begins.back(), c0});
    for (size_t k = 0; k < outer.size(); ++k) {
      from = ir::op(ScalarOp::select, {within(outer[k], k), from, end});
    }
    const ExprRef left = define(builder, body, "left", minimum(from, end));
    const ExprRef right = define(builder, body, "right", ir::op(ScalarOp::max, {left, minimum(ends.back(), end)}));
    fill_loop(body, out_bases, value, c0, define(builder, body, "len", left - c0));
    strip_loop(body, out_bases, left, define(builder, body, "len", right - left));
    fill_loop(body, out_bases, value, right, define(builder, body, "len", end - right));
  };
  auto row_body = [&](Body& body, const std::vector<ExprRef>& outer) {
    expression.begin_row(body, outer);
    std::vector<ExprRef> out_bases;
    for (size_t k = 0; k < out_names.size(); ++k)
      out_bases.push_back(define(builder, body, "to", out_positions.base(static_cast<int>(k), outer)));
    if (border) return grain.rolled ? branching_row(body, outer, out_bases) : bordered_row(body, outer, out_bases);
    if (!has_random(pulled)) return strip_loop(body, out_bases, c0, count);
    const ExprRef q = ir::variable(builder.fresh("q"), DType::i64);
    Body strip;
    expression.declare(strip);
    const ExprRef done = define(builder, strip, "done", q * ir::constant_i64(kStrip));
    const ExprRef length = define(builder, strip, "len", minimum(ir::constant_i64(kStrip), count - done));
    strip_loop(strip, out_bases, define(builder, strip, "first", c0 + done), length);
    const ExprRef strips = (count + ir::constant_i64(kStrip - 1)) / ir::constant_i64(kStrip);
    body.push_back(ir::loop(q->name, ir::constant_i64(0), define(builder, body, "strips", strips),
                            long_rows ? ir::LoopKind::team : ir::LoopKind::serial, std::move(strip)));
  };

  if (rank == 1) {
    row_body(unit, {});
  } else {
    const ExprRef rpu = builder.scalar("rpu", rows_a_unit), row_count = builder.scalar("rows", rows);
    const Extents extents(builder, Shape(pulled.space.begin(), pulled.space.end() - 1));
    const ExprRef r0 = define(builder, unit, "r", of_unit.quotient * rpu);
    const ExprRef r1 = define(builder, unit, "r", minimum(r0 + rpu, row_count));
    const ExprRef r = ir::variable(builder.fresh("r"), DType::i64);
    Body row;
    row_body(row, extents.coordinates(row, r));
    unit.push_back(ir::loop(r->name, r0, r1, has_random(pulled) && long_rows ? ir::LoopKind::serial : ir::LoopKind::team, std::move(row)));
  }

  const ExprRef unit_count = builder.scalar("units", units);
  Body body{ir::loop(u->name, ir::constant_i64(0), unit_count, ir::LoopKind::unit, std::move(unit))};
  Step step = builder.finish(std::move(body), units);
  const int64_t elements = rows_a_unit * (rank == 1 ? segment : columns);
  std::vector<Walk> walks;
  for (const Access& result : results) walks.push_back(walk_of(pulled.space, result, elements));
  describe_walks(step, pulled, rank == 1 ? 1 : segments, elements, walks);
  return step;
}

}  // namespace gasell::plan
