// Reductions along the innermost axes.
#include "compiler/plan/reduction_lowering.h"

namespace gasell::plan {
namespace {

using ir::Body;
using ir::ExprRef;

class FlatReduction final : public ReductionLowering {
 public:
  FlatReduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept, const Grain& grain)
      : ReductionLowering(reducer, op, grain), pulled_(pulled), kept_(kept) {
    const Shape& space = pulled.space;
    outputs_ = graph::size_of(Shape(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(kept)));
    total_ = graph::size_of(Shape(space.begin() + static_cast<std::ptrdiff_t>(kept), space.end()));
    // A GPU of which groups would keep few multiprocessors busy takes blocks one by one: the combination has the groups' trees then.
    const int64_t blocks = (total_ + kStrip - 1) / kStrip;
    if (grain.rolled && outputs_ == 1 && blocks > kGroup && blocks <= kGroup * kGroup) group_ = kStrip;
    groups_ = (total_ + group_ - 1) / group_;
    const int64_t aim =
        grain.chunk > 0 ? grain.chunk : std::clamp<int64_t>(outputs_ * total_ / grain.units, grain.elements, kStrip * kGroup);
    outputs_a_unit_ = groups_ > 1 ? 1 : std::clamp<int64_t>(aim / std::max<int64_t>(1, total_), 1, std::max<int64_t>(1, outputs_));
    // Of several outputs each is a warp's.
    const bool few_blocks = groups_ == 1 && total_ < kStrip * kWarps;  // a block's warps would be more than those of an output
    if (grain.rolled && (outputs_a_unit_ > 1 || few_blocks) && outputs_a_unit_ < kWarps)
      outputs_a_unit_ = outputs_ / kWarps >= grain.units / 16 ? kWarps : 1;
  }

  int64_t groups() const override { return groups_; }

  /// `to`: the output's name, access and finishing, or with several groups the partial arrays [output, group].
  Step lower(const Access& result, const std::vector<StorageRef>& storages, DType result_type, int64_t ddof) override {
    const bool partial = groups_ > 1;
    const ExprRef total = builder.scalar("total", total_), outputs = builder.scalar("outputs", outputs_);
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
    const auto first_reduced = pulled_.space.begin() + static_cast<std::ptrdiff_t>(kept_);
    const Extents kept_extents(builder, Shape(pulled_.space.begin(), first_reduced));
    const Rows rows(builder, Shape(first_reduced, pulled_.space.end()), total_);

    // Divisions are slow to run and to compile: a unit's number is its group where there is one output, and its outputs where there is one
    // group.
    const bool one_output = outputs_ == 1, one_group = groups_ == 1;
    const ExprRef u = loop_variable("u"), o = one_output ? i64(0) : loop_variable("o");
    Body unit, output, block;
    expression.declare(block);
    strip_ = builder.fresh("x");
    block.push_back(ir::local_array(strip_, pulled_.values[pulled_.roots[0]].dtype, kStrip));
    const bool one_block = std::min(total_, group_) <= kStrip;
    const StateArrays lanes = locals(block, "lane", kLanes), blocks = locals(output, "block", one_block ? 1 : kGroup);
    const int64_t units = (outputs_ + outputs_a_unit_ - 1) / outputs_a_unit_ * groups_;
    const auto [outputs_of_unit, group] = one_group    ? Parts{u, i64(0)}
                                          : one_output ? Parts{i64(0), u}
                                                       : Divisor(builder, groups_, units).divide(unit, u);
    const ExprRef group_first = let(unit, "first", group * i64(group_));
    const ExprRef group_last = let(unit, "last", minimum(group_first + i64(group_), total));
    const ExprRef block_count = let(unit, "blocks", ceil_div(group_last - group_first, kStrip));

    const std::vector<ExprRef> kept = kept_extents.coordinates(output, o);
    // What is worth sharing out: a unit's outputs, or the blocks of its only one.
    const bool several = outputs_a_unit_ > 1;
    if (one_block) {
      const ExprRef count = one_group ? total : let(block, "count", group_last - group_first);
      reduce_block(block, expression, kept, rows, lanes, {blocks, i64(0)}, one_group ? i64(0) : group_first, count);
      output.insert(output.end(), block.begin(), block.end());
    } else {
      const ExprRef b = loop_variable("b");
      const ExprRef first = let(block, "first", group_first + b * i64(kStrip));
      const ExprRef count = let(block, "count", minimum(i64(kStrip), group_last - first));
      reduce_block(block, expression, kept, rows, lanes, {blocks, b}, first, count);
      output.push_back(ir::loop(b->name, i64(0), block_count, several ? ir::LoopKind::serial : ir::LoopKind::team, std::move(block)));
      halving_tree(output, reducer, blocks, block_count, kGroup);
    }
    const State state = let(output, blocks.read(i64(0)));
    if (partial) {
      out.write(output, let(output, "at", o * builder.scalar("groups", groups_) + group), state);
    } else {
      out.write(output, out_positions.base(0, kept), {reducer.finish(state, ir::cast(total, DType::f64), ddof, result_type)});
    }
    if (one_output) {
      unit.insert(unit.end(), output.begin(), output.end());
    } else {
      const ExprRef opu = builder.scalar("opu", outputs_a_unit_);
      const ExprRef o0 = let(unit, "o", outputs_of_unit * opu), o1 = let(unit, "o", minimum(o0 + opu, outputs));
      unit.push_back(ir::loop(o->name, o0, o1, several ? ir::LoopKind::team : ir::LoopKind::serial, std::move(output)));
    }
    Body body{ir::loop(u->name, i64(0), builder.scalar("units", units), ir::LoopKind::unit, std::move(unit))};
    Step step = builder.finish(std::move(body), units);
    // Several outputs with several groups each: whole outputs are walked in order, their groups not.
    const bool whole_outputs = partial && outputs_ > 1;
    const int64_t together = whole_outputs ? groups_ : 1;
    std::vector<Walk> walks;
    for (const DType type : out.types) {
      const int64_t width = gasell::size_of(type);
      walks.push_back(partial ? dense_walk(units * width, together * width) : walk_of(out_space, out_access, outputs_a_unit_));
    }
    describe_walks(step, pulled_, together, whole_outputs ? total_ : partial ? group_ : outputs_a_unit_ * total_, walks);
    return step;
  }

 private:
  /// What is reduced, in rows along the innermost axis.
  struct Rows {
    Rows(KernelBuilder& builder, const Shape& reduced, int64_t total) : extents(builder, Shape(reduced.begin(), reduced.end() - 1)) {
      if (extents.empty()) return;
      length = builder.scalar("n", reduced.back());
      by_length.emplace(builder, reduced.back(), total);
    }
    Extents extents;  // of the other axes; empty: there is one row, which has no
    ExprRef length;
    std::optional<Divisor> by_length;
  };
  /// Where the state of a block goes.
  struct Place {
    const StateArrays& states;
    ExprRef at;
  };

  /// One block. Where its elements lie in one row they go straight into the lanes; where it crosses rows, through the strip.
  void reduce_block(Body& body, StripExpression& expression, const std::vector<ExprRef>& kept, const Rows& rows, const StateArrays& lanes,
                    const Place& to, const ExprRef& first, const ExprRef& count) {
    auto direct = [&](Body& into, const std::vector<ExprRef>& coordinates, const ExprRef& column) {
      expression.begin_row(into, coordinates);
      expression.begin_strip(into, column, count);
      reduce_elements(into, lanes, to, first, count, [&](Body& at, const ExprRef& i) { return expression.at(at, i)[0]; });
    };
    auto staged = [&](Body& into) {
      stage(into, expression, kept, rows, first, count);
      const DType type = pulled_.values[pulled_.roots[0]].dtype;
      reduce_elements(into, lanes, to, first, count, [&](Body&, const ExprRef& i) { return ir::load(strip_, type, i); });
    };
    if (rows.extents.empty()) {
      direct(body, kept, first);
    } else {
      const auto [row, column] = rows.by_length->divide(body, first);
      Body whole, parts;
      std::vector<ExprRef> all = kept;
      for (const ExprRef& c : rows.extents.coordinates(whole, row)) all.push_back(c);
      direct(whole, all, column);
      staged(parts);
      body.push_back(ir::if_(ir::op(ScalarOp::le, {column + count, rows.length}), std::move(whole), std::move(parts)));
    }
    if (reducer.is_var()) return;
    lane_tree(body, reducer, lanes);
    to.states.write(body, to.at, let(body, lanes.read(i64(0))));
  }

  /// Elements [first, first + count) of the flattened reduced axes into the strip, row by row.
  void stage(Body& body, StripExpression& expression, const std::vector<ExprRef>& kept, const Rows& rows, const ExprRef& first,
             const ExprRef& count) {
    const std::string done = builder.fresh("done");
    const ExprRef done_ref = ir::variable(done, DType::i64);
    body.push_back(ir::var(done, i64(0)));
    Body step;
    const std::string to_name = builder.fresh("to");
    step.push_back(ir::let(to_name, done_ref));
    const ExprRef to = ir::variable(to_name, DType::i64);
    const ExprRef position = let(step, "position", first + to);
    const auto [row, column] = rows.by_length->divide(step, position);
    const ExprRef length = let(step, "length", minimum(rows.length - column, count - to));
    std::vector<ExprRef> all = kept;
    for (const ExprRef& c : rows.extents.coordinates(step, row)) all.push_back(c);
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

  /// The elements into the lanes; of var their state where it belongs. `element(body, i)` is element first + i.
  template <class Element>
  void reduce_elements(Body& body, const StateArrays& lanes, const Place& to, const ExprRef& first, const ExprRef& count, Element element) {
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
    const ExprRef shift = let(body, "shift", divided_by_count(first_row.read(i64(0))[0], ir::cast(width, DType::f64)));
    sums.set_shift(shift);
    fill_lanes(body, sums, deviations, count, [&](Body& into, const ExprRef& i) { return Indexed{let(into, "x", element(into, i)), i}; });
    lane_tree(body, sums, deviations);
    to.states.write(body, to.at, state_of_block(body, sums, deviations.read(i64(0)), shift, count));
  }

  const Pulled& pulled_;
  size_t kept_;
  int64_t outputs_, total_, groups_, outputs_a_unit_;
  int64_t group_ = kStrip * kGroup;  // elements of a partial state
  std::string strip_;
};

}  // namespace

std::unique_ptr<ReductionLowering> flat_reduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept,
                                                  const Grain& grain) {
  return std::make_unique<FlatReduction>(reducer, op, pulled, kept, grain);
}

}  // namespace gasell::plan
