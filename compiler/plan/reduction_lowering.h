// Reductions. The reduced elements of an output, in C order, are cut into blocks of kStrip; a block is summed in kLanes accumulators, lane
// l taking the elements l, l + kLanes, …, and the lanes in a halving tree; blocks of a group, and groups, again in halving trees. Nothing
// of this depends on chunks, threads or devices. A rounding error grows like in pairwise summation: 16 + log2(n / 16) additions deep.
//
// Where the last axis is kept (x.sum(axis=0)) the accumulators are columns instead, and a block is kColumnBlock rows.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/extents.h"
#include "compiler/plan/lower.h"
#include "compiler/plan/reducer.h"
#include "compiler/plan/reduction_order.h"

namespace gasell::plan {

inline constexpr int64_t kGroup = 64;         // blocks a work unit, and partial states a combining step
inline constexpr int64_t kColumnBlock = 16;   // rows a block of columns
inline constexpr int64_t kColumnBlocks = 64;  // such blocks a work unit at most
inline constexpr int64_t kWarps = 8;          // of a unit on a GPU, whose teams they are
inline constexpr int64_t kGroupRows = kColumnBlock * kColumnBlocks;

inline ir::ExprRef i64(int64_t v) { return ir::constant_i64(v); }
inline ir::ExprRef ceil_div(const ir::ExprRef& a, int64_t b) { return (a + i64(b - 1)) / i64(b); }

/// Arrays that hold one state an element: locals of a kernel, or partial results in memory.
struct StateArrays {
  std::vector<std::string> names;
  std::vector<DType> types;

  State read(const ir::ExprRef& at) const {
    State state;
    for (size_t c = 0; c < names.size(); ++c) state.push_back(ir::load(names[c], types[c], at));
    return state;
  }
  void write(ir::Body& body, const ir::ExprRef& at, const State& state) const {
    for (size_t c = 0; c < names.size(); ++c) body.push_back(ir::store(names[c], at, state[c]));
  }
};

/// An element and its number among the reduced.
struct Indexed {
  ir::ExprRef value, index;
};

/// What kernels of a reduction have in common: states in arrays, lanes and trees. One kernel is lowered with it.
class ReductionParts {
 protected:
  ReductionParts(const Reducer& reducer, graph::ReduceOp op, const Grain& grain)
      : builder(std::string("reduce_") + std::string(graph::name_of(op)), grain.rolled), reducer(reducer), rolled(grain.rolled) {}

  KernelBuilder builder;
  const Reducer& reducer;
  const bool rolled;  // Grain::rolled

  ir::ExprRef let(ir::Body& body, const char* stem, ir::ExprRef value) { return define(builder, body, stem, std::move(value)); }
  State let(ir::Body& body, const State& state) {
    State bound;
    for (const ir::ExprRef& e : state) bound.push_back(let(body, "st", e));
    return bound;
  }
  ir::ExprRef loop_variable(const char* stem) { return ir::variable(builder.fresh(stem), DType::i64); }

  StateArrays locals(ir::Body& body, const char* stem, int64_t size) { return locals(body, stem, size, reducer.components()); }
  StateArrays locals(ir::Body& body, const char* stem, int64_t size, std::vector<DType> types) {
    StateArrays arrays{{}, std::move(types)};
    for (DType type : arrays.types) {
      arrays.names.push_back(builder.fresh(stem));
      body.push_back(ir::local_array(arrays.names.back(), type, size));
    }
    return arrays;
  }

  template <class By>
  void fill_identity(ir::Body& body, const By& by, const StateArrays& arrays, const ir::ExprRef& count) {
    const ir::ExprRef l = loop_variable("l");
    ir::Body inner;
    arrays.write(inner, l, by.identity());
    body.push_back(ir::loop(l->name, i64(0), count, ir::LoopKind::simd, std::move(inner)));
  }

  /// into[to] = merge(into[to], state), everything bound first.
  template <class By>
  void merge_into(ir::Body& body, const By& by, const StateArrays& into, const ir::ExprRef& to, const State& state) {
    const State bound = let(body, state);
    const State current = let(body, into.read(to));
    into.write(body, to, let(body, by.merge(current, bound)));
  }

  /// The states 0 … count - 1 (count ≤ size, a power of two) of an array, merged into the first by halving: element l takes l + width.
  template <class By>
  void halving_tree(ir::Body& body, const By& by, const StateArrays& arrays, const ir::ExprRef& count, int64_t size) {
    const std::string name = builder.fresh("half");
    const ir::ExprRef half = ir::variable(name, DType::i64), l = loop_variable("l");
    body.push_back(ir::var(name, i64(size / 2)));
    ir::Body level, inner;
    const ir::ExprRef width = ir::variable(builder.fresh("width"), DType::i64);
    level.push_back(ir::let(width->name, half));
    merge_into(inner, by, arrays, l, arrays.read(l + width));
    const ir::ExprRef end = let(level, "w", minimum(width, ir::op(ScalarOp::max, {count - width, i64(0)})));
    level.push_back(ir::loop(l->name, i64(0), end, ir::LoopKind::team, std::move(inner)));
    level.push_back(ir::assign(name, ir::op(ScalarOp::shr, {width, i64(1)})));
    body.push_back(ir::while_(ir::op(ScalarOp::gt, {half, i64(0)}), std::move(level)));
  }

  /// The same tree over all kLanes lanes: level by level, or whole vectors first, then their elements.
  template <class By>
  void lane_tree(ir::Body& body, const By& by, const StateArrays& lanes) {
    if (rolled) return rolled_lane_tree(body, by, lanes);
    constexpr int64_t kVector = 8;
    for (int64_t width = kLanes / 2; width >= kVector; width /= 2) {
      const ir::ExprRef l = loop_variable("l");
      ir::Body inner;
      merge_into(inner, by, lanes, l, lanes.read(l + i64(width)));
      body.push_back(ir::loop(l->name, i64(0), i64(width), ir::LoopKind::simd, std::move(inner)));
    }
    std::vector<State> states;
    for (int64_t k = 0; k < kVector; ++k) states.push_back(let(body, lanes.read(i64(k))));
    for (size_t width = kVector / 2; width >= 1; width /= 2)
      for (size_t k = 0; k < width; ++k) states[k] = let(body, by.merge(states[k], states[k + width]));
    lanes.write(body, i64(0), states[0]);
  }

  template <class By>
  void rolled_lane_tree(ir::Body& body, const By& by, const StateArrays& lanes) {
    const std::string name = builder.fresh("half");
    const ir::ExprRef half = ir::variable(name, DType::i64), l = loop_variable("l");
    body.push_back(ir::var(name, i64(kLanes / 2)));
    ir::Body level, merging, inner;
    const ir::ExprRef width = let(level, "width", half);
    merge_into(merging, by, lanes, l, lanes.read(l + width));
    inner.push_back(ir::if_(ir::op(ScalarOp::lt, {l, width}), std::move(merging)));
    level.push_back(ir::loop(l->name, i64(0), i64(kLanes / 2), ir::LoopKind::simd, std::move(inner)));
    level.push_back(ir::assign(name, ir::op(ScalarOp::shr, {width, i64(1)})));
    body.push_back(ir::while_(ir::op(ScalarOp::gt, {half, i64(0)}), std::move(level)));
  }

  /// Of var, the state of a block of `count` elements, whose deviations from `shift` are gathered: the mean of its first row of lanes. With
  /// no more elements than that, the two steps are NumPy's.
  State state_of_block(ir::Body& body, const DeviationSums& sums, const State& deviations, const ir::ExprRef& shift,
                       const ir::ExprRef& count) {
    const State gathered = let(body, deviations);
    const ir::ExprRef count_f64 = let(body, "cf", ir::cast(count, DType::f64));
    const State closed = let(body, sums.close(gathered, count_f64));
    const ir::ExprRef short_block = let(body, "short", ir::op(ScalarOp::le, {count, i64(kLanes)}));
    const auto unless_short = [&](const ir::ExprRef& value, const ir::ExprRef& exact) {
      return ir::op(ScalarOp::select, {short_block, exact, value});
    };
    const ir::ExprRef zero = ir::cast(ir::constant_i64(0), shift->type);
    return {count_f64, shift, unless_short(closed[2], zero), unless_short(closed[3], gathered[1])};
  }

  /// Elements 0 … count - 1 of a block into lanes; lane_tree brings them into one state at lanes[0]. `element(body, i)` gives element i
  /// as a value and its index.
  template <class By, class Element>
  void fill_lanes(ir::Body& body, const By& by, const StateArrays& lanes, const ir::ExprRef& count, Element element) {
    const ir::ExprRef whole = let(body, "whole", count / i64(kLanes));
    auto row = [&](ir::Body& into, const ir::ExprRef& first, const ir::ExprRef& width, bool lanes_are_full) {
      const ir::ExprRef l = loop_variable("l");
      ir::Body inner;
      const auto [x, index] = element(inner, first + l);
      if (lanes_are_full) {
        const State current = let(inner, lanes.read(l));
        lanes.write(inner, l, let(inner, by.accumulate(current, x, index)));
      } else {
        merge_into(inner, by, lanes, l, by.single(x, index));
      }
      into.push_back(ir::loop(l->name, i64(0), width, ir::LoopKind::simd, std::move(inner)));
    };
    auto rows = [&](ir::Body& into, const ir::ExprRef& from, bool lanes_are_full) {
      const ir::ExprRef k = loop_variable("k");
      ir::Body each;
      row(each, let(each, "first", k * i64(kLanes)), i64(kLanes), lanes_are_full);
      into.push_back(ir::loop(k->name, from, whole, ir::LoopKind::serial, std::move(each)));
    };
    if (by.accumulates()) {
      // The first row fills the lanes, so that the others need not ask whether they are empty.
      const ir::ExprRef l = loop_variable("l");
      ir::Body full, fill;
      const auto [x, index] = element(fill, l);
      lanes.write(fill, l, let(fill, by.single(x, index)));
      full.push_back(ir::loop(l->name, i64(0), i64(kLanes), ir::LoopKind::simd, std::move(fill)));
      rows(full, i64(1), true);
      ir::Body empty;
      fill_identity(empty, by, lanes, i64(kLanes));
      body.push_back(ir::if_(ir::op(ScalarOp::gt, {whole, i64(0)}), std::move(full), std::move(empty)));
    } else {
      fill_identity(body, by, lanes, i64(kLanes));
      rows(body, i64(0), false);
    }
    const ir::ExprRef rest = let(body, "rest", whole * i64(kLanes));
    // As a remainder, so that whoever compiles it sees that there are few.
    row(body, rest, let(body, "left", ir::op(ScalarOp::bit_and, {count, i64(kLanes - 1)})), false);
  }
};

/// A way to walk the elements of a reduction.
class ReductionLowering : protected ReductionParts {
 public:
  virtual ~ReductionLowering() = default;

  /// Partial states that an output is left in; with 1 the results are finished.
  virtual int64_t groups() const = 0;
  /// The kernel. `storages`: of the result, or with several groups of the partial states [outer, group, column], one a component; without
  /// columns the outputs are the outer ones.
  virtual Step lower(const Access& result, const std::vector<StorageRef>& storages, DType result_type, int64_t ddof) = 0;

 protected:
  using ReductionParts::ReductionParts;
};

/// The reduced elements lie along the innermost axes of `pulled`, behind `kept` others. Units are outputs × groups of blocks.
std::unique_ptr<ReductionLowering> flat_reduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept,
                                                  const Grain& grain);
/// The same for short rows on a GPU, several a warp; null: there are other elements, too few rows, or it is no GPU.
std::unique_ptr<ReductionLowering> row_reduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept,
                                                 const Grain& grain);
/// The same for narrow integers and truth values on a GPU, which are loaded several at a time; null: there are others, or too few, or it is
/// no GPU.
std::unique_ptr<ReductionLowering> exact_reduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept,
                                                   const Grain& grain);
/// The innermost axis of `pulled` is kept: columns side by side, rows reduced. Axes: `kept` outer ones, reduced, columns.
std::unique_ptr<ReductionLowering> column_reduction(const Reducer& reducer, graph::ReduceOp op, const Pulled& pulled, size_t kept,
                                                    const Grain& grain);

}  // namespace gasell::plan
