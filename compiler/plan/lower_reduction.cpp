// Reductions. The reduced elements of an output, in C order, are cut into blocks of kStrip; a block is summed in kLanes accumulators, lane
// l taking the elements l, l + kLanes, …, and the lanes in a halving tree; blocks of a group, and groups, again in halving trees. Nothing
// of this depends on chunks, threads or devices. A rounding error grows like in pairwise summation: 16 + log2(n / 16) additions deep.
//
// Where the last axis is kept (x.sum(axis=0)) the accumulators are columns instead, and a block is kColumnBlock rows.
#include <algorithm>

#include "compiler/plan/lower.h"
#include "compiler/plan/reducer.h"

namespace gasell::plan {
namespace {

using ir::Body;
using ir::ExprRef;

constexpr int64_t kGroup = 64;           // blocks a work unit, and partial states a combining step
constexpr int64_t kColumns = 8192;       // columns a work unit, at most
constexpr int64_t kFewestColumns = 512;  // and at least, where there are so many
constexpr int64_t kUnitsWanted = 16;
constexpr int64_t kColumnBlock = 16;     // rows a block of columns
constexpr int64_t kColumnBlocks = 64;    // such blocks a work unit
constexpr int64_t kRowsTogether = 4;     // rows that a cheap expression is evaluated for at a time
constexpr double kCheap = 4;             // operations
constexpr int64_t kShortReduction = 32;  // fewer elements an output than this go by columns

ExprRef i64(int64_t v) { return ir::constant_i64(v); }
ExprRef ceil_div(const ExprRef& a, int64_t b) { return (a + i64(b - 1)) / i64(b); }

/// Arrays that hold one state an element: locals of a kernel, or partial results in memory.
struct StateArrays {
  std::vector<std::string> names;
  std::vector<DType> types;

  State read(const ExprRef& at) const {
    State state;
    for (size_t c = 0; c < names.size(); ++c) state.push_back(ir::load(names[c], types[c], at));
    return state;
  }
  void write(Body& body, const ExprRef& at, const State& state) const {
    for (size_t c = 0; c < names.size(); ++c) body.push_back(ir::store(names[c], at, state[c]));
  }
};

/// An element and its number among the reduced.
struct Indexed {
  ExprRef value, index;
};

class ReductionLowering {
 public:
  ReductionLowering(const Reducer& reducer, graph::ReduceOp op)
      : builder(std::string("reduce_") + std::string(graph::name_of(op))), reducer(reducer) {}

  KernelBuilder builder;
  const Reducer& reducer;

  ExprRef let(Body& body, const char* stem, ExprRef value) { return define(builder, body, stem, std::move(value)); }
  State let(Body& body, const State& state) {
    State bound;
    for (const ExprRef& e : state) bound.push_back(let(body, "st", e));
    return bound;
  }
  ExprRef loop_variable(const char* stem) { return ir::variable(builder.fresh(stem), DType::i64); }

  StateArrays locals(Body& body, const char* stem, int64_t size) { return locals(body, stem, size, reducer.components()); }
  StateArrays locals(Body& body, const char* stem, int64_t size, std::vector<DType> types) {
    StateArrays arrays{{}, std::move(types)};
    for (DType type : arrays.types) {
      arrays.names.push_back(builder.fresh(stem));
      body.push_back(ir::local_array(arrays.names.back(), type, size));
    }
    return arrays;
  }

  template <class By>
  void fill_identity(Body& body, const By& by, const StateArrays& arrays, const ExprRef& count) {
    const ExprRef l = loop_variable("l");
    Body inner;
    arrays.write(inner, l, by.identity());
    body.push_back(ir::loop(l->name, i64(0), count, ir::LoopKind::simd, std::move(inner)));
  }

  /// into[to] = merge(into[to], state), everything bound first.
  template <class By>
  void merge_into(Body& body, const By& by, const StateArrays& into, const ExprRef& to, const State& state) {
    const State bound = let(body, state);
    const State current = let(body, into.read(to));
    into.write(body, to, let(body, by.merge(current, bound)));
  }

  /// The states 0 … count - 1 (count ≤ size, a power of two) of an array, merged into the first by halving: element l takes l + width.
  template <class By>
  void halving_tree(Body& body, const By& by, const StateArrays& arrays, const ExprRef& count, int64_t size) {
    const std::string name = builder.fresh("half");
    const ExprRef half = ir::variable(name, DType::i64), l = loop_variable("l");
    body.push_back(ir::var(name, i64(size / 2)));
    Body level, inner;
    const ExprRef width = ir::variable(builder.fresh("width"), DType::i64);
    level.push_back(ir::let(width->name, half));
    merge_into(inner, by, arrays, l, arrays.read(l + width));
    const ExprRef end = let(level, "w", minimum(width, ir::op(ScalarOp::max, {count - width, i64(0)})));
    level.push_back(ir::loop(l->name, i64(0), end, ir::LoopKind::serial, std::move(inner)));
    level.push_back(ir::assign(name, ir::op(ScalarOp::shr, {width, i64(1)})));
    body.push_back(ir::while_(ir::op(ScalarOp::gt, {half, i64(0)}), std::move(level)));
  }

  /// The same tree over all kLanes lanes: whole vectors first, then their elements.
  template <class By>
  void lane_tree(Body& body, const By& by, const StateArrays& lanes) {
    constexpr int64_t kVector = 8;
    for (int64_t width = kLanes / 2; width >= kVector; width /= 2) {
      const ExprRef l = loop_variable("l");
      Body inner;
      merge_into(inner, by, lanes, l, lanes.read(l + i64(width)));
      body.push_back(ir::loop(l->name, i64(0), i64(width), ir::LoopKind::simd, std::move(inner)));
    }
    std::vector<State> states;
    for (int64_t k = 0; k < kVector; ++k) states.push_back(let(body, lanes.read(i64(k))));
    for (size_t width = kVector / 2; width >= 1; width /= 2)
      for (size_t k = 0; k < width; ++k) states[k] = let(body, by.merge(states[k], states[k + width]));
    lanes.write(body, i64(0), states[0]);
  }

  /// Elements 0 … count - 1 of a block into lanes; lane_tree brings them into one state at lanes[0]. `element(body, i)` gives element i
  /// as a value and its index.
  template <class By, class Element>
  void fill_lanes(Body& body, const By& by, const StateArrays& lanes, const ExprRef& count, Element element) {
    const ExprRef whole = let(body, "whole", count / i64(kLanes));
    auto row = [&](Body& into, const ExprRef& first, const ExprRef& width, bool lanes_are_full) {
      const ExprRef l = loop_variable("l");
      Body inner;
      const auto [x, index] = element(inner, first + l);
      if (lanes_are_full) {
        const State current = let(inner, lanes.read(l));
        lanes.write(inner, l, let(inner, by.accumulate(current, x, index)));
      } else {
        merge_into(inner, by, lanes, l, by.single(x, index));
      }
      into.push_back(ir::loop(l->name, i64(0), width, ir::LoopKind::simd, std::move(inner)));
    };
    auto rows = [&](Body& into, const ExprRef& from, bool lanes_are_full) {
      const ExprRef k = loop_variable("k");
      Body each;
      row(each, let(each, "first", k * i64(kLanes)), i64(kLanes), lanes_are_full);
      into.push_back(ir::loop(k->name, from, whole, ir::LoopKind::serial, std::move(each)));
    };
    if (by.accumulates()) {
      // The first row fills the lanes, so that the others need not ask whether they are empty.
      const ExprRef l = loop_variable("l");
      Body full, fill;
      const auto [x, index] = element(fill, l);
      lanes.write(fill, l, let(fill, by.single(x, index)));
      full.push_back(ir::loop(l->name, i64(0), i64(kLanes), ir::LoopKind::simd, std::move(fill)));
      rows(full, i64(1), true);
      Body empty;
      fill_identity(empty, by, lanes, i64(kLanes));
      body.push_back(ir::if_(ir::op(ScalarOp::gt, {whole, i64(0)}), std::move(full), std::move(empty)));
    } else {
      fill_identity(body, by, lanes, i64(kLanes));
      rows(body, i64(0), false);
    }
    const ExprRef rest = let(body, "rest", whole * i64(kLanes));
    row(body, rest, let(body, "left", count - rest), false);
  }
};

/// The reduced elements lie along the innermost axes. Units are outputs × groups of blocks.
class FlatReduction : ReductionLowering {
 public:
  FlatReduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept, int64_t chunk)
      : ReductionLowering(reducer, op), pulled_(pulled), kept_(kept) {
    const Shape& space = pulled.space;
    outputs_ = graph::size_of(Shape(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(kept)));
    total_ = graph::size_of(Shape(space.begin() + static_cast<std::ptrdiff_t>(kept), space.end()));
    groups_ = (total_ + kStrip * kGroup - 1) / (kStrip * kGroup);
    const int64_t aim = chunk > 0 ? chunk : kStrip * kGroup;
    outputs_a_unit_ = groups_ > 1 ? 1 : std::clamp<int64_t>(aim / std::max<int64_t>(1, total_), 1, std::max<int64_t>(1, outputs_));
  }

  int64_t groups() const { return groups_; }

  /// `to`: the output's name, access and finishing, or with several groups the partial arrays [output, group].
  Step lower(const Access& result, const std::vector<StorageRef>& storages, DType result_type, int64_t ddof) {
    const bool partial = groups_ > 1;
    const ExprRef n = builder.scalar("n", pulled_.space.back());
    const ExprRef total = builder.scalar("total", total_), outputs = builder.scalar("outputs", outputs_),
                  groups = builder.scalar("groups", groups_);
    StripExpression expression(builder, pulled_);
    Access out_access = result;
    StateArrays out{{}, {}};
    for (size_t c = 0; c < storages.size(); ++c) {
      out.types.push_back(partial ? reducer.components()[c] : result_type);
      out.names.push_back(builder.output(storages[c], out.types.back(), partial ? 0 : result.offset));
    }
    out_access.coefficients.push_back(0);  // the innermost axis, which a reduction has not
    Shape out_space(pulled_.space.begin(), pulled_.space.begin() + static_cast<std::ptrdiff_t>(kept_));
    out_space.push_back(1);
    Positions out_positions(builder, out_space, {out_access});
    std::vector<ExprRef> kept_extents, row_extents;
    for (size_t k = 0; k < kept_; ++k) kept_extents.push_back(k == 0 ? nullptr : builder.scalar("e", pulled_.space[k]));
    for (size_t k = kept_; k + 1 < pulled_.space.size(); ++k)
      row_extents.push_back(k == kept_ ? nullptr : builder.scalar("e", pulled_.space[k]));

    const ExprRef u = loop_variable("u"), o = loop_variable("o");
    Body unit;
    expression.declare(unit);
    strip_ = builder.fresh("x");
    unit.push_back(ir::local_array(strip_, pulled_.values[pulled_.roots[0]].dtype, kStrip));
    const StateArrays lanes = locals(unit, "lane", kLanes), blocks = locals(unit, "block", kGroup);
    const ExprRef opu = builder.scalar("opu", outputs_a_unit_);
    const ExprRef group = let(unit, "group", u % groups);
    const ExprRef o0 = let(unit, "o", (u / groups) * opu), o1 = let(unit, "o", minimum(o0 + opu, outputs));
    const ExprRef group_first = let(unit, "first", group * i64(kStrip * kGroup));
    const ExprRef group_last = let(unit, "last", minimum(group_first + i64(kStrip * kGroup), total));
    const ExprRef block_count = let(unit, "blocks", ceil_div(group_last - group_first, kStrip));

    Body output;
    const std::vector<ExprRef> kept = coordinates(builder, output, o, kept_extents);
    const ExprRef b = loop_variable("b");
    Body block;
    const ExprRef first = let(block, "first", group_first + b * i64(kStrip));
    const ExprRef count = let(block, "count", minimum(i64(kStrip), group_last - first));
    reduce_block(block, expression, kept, row_extents, n, lanes, blocks, b, first, count);
    output.push_back(ir::loop(b->name, i64(0), block_count, ir::LoopKind::serial, std::move(block)));
    halving_tree(output, reducer, blocks, block_count, kGroup);
    const State state = let(output, blocks.read(i64(0)));
    if (partial) {
      out.write(output, let(output, "at", o * groups + group), state);
    } else {
      out.write(output, out_positions.base(0, kept), {reducer.finish(state, ir::cast(total, DType::f64), ddof, result_type)});
    }
    unit.push_back(ir::loop(o->name, o0, o1, ir::LoopKind::serial, std::move(output)));
    const int64_t units = (outputs_ + outputs_a_unit_ - 1) / outputs_a_unit_ * groups_;
    Body body{ir::loop(u->name, i64(0), builder.scalar("units", units), ir::LoopKind::unit, std::move(unit))};
    return builder.finish(std::move(body), units);
  }

 private:
  /// One block. Where its elements lie in one row they go straight into the lanes; where it crosses rows, through the strip.
  void reduce_block(Body& body, StripExpression& expression, const std::vector<ExprRef>& kept, const std::vector<ExprRef>& row_extents,
                    const ExprRef& n, const StateArrays& lanes, const StateArrays& blocks, const ExprRef& b, const ExprRef& first,
                    const ExprRef& count) {
    auto direct = [&](Body& into, const std::vector<ExprRef>& coordinates, const ExprRef& column) {
      expression.begin_row(into, coordinates);
      expression.begin_strip(into, column, count);
      reduce_elements(into, lanes, first, count, [&](Body& at, const ExprRef& i) { return expression.at(at, i)[0]; });
    };
    auto staged = [&](Body& into) {
      stage(into, expression, kept, row_extents, n, first, count);
      const DType type = pulled_.values[pulled_.roots[0]].dtype;
      reduce_elements(into, lanes, first, count, [&](Body&, const ExprRef& i) { return ir::load(strip_, type, i); });
    };
    if (row_extents.empty()) {
      direct(body, kept, first);
    } else {
      const ExprRef row = let(body, "row", first / n), column = let(body, "column", first - row * n);
      Body whole, parts;
      std::vector<ExprRef> all = kept;
      for (const ExprRef& c : coordinates(builder, whole, row, row_extents)) all.push_back(c);
      direct(whole, all, column);
      staged(parts);
      body.push_back(ir::if_(ir::op(ScalarOp::le, {column + count, n}), std::move(whole), std::move(parts)));
    }
    if (!reducer.is_var()) lane_tree(body, reducer, lanes);
    blocks.write(body, b, let(body, lanes.read(i64(0))));
  }

  /// Elements [first, first + count) of the flattened reduced axes into the strip, row by row.
  void stage(Body& body, StripExpression& expression, const std::vector<ExprRef>& kept, const std::vector<ExprRef>& row_extents,
             const ExprRef& n, const ExprRef& first, const ExprRef& count) {
    const std::string done = builder.fresh("done");
    const ExprRef done_ref = ir::variable(done, DType::i64);
    body.push_back(ir::var(done, i64(0)));
    Body step;
    const std::string to_name = builder.fresh("to");
    step.push_back(ir::let(to_name, done_ref));
    const ExprRef to = ir::variable(to_name, DType::i64);
    const ExprRef position = let(step, "position", first + to);
    const ExprRef row = let(step, "row", position / n);
    const ExprRef column = let(step, "column", position - row * n);
    const ExprRef length = let(step, "length", minimum(n - column, count - to));
    std::vector<ExprRef> all = kept;
    for (const ExprRef& c : coordinates(builder, step, row, row_extents)) all.push_back(c);
    stage_piece(step, expression, all, column, length, to);
    step.push_back(ir::assign(done, to + length));
    body.push_back(ir::while_(ir::op(ScalarOp::lt, {done_ref, count}), std::move(step)));
  }

  void stage_piece(Body& body, StripExpression& expression, const std::vector<ExprRef>& coordinates, const ExprRef& column,
                   const ExprRef& length, const ExprRef& to) {
    expression.begin_row(body, coordinates);
    expression.begin_strip(body, column, length);
    const ExprRef j = loop_variable("j");
    Body inner;
    const ExprRef value = expression.at(inner, j)[0];
    inner.push_back(ir::store(strip_, to + j, value));
    body.push_back(ir::loop(j->name, i64(0), length, ir::LoopKind::simd, std::move(inner)));
  }

  /// The elements into the lanes; of var into one state at lanes[0]. `element(body, i)` is element first + i.
  template <class Element>
  void reduce_elements(Body& body, const StateArrays& lanes, const ExprRef& first, const ExprRef& count, Element element) {
    if (!reducer.is_var())
      return fill_lanes(body, reducer, lanes, count,
                        [&](Body& into, const ExprRef& i) { return Indexed{let(into, "x", element(into, i)), first + i}; });
    // The shift: the mean of the first row of lanes; with no more elements than that, the two steps are NumPy's.
    const DType mean_type = reducer.components()[1];
    const Reducer sum(graph::ReduceOp::sum, mean_type);
    DeviationSums sums(mean_type);
    const StateArrays first_row{{lanes.names[1]}, {mean_type}}, deviations{{lanes.names[2], lanes.names[3]}, sums.components()};
    const ExprRef width = let(body, "width", minimum(count, i64(kLanes))), l = loop_variable("l");
    fill_identity(body, sum, first_row, i64(kLanes));
    Body copy;
    first_row.write(copy, l, {ir::cast(element(copy, l), mean_type)});
    body.push_back(ir::loop(l->name, i64(0), width, ir::LoopKind::simd, std::move(copy)));
    lane_tree(body, sum, first_row);
    const ExprRef shift = let(body, "shift", ir::op(ScalarOp::div, {first_row.read(i64(0))[0], ir::cast(width, mean_type)}));
    sums.set_shift(shift);
    fill_lanes(body, sums, deviations, count, [&](Body& into, const ExprRef& i) { return Indexed{let(into, "x", element(into, i)), i}; });
    lane_tree(body, sums, deviations);
    const State gathered = let(body, deviations.read(i64(0)));
    const ExprRef count_f64 = let(body, "cf", ir::cast(count, DType::f64));
    const State closed = let(body, sums.close(gathered, count_f64));
    const ExprRef short_block = let(body, "short", ir::op(ScalarOp::le, {count, i64(kLanes)}));
    const StateArrays state{lanes.names, reducer.components()};
    auto unless_short = [&](const ExprRef& value, const ExprRef& exact) { return ir::op(ScalarOp::select, {short_block, exact, value}); };
    const ExprRef zero = ir::cast(ir::constant_i64(0), mean_type);
    state.write(body, i64(0), {count_f64, shift, unless_short(closed[2], zero), unless_short(closed[3], gathered[1])});
  }

  const Pulled& pulled_;
  size_t kept_;
  int64_t outputs_, total_, groups_, outputs_a_unit_;
  std::string strip_;
};

/// The innermost axis is kept: columns side by side, rows reduced. Axes: outer kept, reduced, columns.
class ColumnReduction : ReductionLowering {
 public:
  ColumnReduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept)
      : ReductionLowering(reducer, op), pulled_(pulled), kept_(kept) {
    const Shape& space = pulled.space;
    outer_ = graph::size_of(Shape(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(kept)));
    rows_ = graph::size_of(Shape(space.begin() + static_cast<std::ptrdiff_t>(kept), space.end() - 1));
    columns_ = space.back();
    groups_ = (rows_ + kColumnBlock * kColumnBlocks - 1) / (kColumnBlock * kColumnBlocks);
    // Wide segments read memory in long runs; narrower ones only where there would be too few units for the cores.
    segment_ = std::clamp(columns_ * outer_ * groups_ / kUnitsWanted, kFewestColumns, kColumns);
  }

  int64_t groups() const { return groups_; }

  Step lower(const Access& result, const std::vector<StorageRef>& storages, DType result_type, int64_t ddof) {
    const bool partial = groups_ > 1;
    const Shape& space = pulled_.space;
    const int64_t segments = (columns_ + segment_ - 1) / segment_;
    const ExprRef n = builder.scalar("n", columns_), rows = builder.scalar("rows", rows_), groups = builder.scalar("groups", groups_);
    StripExpression expression(builder, pulled_);
    StateArrays out{{}, {}};
    for (size_t c = 0; c < storages.size(); ++c) {
      out.types.push_back(partial ? reducer.components()[c] : result_type);
      out.names.push_back(builder.output(storages[c], out.types.back(), partial ? 0 : result.offset));
    }
    Shape out_space(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(kept_));
    out_space.push_back(columns_);
    Positions out_positions(builder, out_space, {result});
    std::vector<ExprRef> kept_extents, row_extents;
    for (size_t k = 0; k < kept_; ++k) kept_extents.push_back(k == 0 ? nullptr : builder.scalar("e", space[k]));
    for (size_t k = kept_; k + 1 < space.size(); ++k) row_extents.push_back(k == kept_ ? nullptr : builder.scalar("e", space[k]));

    const ExprRef u = loop_variable("u");
    Body unit;
    expression.declare(unit);
    const StateArrays total = locals(unit, "total", kColumns);
    const ExprRef segs = builder.scalar("segs", segments);
    const ExprRef segment = let(unit, "segment", u % segs), rest = let(unit, "rest", u / segs);
    const ExprRef group = let(unit, "group", rest % groups), o = let(unit, "o", rest / groups);
    const ExprRef width = builder.scalar("width", segment_);
    const ExprRef c0 = let(unit, "c", segment * width), count = let(unit, "count", minimum(width, n - c0));
    const ExprRef r0 = let(unit, "r", group * i64(kColumnBlock * kColumnBlocks));
    const ExprRef r1 = let(unit, "r", minimum(r0 + i64(kColumnBlock * kColumnBlocks), rows));
    const std::vector<ExprRef> kept = coordinates(builder, unit, o, kept_extents);
    fill_identity(unit, reducer, total, count);

    const ExprRef b = loop_variable("b"), m = loop_variable("j");
    Body per_block, merge;
    const ExprRef b0 = let(per_block, "b", r0 + b * i64(kColumnBlock)), b1 = let(per_block, "b", minimum(b0 + i64(kColumnBlock), r1));
    // Calls each(body, column, the values and numbers of `height` rows there) for rows `first` and on, `times` times.
    auto rows_loop = [&](const ExprRef& first, const ExprRef& times, int64_t height, auto&& each) {
      const ExprRef t = loop_variable("t"), j = loop_variable("j");
      Body row, inner;
      std::vector<StripExpression> expressions(static_cast<size_t>(height), expression);
      std::vector<ExprRef> numbers;
      for (int64_t h = 0; h < height; ++h) {
        numbers.push_back(let(row, "r", first + t * i64(height) + i64(h)));
        std::vector<ExprRef> all = kept;
        for (const ExprRef& c : coordinates(builder, row, numbers.back(), row_extents)) all.push_back(c);
        expressions[static_cast<size_t>(h)].begin_row(row, all);
        expressions[static_cast<size_t>(h)].begin_strip(row, c0, count);
      }
      std::vector<Indexed> column;
      for (size_t h = 0; h < expressions.size(); ++h) column.push_back({let(inner, "x", expressions[h].at(inner, j)[0]), numbers[h]});
      each(inner, j, column);
      row.push_back(ir::loop(j->name, i64(0), count, ir::LoopKind::simd, std::move(inner)));
      per_block.push_back(ir::loop(t->name, i64(0), times, ir::LoopKind::serial, std::move(row)));
    };
    // The block's rows, several at a time: their elements pass through the columns' states in order, which are read and written once for
    // all of them. `by(body, column)` is what gathers.
    auto gather = [&](const StateArrays& into, auto&& by) {
      auto each = [&](Body& body, const ExprRef& j, const std::vector<Indexed>& column) {
        const auto gatherer = by(body, j);
        State state = let(body, into.read(j));
        for (const auto& [x, row] : column) state = let(body, gatherer.merge(state, let(body, gatherer.single(x, row))));
        into.write(body, j, state);
      };
      if (pulled_.cost() <= kCheap) {
        const ExprRef together = let(per_block, "t", (b1 - b0) / i64(kRowsTogether));
        rows_loop(b0, together, kRowsTogether, each);
        rows_loop(let(per_block, "r", b0 + together * i64(kRowsTogether)), let(per_block, "t", (b1 - b0) % i64(kRowsTogether)), 1, each);
      } else {
        rows_loop(b0, let(per_block, "t", b1 - b0), 1, each);
      }
    };
    if (reducer.is_var()) {
      // A column's shift is its value in the block's first row.
      const DType mean_type = reducer.components()[1];
      DeviationSums sums(mean_type);
      const StateArrays shifts = locals(unit, "shift", kColumns, {mean_type}), block = locals(unit, "block", kColumns, sums.components());
      fill_identity(per_block, sums, block, count);
      rows_loop(b0, i64(1), 1, [&](Body& body, const ExprRef& j, const std::vector<Indexed>& column) {
        shifts.write(body, j, {ir::cast(column[0].value, mean_type)});
      });
      auto shifted = [&](Body& body, const ExprRef& j) {
        sums.set_shift(let(body, shifts.read(j))[0]);
        return sums;
      };
      gather(block, shifted);
      const ExprRef height = let(per_block, "height", ir::cast(b1 - b0, DType::f64));
      const DeviationSums by = shifted(merge, m);
      merge_into(merge, reducer, total, m, let(merge, by.close(let(merge, block.read(m)), height)));
    } else {
      const StateArrays block = locals(unit, "block", kColumns);
      fill_identity(per_block, reducer, block, count);
      gather(block, [&](Body&, const ExprRef&) { return reducer; });
      merge_into(merge, reducer, total, m, block.read(m));
    }
    per_block.push_back(ir::loop(m->name, i64(0), count, ir::LoopKind::simd, std::move(merge)));
    unit.push_back(
        ir::loop(b->name, i64(0), let(unit, "blocks", ceil_div(r1 - r0, kColumnBlock)), ir::LoopKind::serial, std::move(per_block)));

    const ExprRef w = loop_variable("j");
    Body finish;
    const State state = let(finish, total.read(w));
    if (partial) {
      const ExprRef output = let(unit, "output", o * n + c0);
      out.write(finish, let(finish, "at", (output + w) * groups + group), state);
    } else {
      const ExprRef base = let(unit, "to", out_positions.base(0, kept));
      out.write(finish, base + (c0 + w) * out_positions.inner_stride(0),
                {reducer.finish(state, ir::cast(rows, DType::f64), ddof, result_type)});
    }
    unit.push_back(ir::loop(w->name, i64(0), count, ir::LoopKind::simd, std::move(finish)));
    const int64_t units = outer_ * groups_ * segments;
    Body body{ir::loop(u->name, i64(0), builder.scalar("units", units), ir::LoopKind::unit, std::move(unit))};
    return builder.finish(std::move(body), units);
  }

 private:
  const Pulled& pulled_;
  size_t kept_;
  int64_t outer_, rows_, columns_, groups_, segment_;
};

/// Partial states [output, part] to [output, part / kGroup], or to the finished results.
class Combination : ReductionLowering {
 public:
  Combination(const Reducer& reducer, graph::ReduceOp op) : ReductionLowering(reducer, op) {}

  /// `space` has the kept axes of `result`, outermost first; their C order is the outputs' order.
  Step lower(const std::vector<StorageRef>& from, int64_t parts, const Shape& space, const Access& result,
             const std::vector<StorageRef>& storages, DType result_type, int64_t count, int64_t ddof) {
    const int64_t next = (parts + kGroup - 1) / kGroup;
    const bool partial = next > 1;
    const ExprRef part_count = builder.scalar("parts", parts), next_count = builder.scalar("next", next);
    StateArrays in{{}, reducer.components()}, out{{}, {}};
    for (size_t c = 0; c < from.size(); ++c) in.names.push_back(builder.input(from[c], in.types[c], 0));
    for (size_t c = 0; c < storages.size(); ++c) {
      out.types.push_back(partial ? reducer.components()[c] : result_type);
      out.names.push_back(builder.output(storages[c], out.types.back(), partial ? 0 : result.offset));
    }
    Access out_access = result;
    out_access.coefficients.push_back(0);
    Shape out_space = space;
    out_space.push_back(1);
    Positions out_positions(builder, out_space, {out_access});
    std::vector<ExprRef> extents;
    for (size_t k = 0; k < space.size(); ++k) extents.push_back(k == 0 ? nullptr : builder.scalar("e", space[k]));

    const ExprRef u = loop_variable("u"), l = loop_variable("l");
    Body unit;
    const StateArrays states = locals(unit, "state", kGroup);
    const ExprRef o = let(unit, "o", u / next_count), h = let(unit, "h", u % next_count);
    const ExprRef first = let(unit, "first", h * i64(kGroup)), width = let(unit, "width", minimum(i64(kGroup), part_count - first));
    const ExprRef base = let(unit, "base", o * part_count + first);
    Body copy;
    states.write(copy, l, let(copy, in.read(base + l)));
    unit.push_back(ir::loop(l->name, i64(0), width, ir::LoopKind::simd, std::move(copy)));
    halving_tree(unit, reducer, states, width, kGroup);
    const State state = let(unit, states.read(i64(0)));
    if (partial) {
      out.write(unit, u, state);
    } else {
      const ExprRef n = builder.scalar("count", Scalar::of_float(static_cast<double>(count)));
      out.write(unit, out_positions.base(0, coordinates(builder, unit, o, extents)), {reducer.finish(state, n, ddof, result_type)});
    }
    const int64_t units = graph::size_of(space) * next;
    Body body{ir::loop(u->name, i64(0), builder.scalar("units", units), ir::LoopKind::unit, std::move(unit))};
    return builder.finish(std::move(body), units);
  }
};

std::vector<StorageRef> partial_storages(const Reducer& reducer, int64_t count) {
  std::vector<StorageRef> storages;
  for (DType type : reducer.components()) storages.push_back(std::make_shared<TemporaryStorage>(count * gasell::size_of(type)));
  return storages;
}

}  // namespace

void lower_reduction(std::vector<Step>& steps, Pulled pulled, graph::ReduceOp op, const std::vector<int>& axes, int64_t ddof, DType result,
                     Output output, int64_t chunk) {
  const Reducer reducer(op, pulled.values[pulled.roots[0]].dtype);
  const Shape original = pulled.space;
  const size_t rank = original.size();
  auto is_reduced = [&](size_t k) { return std::binary_search(axes.begin(), axes.end(), static_cast<int>(k)); };

  int64_t reduced_count = 1;
  int last_kept = -1;
  for (size_t k = 0; k < rank; ++k) {
    if (is_reduced(k))
      reduced_count *= original[k];
    else if (original[k] > 1)
      last_kept = static_cast<int>(k);
  }
  int last = -1;  // the innermost axis that is more than a formality
  for (size_t k = 0; k < rank; ++k)
    if (original[k] > 1) last = static_cast<int>(k);
  const bool by_columns = last_kept >= 0 && (last == last_kept || reduced_count <= kShortReduction);

  // Axes in the order the lowering walks them, each with its class: outer kept, reduced, columns.
  std::vector<size_t> order;
  std::vector<int> classes;
  auto add = [&](int which) {
    for (size_t k = 0; k < rank; ++k) {
      // Columns: the run of kept axes that ends with the last one.
      bool column = by_columns && !is_reduced(k);
      for (size_t after = k; column && after < rank; ++after) column = !is_reduced(after) || static_cast<int>(after) > last_kept;
      const int c = is_reduced(k) ? 1 : column ? 2 : 0;
      if (c == which) order.push_back(k), classes.push_back(c);
    }
  };
  for (int c : {0, 1, 2}) add(c);

  // The result's access over the same axes; zero along the reduced ones.
  std::vector<int64_t> wide(rank, 0);
  for (size_t k = 0, kept = 0; k < rank; ++k)
    if (!is_reduced(k)) wide[k] = output.access.coefficients[kept++];
  auto permute = [&](std::vector<int64_t>& v) {
    std::vector<int64_t> p;
    for (size_t k : order) p.push_back(v[k]);
    v = std::move(p);
  };
  permute(pulled.space);
  for (Access& a : pulled.accesses) permute(a.coefficients);
  permute(wide);
  std::vector<Access> results{output.access};
  results[0].coefficients = std::move(wide);
  classes = collapse(pulled, results, std::move(classes));

  // At least one axis of the innermost class.
  auto insert_axis = [&](size_t at, int c) {
    const auto offset = static_cast<std::ptrdiff_t>(at);
    pulled.space.insert(pulled.space.begin() + offset, 1);
    for (Access& a : pulled.accesses) a.coefficients.insert(a.coefficients.begin() + offset, 0);
    results[0].coefficients.insert(results[0].coefficients.begin() + offset, 0);
    classes.insert(classes.begin() + offset, c);
  };
  auto count_class = [&](int c) { return static_cast<size_t>(std::count(classes.begin(), classes.end(), c)); };
  if (count_class(1) == 0) insert_axis(count_class(0), 1);
  // Columns that do not collapse into one axis: all but the last walk with the outer kept ones.
  while (count_class(2) > 1) {
    const size_t from = count_class(0) + count_class(1), to = count_class(0);
    auto rotate = [&](std::vector<int64_t>& v) {
      std::rotate(v.begin() + static_cast<std::ptrdiff_t>(to), v.begin() + static_cast<std::ptrdiff_t>(from),
                  v.begin() + static_cast<std::ptrdiff_t>(from) + 1);
    };
    rotate(pulled.space);
    for (Access& a : pulled.accesses) rotate(a.coefficients);
    rotate(results[0].coefficients);
    classes[from] = 0;
    std::sort(classes.begin(), classes.end());
  }

  const size_t kept = count_class(0);
  Access result_access = results[0];
  Shape kept_space(pulled.space.begin(), pulled.space.begin() + static_cast<std::ptrdiff_t>(kept));
  result_access.coefficients.resize(kept);
  if (count_class(2)) {
    kept_space.push_back(pulled.space.back());
    result_access.coefficients.push_back(results[0].coefficients.back());
  }
  const int64_t outputs = graph::size_of(kept_space);

  auto run = [&](auto&& lowering) {
    int64_t parts = lowering.groups();
    if (parts == 1) {
      steps.push_back(lowering.lower(result_access, {output.storage}, result, ddof));
      return;
    }
    std::vector<StorageRef> partials = partial_storages(reducer, outputs * parts);
    steps.push_back(lowering.lower(result_access, partials, result, ddof));
    while (parts > 1) {
      const int64_t next = (parts + kGroup - 1) / kGroup;
      const std::vector<StorageRef> to = next > 1 ? partial_storages(reducer, outputs * next) : std::vector<StorageRef>{output.storage};
      steps.push_back(Combination(reducer, op).lower(partials, parts, kept_space, result_access, to, result, reduced_count, ddof));
      steps.back().combines = true;
      partials = to;
      parts = next;
    }
  };
  if (count_class(2))
    run(ColumnReduction(reducer, op, pulled, kept));
  else
    run(FlatReduction(reducer, op, pulled, kept, chunk));
}

}  // namespace gasell::plan
