// Reductions: the order of the axes, the way to walk them, and the kernels that combine partial states.
#include "compiler/plan/reduction_lowering.h"

namespace gasell::plan {
namespace {

using ir::Body;
using ir::ExprRef;

/// Partial states [outer, part, column] to [outer, part / kGroup, column], or to the finished results; an output is an outer with a column.
class Combination : ReductionParts {
 public:
  Combination(const Reducer& reducer, graph::ReduceOp op, const Grain& grain) : ReductionParts(reducer, op, grain) {}

  /// `space` has the kept axes of `result`, outermost first; their C order is the outputs' order.
  Step lower(const std::vector<StorageRef>& from, int64_t parts, int64_t columns, const Shape& space, const Access& result,
             const std::vector<StorageRef>& storages, DType result_type, int64_t count, int64_t ddof) {
    const int64_t next = (parts + kGroup - 1) / kGroup;
    const bool partial = next > 1;
    const ExprRef part_count = builder.scalar("parts", parts);
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
    const Extents extents(builder, space);

    // A tree is an item; on a GPU several are a unit's, and each a warp's, which waits for no others.
    const int64_t items = graph::size_of(space) * next, items_a_unit = rolled && (partial || items > kWarps) ? kWarps : 1,
                  units = (items + items_a_unit - 1) / items_a_unit;
    const ExprRef u = loop_variable("u"), l = loop_variable("l"), i = items_a_unit > 1 ? loop_variable("i") : u;
    Body item;
    const StateArrays states = locals(item, "state", kGroup);
    const bool one_output = graph::size_of(space) == 1;
    const Parts of_item = next == 1 ? Parts{i, i64(0)} : one_output ? Parts{i64(0), i} : Divisor(builder, next, items).divide(item, i);
    const ExprRef o = of_item.quotient, h = of_item.remainder;
    const ExprRef first = let(item, "first", h * i64(kGroup)), width = let(item, "width", minimum(i64(kGroup), part_count - first));
    const bool by_columns = columns > 1, one_row = graph::size_of(space) == columns;
    const ExprRef width_of_row = by_columns ? builder.scalar("columns", columns) : i64(1);
    const auto [outer, column] = !by_columns ? Parts{o, i64(0)}
                                 : one_row   ? Parts{i64(0), o}
                                             : Divisor(builder, columns, graph::size_of(space)).divide(item, o);
    const auto place = [&, outer = outer, column = column](const ExprRef& count, const ExprRef& part) {
      const ExprRef at = outer * count + part;
      return by_columns ? at * width_of_row + column : at;
    };
    const ExprRef base = let(item, "base", place(part_count, first));
    Body copy;
    states.write(copy, l, let(copy, in.read(by_columns ? base + l * width_of_row : base + l)));
    item.push_back(ir::loop(l->name, i64(0), width, ir::LoopKind::simd, std::move(copy)));
    halving_tree(item, reducer, states, width, kGroup);
    const State state = let(item, states.read(i64(0)));
    if (partial) {
      out.write(item, by_columns ? let(item, "to", place(builder.scalar("next", next), h)) : i, state);
    } else {
      const ExprRef n = builder.scalar("count", Scalar::of_float(static_cast<double>(count)));
      out.write(item, out_positions.base(0, extents.coordinates(item, o)), {reducer.finish(state, n, ddof, result_type)});
    }
    Body unit;
    if (items_a_unit > 1) {
      const ExprRef begin = let(unit, "begin", u * i64(items_a_unit));
      const ExprRef end = let(unit, "end", minimum(begin + i64(items_a_unit), builder.scalar("items", items)));
      unit.push_back(ir::loop(i->name, begin, end, ir::LoopKind::team, std::move(item)));
    } else {
      unit = std::move(item);
    }
    Body body{ir::loop(u->name, i64(0), builder.scalar("units", units), ir::LoopKind::unit, std::move(unit))};
    Step step = builder.finish(std::move(body), units);
    step.walks.resize(from.size());
    for (const DType type : out.types)
      step.walks.push_back(partial ? dense_walk(items * gasell::size_of(type), 0) : walk_of(out_space, out_access, 0));
    return step;
  }
};

/// The partial states of one output to its result at once, by a block of a GPU: warps take groups of them, and all its threads what these
/// give. One kernel instead of two that would be compiled beside each other, and one launch instead of two.
class WholeCombination : ReductionParts {
 public:
  WholeCombination(const Reducer& reducer, graph::ReduceOp op, const Grain& grain) : ReductionParts(reducer, op, grain) {}

  /// Not for more groups than a tree takes: a block would be longer at them than further launches (20 us of an H200 for 128 groups).
  static bool can(const Grain& grain, int64_t parts, int64_t outputs) {
    return grain.rolled && outputs == 1 && parts > kGroup && parts <= kGroup * kGroup;
  }

  Step lower(const std::vector<StorageRef>& from, int64_t parts, const Access& result, const StorageRef& storage, DType result_type,
             int64_t count, int64_t ddof) {
    const ExprRef part_count = builder.scalar("parts", parts), n = builder.scalar("count", Scalar::of_float(static_cast<double>(count)));
    StateArrays in{{}, reducer.components()};
    for (size_t c = 0; c < from.size(); ++c) in.names.push_back(builder.input(from[c], in.types[c], 0));
    const StateArrays out{{builder.output(storage, result_type, result.offset)}, {result_type}};

    Body unit, group;
    const StateArrays states = locals(unit, "state", kGroup), tree = locals(group, "tree", kGroup);
    const ExprRef groups = let(unit, "groups", ceil_div(part_count, kGroup)), g = loop_variable("g"), l = loop_variable("l");
    const ExprRef first = let(group, "first", g * i64(kGroup)), width = let(group, "width", minimum(i64(kGroup), part_count - first));
    Body copy;
    tree.write(copy, l, let(copy, in.read(first + l)));
    group.push_back(ir::loop(l->name, i64(0), width, ir::LoopKind::simd, std::move(copy)));
    halving_tree(group, reducer, tree, width, kGroup);
    states.write(group, g, let(group, tree.read(i64(0))));
    unit.push_back(ir::loop(g->name, i64(0), groups, ir::LoopKind::team, std::move(group)));
    halving_tree(unit, reducer, states, groups, kGroup);
    out.write(unit, i64(0), {reducer.finish(let(unit, states.read(i64(0))), n, ddof, result_type)});

    const ExprRef u = loop_variable("u");
    Body body{ir::loop(u->name, i64(0), builder.scalar("units", 1), ir::LoopKind::unit, std::move(unit))};
    Step step = builder.finish(std::move(body), 1);
    step.walks.resize(from.size());
    step.walks.push_back(dense_walk(gasell::size_of(result_type), 0));
    return step;
  }
};

/// Whether memory is walked in longer steps along the last axis, which is reduced, than along the kept one: x.T.sum(axis=1), v @ x.
bool lies_in_columns(const Pulled& pulled, const InnermostAxes& innermost) {
  const auto kept = static_cast<size_t>(innermost.kept), last = static_cast<size_t>(innermost.any);
  bool any = false;
  for (const Access& a : pulled.accesses) {
    const int64_t along_kept = std::abs(a.coefficients[kept]), along_last = std::abs(a.coefficients[last]);
    if (along_kept == 0 || along_last == 0 || !a.source->as<graph::BufferNode>()) continue;
    if (along_kept > along_last) return false;
    any = true;
  }
  return any;
}

bool is_among(const std::vector<int>& axes, size_t axis) { return std::binary_search(axes.begin(), axes.end(), static_cast<int>(axis)); }

std::vector<StorageRef> partial_storages(const Reducer& reducer, int64_t count) {
  std::vector<StorageRef> storages;
  for (DType type : reducer.components()) storages.push_back(std::make_shared<TemporaryStorage>(count * gasell::size_of(type)));
  return storages;
}

}  // namespace

void lower_reduction(std::vector<Step>& steps, Pulled pulled, graph::ReduceOp op, const std::vector<int>& axes, int64_t ddof, DType result,
                     Output output, const Grain& grain) {
  const Reducer reducer(op, pulled.values[pulled.roots[0]].dtype);
  const Shape original = pulled.space;
  const size_t rank = original.size();
  auto is_reduced = [&](size_t k) { return is_among(axes, k); };

  int64_t reduced_count = 1;
  for (size_t k = 0; k < rank; ++k)
    if (is_reduced(k)) reduced_count *= original[k];
  const InnermostAxes innermost = innermost_axes(original, axes);
  const int last_kept = innermost.kept;
  const std::optional<bool> columns_by_shape = reduces_by_columns(original, axes);
  const bool by_columns = columns_by_shape ? *columns_by_shape : lies_in_columns(pulled, innermost);

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

  std::unique_ptr<ReductionLowering> lowering;
  if (count_class(2)) lowering = column_reduction(reducer, op, pulled, kept, grain);
  for (const auto& special : {row_reduction, exact_reduction})
    if (!lowering) lowering = special(reducer, op, pulled, kept, grain);
  if (!lowering) lowering = flat_reduction(reducer, op, pulled, kept, grain);
  int64_t parts = lowering->groups();
  const int64_t columns = count_class(2) ? kept_space.back() : 1;
  if (parts == 1) {
    steps.push_back(lowering->lower(result_access, {output.storage}, result, ddof));
    return;
  }
  std::vector<StorageRef> partials = partial_storages(reducer, outputs * parts);
  steps.push_back(lowering->lower(result_access, partials, result, ddof));
  while (parts > 1) {
    if (WholeCombination::can(grain, parts, outputs)) {
      steps.push_back(
          WholeCombination(reducer, op, grain).lower(partials, parts, result_access, output.storage, result, reduced_count, ddof));
      steps.back().combines = true;
      return;
    }
    const int64_t next = (parts + kGroup - 1) / kGroup;
    const std::vector<StorageRef> to = next > 1 ? partial_storages(reducer, outputs * next) : std::vector<StorageRef>{output.storage};
    steps.push_back(
        Combination(reducer, op, grain).lower(partials, parts, columns, kept_space, result_access, to, result, reduced_count, ddof));
    steps.back().combines = true;
    partials = to;
    parts = next;
  }
}

}  // namespace gasell::plan
