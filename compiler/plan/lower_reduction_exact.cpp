// Reductions of narrow integers and truth values on a GPU. Their order changes no bit, so a thread takes what is loaded together.
#include <algorithm>

#include "compiler/ir/tile.h"
#include "compiler/plan/reduction_lowering.h"

namespace gasell::plan {
namespace {

using graph::ReduceOp;
using ir::Body;
using ir::ExprRef;

constexpr int64_t kThreads = 256, kBytesAThread = 16, kNarrow = 2;
constexpr int64_t kFewest = 1 << 14;               // elements an output; of fewer the threads of a block would find little to do
constexpr int64_t kMostOfMean = int64_t{1} << 37;  // elements whose sum a double holds exactly

/// The value that is reduced, before it became a float for a mean; -1: order matters.
int exact_root(ReduceOp op, const Pulled& pulled, int64_t total) {
  const int root = pulled.roots[0];
  const Value& value = pulled.values[static_cast<size_t>(root)];
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::prod:
    case ReduceOp::min:
    case ReduceOp::max: return is_integer(value.dtype) ? root : -1;
    case ReduceOp::any:
    case ReduceOp::all: return value.dtype == DType::boolean ? root : -1;
    case ReduceOp::mean: {
      if (value.kind != Value::Kind::cast || total > kMostOfMean) return -1;
      const int from = value.operands[0];
      const DType type = pulled.values[static_cast<size_t>(from)].dtype;
      return (is_integer(type) || type == DType::boolean) && gasell::size_of(type) <= kNarrow ? from : -1;
    }
    default: return -1;
  }
}

class ExactReduction final : public ReductionLowering {
 public:
  ExactReduction(const Reducer& reducer, ReduceOp op, const Pulled& pulled, const Grain& grain, int root, int64_t elements)
      : ReductionLowering(reducer, op, grain),
        pulled_(pulled),
        of_root_(pulled),
        elements_(elements),
        by_(op == ReduceOp::mean ? Reducer(ReduceOp::sum, DType::i64) : reducer) {
    of_root_.roots = {root};
    outputs_ = graph::size_of(Shape(pulled.space.begin(), pulled.space.end() - 1));
    total_ = pulled.space.back();
    groups_ = (total_ + kStrip * kGroup - 1) / (kStrip * kGroup);
    is_mean_ = op == ReduceOp::mean;
  }

  int64_t groups() const override { return groups_; }

  Step lower(const Access& result, const std::vector<StorageRef>& storages, DType result_type, int64_t ddof) override {
    const bool partial = groups_ > 1;
    const ExprRef total = builder.scalar("total", total_);
    StripExpression expression(builder, of_root_);
    StateArrays out{{}, {partial ? reducer.components()[0] : result_type}};
    out.names.push_back(builder.output(storages[0], out.types[0], partial ? 0 : result.offset));
    const Shape kept_space(pulled_.space.begin(), pulled_.space.end() - 1);
    Access out_access = result;
    out_access.coefficients.push_back(0);  // the innermost axis, which a reduction has not
    Shape out_space = kept_space;
    out_space.push_back(1);
    Positions out_positions(builder, out_space, {out_access});
    const Extents kept_extents(builder, kept_space);

    const ExprRef u = loop_variable("u"), p = loop_variable("p");
    Body unit, thread;
    const int64_t units = outputs_ * groups_;
    const auto [o, group] = groups_ == 1    ? Parts{u, i64(0)}
                            : outputs_ == 1 ? Parts{i64(0), u}
                                            : Divisor(builder, groups_, units).divide(unit, u);
    const ExprRef first = let(unit, "first", group * i64(kStrip * kGroup));
    const ExprRef count = let(unit, "count", minimum(i64(kStrip * kGroup), total - first));
    const std::vector<ExprRef> kept = kept_extents.coordinates(unit, o);
    const StateArrays states = locals(unit, "state", kThreads, by_.components());
    expression.begin_row(thread, kept);
    expression.begin_strip(thread, first, count);
    states.write(thread, p, {gather(thread, expression, p, count)});
    unit.push_back(ir::loop(p->name, i64(0), i64(kThreads), ir::LoopKind::team, std::move(thread)));
    halving_tree(unit, by_, states, i64(kThreads), kThreads);
    State state = let(unit, states.read(i64(0)));
    if (is_mean_) state[0] = let(unit, "st", ir::cast(state[0], reducer.components()[0]));
    if (partial)
      out.write(unit, let(unit, "at", o * builder.scalar("groups", groups_) + group), state);
    else
      out.write(unit, out_positions.base(0, kept), {reducer.finish(state, ir::cast(total, DType::f64), ddof, result_type)});
    Step step = builder.finish({ir::loop(u->name, i64(0), builder.scalar("units", units), ir::LoopKind::unit, std::move(unit))}, units);
    // As the units of FlatReduction walk.
    const bool whole_outputs = partial && outputs_ > 1;
    const int64_t together = whole_outputs ? groups_ : 1, width = gasell::size_of(out.types[0]);
    describe_walks(step, pulled_, together, partial && !whole_outputs ? kStrip * kGroup : total_,
                   {partial ? dense_walk(units * width, together * width) : walk_of(out_space, out_access, 1)});
    return step;
  }

 private:
  /// What thread p makes of its elements: `elements_` beside each other at a time; what is left over one by one.
  ExprRef gather(Body& thread, StripExpression& expression, const ExprRef& p, const ExprRef& count) {
    const DType type = by_.components()[0];
    const std::string name = builder.fresh("st");
    const ExprRef state = ir::variable(name, type), q = loop_variable("q"), r = loop_variable("r");
    thread.push_back(ir::var(name, by_.identity()[0]));
    const auto take = [&](Body& body, const ExprRef& x) {
      body.push_back(ir::assign(name, let(body, by_.merge({let(body, "st", state)}, {x}))[0]));
    };
    const int64_t step = kThreads * elements_;
    const ExprRef whole = let(thread, "whole", count / i64(step));
    Body several, single;
    const ExprRef at = let(several, "at", q * i64(step) + p * i64(elements_));
    std::vector<State> loaded;
    const auto single_of = [&](Body& body, const ExprRef& x) { return let(body, by_.single(is_mean_ ? ir::cast(x, type) : x, at)); };
    for (const ExprRef& x : beside_each_other(several, expression, at)) loaded.push_back(single_of(several, x));
    for (size_t n = loaded.size(); n > 1; n = (n + 1) / 2)
      for (size_t k = 0; k < n / 2; ++k) loaded[k] = let(several, by_.merge(loaded[k], loaded[n - 1 - k]));
    take(several, loaded[0][0]);
    thread.push_back(ir::loop(q->name, i64(0), whole, ir::LoopKind::serial, std::move(several)));
    const ExprRef rest = let(thread, "rest", whole * i64(step) + p);
    const ExprRef times = let(thread, "times", (count - rest + i64(kThreads - 1)) / i64(kThreads));
    const ExprRef x = expression.at(single, let(single, "i", rest + r * i64(kThreads)))[0];
    take(single, single_of(single, x)[0]);
    thread.push_back(ir::loop(r->name, i64(0), ir::op(ScalarOp::max, {times, i64(0)}), ir::LoopKind::serial, std::move(single)));
    return let(thread, "st", state);
  }

  /// Elements at, at + 1, …, whose loads stand beside each other where their places are sums of names.
  std::vector<ExprRef> beside_each_other(Body& body, StripExpression& expression, const ExprRef& at) {
    const ExprRef j = loop_variable("j");
    Body one;
    const ExprRef x = expression.at(one, j)[0];
    one.push_back(ir::store("elements", j, x));
    std::vector<ExprRef> elements;
    const auto run = ir::make_run(one, j->name, at, elements_, [](const std::string&) { return true; });
    for (int64_t k = 0; !run && k < elements_; ++k) elements.push_back(expression.at(body, let(body, "i", at + i64(k)))[0]);
    const Body statements = run.value_or(Body{});
    for (const ir::StmtRef& s : statements) {
      if (s->kind == ir::StmtKind::store)
        elements.push_back(s->value);
      else
        body.push_back(s);
    }
    return elements;
  }

  const Pulled& pulled_;
  Pulled of_root_;
  const int64_t elements_;  // that a thread takes at a time
  const Reducer by_;
  int64_t outputs_, total_, groups_;
  bool is_mean_;
};

}  // namespace

std::unique_ptr<ReductionLowering> exact_reduction(const Reducer& reducer, ReduceOp op, const Pulled& pulled, size_t kept,
                                                   const Grain& grain) {
  if (!grain.rolled || pulled.space.size() != kept + 1 || has_random(pulled) || pulled.space.back() < kFewest) return nullptr;
  const int root = exact_root(op, pulled, pulled.space.back());
  if (root < 0) return nullptr;
  int64_t widest = 1;
  for (const Access& a : pulled.accesses) {
    if (a.coefficients.back() != 1 || a.index >= 0) return nullptr;
    widest = std::max<int64_t>(widest, gasell::size_of(a.dtype));
  }
  if (widest > kNarrow) return nullptr;
  return std::make_unique<ExactReduction>(reducer, op, pulled, grain, root, kBytesAThread / widest);
}

}  // namespace gasell::plan
