// Reductions that keep the innermost axis.
#include <algorithm>
#include <bit>

#include "compiler/plan/reduction_lowering.h"

namespace gasell::plan {
namespace {

using ir::Body;
using ir::ExprRef;

constexpr int64_t kColumns = 8192;       // columns a work unit, at most
constexpr int64_t kFewestColumns = 256;  // and at least, where there are so many
// Fewer where so many elements have few rows, so that there are groups of rows for several GPUs, which hold an array by rows.
constexpr int64_t kManyElements = int64_t{1} << 27, kGroupsOfMany = 32;
constexpr int64_t kRowsTogether = 4;  // rows that a cheap expression is evaluated for at a time
constexpr double kCheap = 4;          // operations
// The threads of a GPU's block take so many states at a time, of several blocks of rows for each of their columns: all of them where they
// are few, else so many. Of these a thread loads the whole block's rows of a cheap expression before it adds them.
constexpr int64_t kStatesTogether = 512, kNarrow = 128, kSegmentOfGpu = 64;

class ColumnReduction final : public ReductionLowering {
 public:
  ColumnReduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept, const Grain& grain)
      : ReductionLowering(reducer, op, grain), pulled_(pulled), kept_(kept) {
    const Shape& space = pulled.space;
    outer_ = graph::size_of(Shape(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(kept)));
    rows_ = graph::size_of(Shape(space.begin() + static_cast<std::ptrdiff_t>(kept), space.end() - 1));
    columns_ = space.back();
    const int64_t blocks = (rows_ + kColumnBlock - 1) / kColumnBlock;
    const bool many = outer_ == 1 && rows_ * columns_ >= kManyElements;
    group_rows_ =
        kColumnBlock * (many ? std::clamp<int64_t>((blocks + kGroupsOfMany - 1) / kGroupsOfMany, 1, kColumnBlocks) : kColumnBlocks);
    groups_ = (rows_ + group_rows_ - 1) / group_rows_;
    // Wide segments read memory in long runs; narrower ones only where there would be too few units for the cores.
    const int64_t fewest = std::clamp<int64_t>(grain.elements / 32, kFewestColumns, kStrip / 2);
    if (has_random(pulled)) widest_ = reducer.is_var() ? kStrip / 2 : kStrip;
    segment_ = std::clamp(columns_ * outer_ * groups_ / grain.units, fewest, widest_);
    if (rolled && !has_random(pulled)) {
      segment_ = columns_ <= kNarrow ? columns_ : kSegmentOfGpu;
      blocks_together_ =
          std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(kStatesTogether / segment_))), 1, kColumnBlocks);
    }
  }

  int64_t groups() const override { return groups_; }

  Step lower(const Access& result, const std::vector<StorageRef>& storages, DType result_type, int64_t ddof) override {
    const bool partial = groups_ > 1;
    const Shape& space = pulled_.space;
    const int64_t segments = (columns_ + segment_ - 1) / segment_;
    const ExprRef n = builder.scalar("n", columns_), rows = builder.scalar("rows", rows_);
    StripExpression expression(builder, pulled_);
    StateArrays out{{}, {}};
    for (size_t c = 0; c < storages.size(); ++c) {
      out.types.push_back(partial ? reducer.components()[c] : result_type);
      out.names.push_back(builder.output(storages[c], out.types.back(), partial ? 0 : result.offset));
    }
    Shape out_space(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(kept_));
    out_space.push_back(columns_);
    Positions out_positions(builder, out_space, {result});
    const auto columns_axis = space.end() - 1, first_row_axis = space.begin() + static_cast<std::ptrdiff_t>(kept_);
    const Extents kept_extents(builder, Shape(space.begin(), first_row_axis)), row_extents(builder, Shape(first_row_axis, columns_axis));

    const ExprRef u = loop_variable("u");
    Body unit;
    expression.declare(unit);
    const StateArrays total = locals(unit, "total", blocks_together_ ? kNarrow : widest_);
    const int64_t units = outer_ * groups_ * segments;
    const auto [rest, segment] = Divisor(builder, segments, units).divide(unit, u);
    const auto [o, group] = Divisor(builder, groups_, units).divide(unit, rest);
    const ExprRef width = builder.scalar("width", segment_);
    const ExprRef c0 = let(unit, "c", segment * width), count = let(unit, "count", minimum(width, n - c0));
    const ExprRef r0 = let(unit, "r", group * i64(group_rows_));
    const ExprRef r1 = let(unit, "r", minimum(r0 + i64(group_rows_), rows));
    const std::vector<ExprRef> kept = kept_extents.coordinates(unit, o);
    fill_identity(unit, reducer, total, count);

    const Rows of_unit{kept, row_extents, r0, r1};
    if (blocks_together_)
      narrow_blocks(unit, expression, of_unit, c0, count, width, total);
    else
      blocks_of_rows(unit, expression, of_unit, c0, count, total);

    const ExprRef w = loop_variable("j");
    Body finish;
    const State state = let(finish, total.read(w));
    if (partial) {
      const ExprRef output = let(unit, "output", (o * builder.scalar("groups", groups_) + group) * n + c0);
      out.write(finish, let(finish, "at", output + w), state);
    } else {
      const ExprRef base = let(unit, "to", out_positions.base(0, kept));
      out.write(finish, base + (c0 + w) * out_positions.inner_stride(0),
                {reducer.finish(state, ir::cast(rows, DType::f64), ddof, result_type)});
    }
    unit.push_back(ir::loop(w->name, i64(0), count, ir::LoopKind::simd, std::move(finish)));
    Body body{ir::loop(u->name, i64(0), builder.scalar("units", units), ir::LoopKind::unit, std::move(unit))};
    Step step = builder.finish(std::move(body), units);
    // Units that walk on together: those of a group of rows where there is one output row, with one group each by itself; else those of an
    // output row.
    const bool one_output_row = outer_ == 1, by_segments = one_output_row && !partial;
    const int64_t together = by_segments ? 1 : one_output_row ? segments : segments * groups_;
    const int64_t elements = by_segments ? segment_ * rows_ : (one_output_row ? group_rows_ : rows_) * columns_;
    std::vector<Walk> walks;
    for (const DType type : out.types) {
      const int64_t group = columns_ * gasell::size_of(type);  // bytes of a group's partial states
      walks.push_back(partial ? dense_walk(outer_ * groups_ * group, one_output_row ? group : groups_ * group)
                              : walk_of(out_space, result, by_segments ? segment_ : columns_));
    }
    describe_walks(step, by_segments ? columns_first() : pulled_, together, elements, walks);
    return step;
  }

 private:
  /// The rows of a unit, along the reduced axes.
  struct Rows {
    const std::vector<ExprRef>& kept;
    const Extents& extents;
    ExprRef begin, end;

    std::vector<ExprRef> coordinates(Body& body, const ExprRef& number) const {
      std::vector<ExprRef> all = kept;
      for (const ExprRef& c : extents.coordinates(body, number)) all.push_back(c);
      return all;
    }
  };

  /// Blocks one after the other: each row's columns are spread over threads, or lanes of vectors.
  void blocks_of_rows(Body& unit, const StripExpression& expression, const Rows& rows, const ExprRef& c0, const ExprRef& count,
                      const StateArrays& total) {
    const ExprRef b = loop_variable("b"), m = loop_variable("j");
    Body per_block, merge;
    const ExprRef b0 = let(per_block, "b", rows.begin + b * i64(kColumnBlock)),
                  b1 = let(per_block, "b", minimum(b0 + i64(kColumnBlock), rows.end));
    // Calls each(body, column, the values and numbers of `height` rows there) for rows `first` and on, `times` times.
    auto rows_loop = [&](const ExprRef& first, const ExprRef& times, int64_t height, auto&& each) {
      const ExprRef t = loop_variable("t"), j = loop_variable("j");
      Body row, inner;
      std::vector<StripExpression> expressions(static_cast<size_t>(height), expression);
      std::vector<ExprRef> numbers;
      for (int64_t h = 0; h < height; ++h) {
        numbers.push_back(let(row, "r", first + t * i64(height) + i64(h)));
        expressions[static_cast<size_t>(h)].begin_row(row, rows.coordinates(row, numbers.back()));
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
      const StateArrays shifts = locals(unit, "shift", widest_, {mean_type}), block = locals(unit, "block", widest_, sums.components());
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
      const StateArrays block = locals(unit, "block", widest_);
      fill_identity(per_block, reducer, block, count);
      gather(block, [&](Body&, const ExprRef&) { return reducer; });
      merge_into(merge, reducer, total, m, block.read(m));
    }
    per_block.push_back(ir::loop(m->name, i64(0), count, ir::LoopKind::simd, std::move(merge)));
    unit.push_back(ir::loop(b->name, i64(0), let(unit, "blocks", ceil_div(rows.end - rows.begin, kColumnBlock)), ir::LoopKind::serial,
                            std::move(per_block)));
  }

  /// Several blocks at a time, each column of each a thread's; their states come into the columns' in the blocks' order.
  void narrow_blocks(Body& unit, const StripExpression& expression, const Rows& rows, const ExprRef& c0, const ExprRef& count,
                     const ExprRef& columns, const StateArrays& total) {
    const StateArrays states = locals(unit, "block", kStatesTogether);
    const Divisor by_columns(builder, segment_, kStatesTogether);
    const bool has_rest = columns_ % segment_ != 0;
    const ExprRef together = builder.scalar("together", blocks_together_);
    const ExprRef blocks = let(unit, "blocks", ceil_div(rows.end - rows.begin, kColumnBlock)), q = loop_variable("q"),
                  p = loop_variable("p"), m = loop_variable("j"), k = loop_variable("k");
    Body some, thread, column, merge;
    const ExprRef first = let(some, "first", q * together), here = let(some, "here", minimum(together, blocks - first));
    const auto [block, place] = by_columns.divide(thread, p);
    // Behind the last column of all threads take it once more, for nobody.
    const ExprRef j = has_rest ? let(thread, "column", minimum(place, count - i64(1))) : place;
    const ExprRef b0 = let(thread, "b", rows.begin + (first + block) * i64(kColumnBlock));
    const ExprRef b1 = let(thread, "b", minimum(b0 + i64(kColumnBlock), rows.end));
    const auto element = [&](Body& body, const ExprRef& row) {
      StripExpression of_row = expression;
      of_row.begin_row(body, rows.coordinates(body, row));
      of_row.begin_strip(body, c0, count);
      return let(body, "x", of_row.at(body, j)[0]);
    };
    // The state is in vars.
    const auto gather = [&](auto&& by) {
      std::vector<std::string> names;
      State state;
      for (const ExprRef& e : by.identity()) {
        names.push_back(builder.fresh("st"));
        thread.push_back(ir::var(names.back(), e));
        state.push_back(ir::variable(names.back(), e->type));
      }
      const auto rows_loop = [&](const ExprRef& from, const ExprRef& times, int64_t height) {
        const ExprRef t = loop_variable("t");
        Body body;
        std::vector<Indexed> elements;
        for (int64_t h = 0; h < height; ++h) {
          const ExprRef row = let(body, "r", from + t * i64(height) + i64(h));
          elements.push_back({element(body, row), row});
        }
        State now = let(body, state);
        for (const auto& [x, row] : elements) now = let(body, by.merge(now, let(body, by.single(x, row))));
        for (size_t c = 0; c < names.size(); ++c) body.push_back(ir::assign(names[c], now[c]));
        thread.push_back(ir::loop(t->name, i64(0), times, ir::LoopKind::serial, std::move(body)));
      };
      const int64_t height = pulled_.cost() > kCheap || columns_ <= kNarrow ? kRowsTogether : kColumnBlock;
      const ExprRef times = let(thread, "t", (b1 - b0) / i64(height));
      rows_loop(b0, times, height);
      rows_loop(let(thread, "r", b0 + times * i64(height)), let(thread, "t", (b1 - b0) % i64(height)), 1);
      return let(thread, state);
    };
    if (reducer.is_var()) {
      const DType mean_type = reducer.components()[1];
      DeviationSums sums(mean_type);
      sums.set_shift(let(thread, "shift", ir::cast(element(thread, b0), mean_type)));
      const State gathered = gather(sums);
      states.write(thread, p, let(thread, sums.close(gathered, let(thread, "height", ir::cast(b1 - b0, DType::f64)))));
    } else {
      states.write(thread, p, gather(reducer));
    }
    some.push_back(ir::loop(p->name, i64(0), let(some, "states", here * columns), ir::LoopKind::team, std::move(thread)));
    merge_into(merge, reducer, total, m, states.read(k * columns + m));
    column.push_back(ir::loop(k->name, i64(0), here, ir::LoopKind::serial, std::move(merge)));
    some.push_back(ir::loop(m->name, i64(0), count, ir::LoopKind::simd, std::move(column)));
    unit.push_back(
        ir::loop(q->name, i64(0), let(unit, "times", (blocks + together - i64(1)) / together), ir::LoopKind::serial, std::move(some)));
  }

  /// As units walk that have some columns each: through all rows of them before the next. Few columns of an array lie in all of it, but
  /// where the rows are its innermost axis they lie together.
  Pulled columns_first() const {
    Pulled turned = pulled_;
    const auto turn = [](std::vector<int64_t>& v) { std::rotate(v.begin(), v.end() - 1, v.end()); };
    turn(turned.space);
    for (Access& access : turned.accesses) turn(access.coefficients);
    return turned;
  }

  const Pulled& pulled_;
  size_t kept_;
  // Columns of a segment at most. Random numbers come a strip at a time, and all threads of a GPU's block fill it: then the columns' states
  // must find room in the block's memory.
  int64_t widest_ = kColumns;
  int64_t outer_, rows_, columns_, group_rows_, groups_, segment_;
  int64_t blocks_together_ = 0;  // 0: blocks come one after the other
};

}  // namespace

std::unique_ptr<ReductionLowering> column_reduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept,
                                                    const Grain& grain) {
  return std::make_unique<ColumnReduction>(reducer, op, pulled, kept, grain);
}

}  // namespace gasell::plan
