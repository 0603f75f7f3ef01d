// Reductions along short rows, on a GPU: a row is some threads', so that a warp has several, and most of the tree is in their registers.
#include <algorithm>

#include "compiler/plan/reduction_lowering.h"

namespace gasell::plan {
namespace {

using ir::Body;
using ir::ExprRef;

constexpr int64_t kThreadsARow = 8;                       // a power of two
constexpr int64_t kLanesAThread = kLanes / kThreadsARow;  // l, l + kThreadsARow, …: the upper levels of the tree are each thread's
constexpr int64_t kRowsAUnit = 64;
constexpr int64_t kRowOfStates = kRowsAUnit + 1;  // not all in one bank of shared memory
constexpr int64_t kLongest = 256;                 // elements a row; longer ones keep a warp busy

class RowReduction final : public ReductionLowering {
 public:
  RowReduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept, const Grain& grain)
      : ReductionLowering(reducer, op, grain), pulled_(pulled) {
    outputs_ = graph::size_of(Shape(pulled.space.begin(), pulled.space.begin() + static_cast<std::ptrdiff_t>(kept)));
    total_ = pulled.space.back();
  }

  static bool takes(const Pulled& pulled, size_t kept, const Grain& grain) {
    if (!grain.rolled || pulled.space.size() != kept + 1 || has_random(pulled)) return false;
    const int64_t outputs = graph::size_of(Shape(pulled.space.begin(), pulled.space.end() - 1)), total = pulled.space.back();
    return total > 0 && total <= kLongest && outputs >= 2 * grain.units;
  }

  int64_t groups() const override { return 1; }

  Step lower(const Access& result, const std::vector<StorageRef>& storages, DType result_type, int64_t ddof) override {
    const ExprRef outputs = builder.scalar("outputs", outputs_);
    total_ref_ = builder.scalar("total", total_);
    expression_.emplace(builder, pulled_);
    const std::string out = builder.output(storages[0], result_type, result.offset);
    const Shape kept_space(pulled_.space.begin(), pulled_.space.end() - 1);
    Access out_access = result;
    out_access.coefficients.push_back(0);  // the innermost axis, which a reduction has not
    Shape out_space = kept_space;
    out_space.push_back(1);
    Positions out_positions(builder, out_space, {out_access});
    kept_extents_.emplace(builder, kept_space);

    const ExprRef u = loop_variable("u");
    Body unit;
    first_ = let(unit, "first", u * i64(kRowsAUnit));
    rows_ = let(unit, "rows", minimum(i64(kRowsAUnit), outputs - first_));
    const auto finish = [&](Body& row, const ExprRef& r, const State& state) {
      const ExprRef to = out_positions.base(0, kept_extents_->coordinates(row, let(row, "o", first_ + r)));
      row.push_back(ir::store(out, to, reducer.finish(state, let(row, "n", ir::cast(total_ref_, DType::f64)), ddof, result_type)));
    };
    if (reducer.is_var()) {
      const DType mean_type = reducer.components()[1];
      const Reducer sum(graph::ReduceOp::sum, mean_type);
      DeviationSums sums(mean_type);
      const StateArrays shifts = locals(unit, "shift", kRowsAUnit, {mean_type});
      const StateArrays heads = gather(unit, sum, i64(1), [&](Body&, const ExprRef&) { return sum; }, mean_type);
      combine(unit, [&](Body& body, const ExprRef& at) {
        const ExprRef width = let(body, "width", ir::cast(minimum(total_ref_, i64(kLanes)), DType::f64));
        shifts.write(body, at, {divided_by_count(tree(body, sum, heads, at)[0], width)});
      });
      const auto shifted = [&](Body& body, const ExprRef& at) {
        sums.set_shift(let(body, shifts.read(at))[0]);
        return sums;
      };
      const StateArrays deviations = gather(unit, sums, all_rows_of_lanes(unit), shifted, std::nullopt);
      combine(unit, [&](Body& body, const ExprRef& at) {
        const DeviationSums by = shifted(body, at);
        const State gathered = tree(body, by, deviations, at);
        finish(body, at, let(body, state_of_block(body, by, gathered, let(body, shifts.read(at))[0], total_ref_)));
      });
    } else {
      const StateArrays states =
          gather(unit, reducer, all_rows_of_lanes(unit), [&](Body&, const ExprRef&) { return reducer; }, std::nullopt);
      combine(unit, [&](Body& body, const ExprRef& at) { finish(body, at, tree(body, reducer, states, at)); });
    }
    const int64_t units = (outputs_ + kRowsAUnit - 1) / kRowsAUnit;
    Step step = builder.finish({ir::loop(u->name, i64(0), builder.scalar("units", units), ir::LoopKind::unit, std::move(unit))}, units);
    describe_walks(step, pulled_, 1, kRowsAUnit * total_, {walk_of(out_space, out_access, kRowsAUnit)});
    return step;
  }

 private:
  ExprRef all_rows_of_lanes(Body& unit) { return let(unit, "lines", ceil_div(total_ref_, kLanes)); }

  /// Each thread's lanes of each row, `lines` rows of lanes, into one state: element [thread, row] of what is returned. `by_of(body, row)`
  /// is what gathers there. `as`: the elements as this type.
  template <class By, class ByOf>
  StateArrays gather(Body& unit, const By& like, const ExprRef& lines, const ByOf& by_of, std::optional<DType> as) {
    const StateArrays to = locals(unit, "state", kThreadsARow * kRowOfStates, like.components());
    const ExprRef p = loop_variable("p"), q = loop_variable("q");
    Body thread, line;
    const ExprRef row = let(thread, "row", p / i64(kThreadsARow)),
                  lane = let(thread, "lane", ir::op(ScalarOp::bit_and, {p, i64(kThreadsARow - 1)}));
    expression_->begin_row(thread, kept_extents_->coordinates(thread, let(thread, "o", first_ + row)));
    expression_->begin_strip(thread, i64(0), total_ref_);
    const auto by = by_of(thread, row);
    std::vector<std::vector<std::string>> names(kLanesAThread);
    std::vector<State> lanes(kLanesAThread);
    const State identity = by.identity();
    for (size_t k = 0; k < lanes.size(); ++k)
      for (const ExprRef& e : identity) {
        names[k].push_back(builder.fresh("st"));
        thread.push_back(ir::var(names[k].back(), e));
        lanes[k].push_back(ir::variable(names[k].back(), e->type));
      }
    // All are loaded before any is used; those behind the row's end are its last, and leave the state as it was.
    const ExprRef at = let(line, "at", q * i64(kLanes) + lane), last = let(thread, "last", total_ref_ - i64(1));
    std::vector<ExprRef> elements, places;
    for (size_t k = 0; k < lanes.size(); ++k) {
      places.push_back(let(line, "i", at + i64(static_cast<int64_t>(k) * kThreadsARow)));
      const ExprRef x = expression_->at(line, let(line, "i", minimum(places[k], last)))[0];
      elements.push_back(let(line, "x", as ? ir::cast(x, *as) : x));
    }
    for (size_t k = 0; k < lanes.size(); ++k) {
      const ExprRef there = let(line, "there", ir::op(ScalarOp::le, {places[k], last}));
      State single = let(line, by.single(elements[k], places[k]));
      for (size_t c = 0; c < single.size(); ++c) single[c] = ir::op(ScalarOp::select, {there, single[c], identity[c]});
      const State now = let(line, by.merge(let(line, lanes[k]), let(line, single)));
      for (size_t c = 0; c < now.size(); ++c) line.push_back(ir::assign(names[k][c], now[c]));
    }
    thread.push_back(ir::loop(q->name, i64(0), lines, ir::LoopKind::serial, std::move(line)));
    for (State& state : lanes) state = let(thread, state);
    to.write(thread, lane * i64(kRowOfStates) + row, halved(thread, by, std::move(lanes)));
    unit.push_back(ir::loop(p->name, i64(0), let(unit, "threads", rows_ * i64(kThreadsARow)), ir::LoopKind::team, std::move(thread)));
    return to;
  }

  /// states[l] = merge(states[l], states[l + width]) until one is left.
  template <class By>
  State halved(Body& body, const By& by, std::vector<State> states) {
    for (size_t width = states.size() / 2; width >= 1; width /= 2)
      for (size_t k = 0; k < width; ++k) states[k] = let(body, by.merge(states[k], states[k + width]));
    return states[0];
  }
  /// The state of a row whose threads left theirs.
  template <class By>
  State tree(Body& body, const By& by, const StateArrays& of_threads, const ExprRef& row) {
    std::vector<State> states;
    for (int64_t k = 0; k < kThreadsARow; ++k) states.push_back(let(body, of_threads.read(row + i64(k * kRowOfStates))));
    return halved(body, by, std::move(states));
  }
  template <class Each>
  void combine(Body& unit, const Each& each) {
    const ExprRef r = loop_variable("r");
    Body row;
    each(row, r);
    unit.push_back(ir::loop(r->name, i64(0), rows_, ir::LoopKind::team, std::move(row)));
  }

  const Pulled& pulled_;
  int64_t outputs_, total_;
  ExprRef total_ref_, first_, rows_;  // first_: the unit's first row, of rows_
  std::optional<StripExpression> expression_;
  std::optional<Extents> kept_extents_;
};

}  // namespace

std::unique_ptr<ReductionLowering> row_reduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept,
                                                 const Grain& grain) {
  if (!RowReduction::takes(pulled, kept, grain)) return nullptr;
  return std::make_unique<RowReduction>(reducer, op, pulled, kept, grain);
}

}  // namespace gasell::plan
