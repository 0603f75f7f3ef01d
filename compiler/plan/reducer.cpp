#include "compiler/plan/reducer.h"

#include <limits>

#include "compiler/graph/variance_part.h"
#include "lang/diagnostic.h"

namespace gasell::plan {
namespace {

using graph::ReduceOp;
using ir::ExprRef;

ExprRef binary(ScalarOp op, const ExprRef& a, const ExprRef& b) { return ir::op(op, {a, b}); }
ExprRef f64(double v) { return ir::constant(Scalar::of_float(v)); }

Scalar number(DType type, double v) {
  return Scalar{type, is_float(type) || is_complex(type) ? 0 : static_cast<int64_t>(v), is_float(type) || is_complex(type) ? v : 0.0};
}

/// NumPy's sums begin with 0.0, so that they are never -0.0.
ExprRef unsigned_zero(const ExprRef& sum) {
  if (is_integer(sum->type) || kind(sum->type) == 'b') return sum;
  return binary(ScalarOp::add, sum, ir::constant(Scalar::of_float(0).cast(sum->type)));
}

/// The largest (or smallest) value of a type; infinities for floats.
Scalar extreme(DType type, bool largest) {
  if (kind(type) == 'b') return Scalar::of_bool(largest);
  if (is_float(type) || is_complex(type)) {
    const double inf = largest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    return Scalar{type, 0, {inf, is_complex(type) ? inf : 0.0}};
  }
  const int bits = gasell::size_of(type) * 8;
  if (kind(type) == 'u') return Scalar::of_int(!largest ? 0 : bits == 64 ? -1 : (int64_t{1} << bits) - 1, type);
  const int64_t max = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
  return Scalar::of_int(largest ? max : -max - 1, type);
}

ExprRef is_nan(const ExprRef& x) {
  if (is_float(x->type)) return ir::op(ScalarOp::isnan, {x});
  if (is_complex(x->type))
    return binary(ScalarOp::logical_or, ir::op(ScalarOp::isnan, {ir::op(ScalarOp::real, {x})}),
                  ir::op(ScalarOp::isnan, {ir::op(ScalarOp::imag, {x})}));
  return ir::constant(Scalar::of_bool(false));
}

ExprRef before(bool ascending, const ExprRef& a, const ExprRef& b) {
  if (!is_complex(a->type)) return binary(ascending ? ScalarOp::lt : ScalarOp::gt, a, b);
  const ExprRef ar = ir::op(ScalarOp::real, {a}), br = ir::op(ScalarOp::real, {b});
  const ExprRef ai = ir::op(ScalarOp::imag, {a}), bi = ir::op(ScalarOp::imag, {b});
  const ExprRef tie = binary(ScalarOp::logical_and, binary(ScalarOp::eq, ar, br), before(ascending, ai, bi));
  return binary(ScalarOp::logical_or, before(ascending, ar, br), tie);
}

/// |x|²
ExprRef squared(const ExprRef& x) {
  if (!is_complex(x->type)) return binary(ScalarOp::mul, x, x);
  const ExprRef re = ir::op(ScalarOp::real, {x}), im = ir::op(ScalarOp::imag, {x});
  return binary(ScalarOp::add, binary(ScalarOp::mul, re, re), binary(ScalarOp::mul, im, im));
}

/// |x|² * weight, which is 0 for no weight also where |x|² is beyond what floats hold.
ExprRef weighted_square(const ExprRef& x, const ExprRef& weight) {
  const auto part = [&](const ExprRef& v) { return binary(ScalarOp::mul, v, binary(ScalarOp::mul, v, weight)); };
  if (!is_complex(x->type)) return part(x);
  return binary(ScalarOp::add, part(ir::op(ScalarOp::real, {x})), part(ir::op(ScalarOp::imag, {x})));
}

/// sum / count, which is 0 for no elements: by the short division for counts where that gives a number.
ExprRef share_of(const ExprRef& sum, const ExprRef& count) {
  if (is_complex(sum->type)) return binary(ScalarOp::div, sum, ir::cast(count, sum->type));
  const ExprRef a = ir::cast(sum, DType::f64), n = ir::cast(count, DType::f64), q = binary(ScalarOp::div_count, a, n);
  const ExprRef by_zero = binary(ScalarOp::mul, a, f64(std::numeric_limits<double>::infinity()));
  const ExprRef other = ir::op(ScalarOp::select, {binary(ScalarOp::eq, n, f64(0)), by_zero, a});
  return ir::cast(ir::op(ScalarOp::select, {is_nan(q), other, q}), sum->type);
}

bool ascending(ReduceOp op) { return op == ReduceOp::min || op == ReduceOp::argmin; }
bool is_arg(ReduceOp op) { return op == ReduceOp::argmin || op == ReduceOp::argmax; }

}  // namespace

ExprRef divided_by_count(const ExprRef& sum, const ExprRef& count) {
  return binary(is_complex(sum->type) ? ScalarOp::div : ScalarOp::div_count, sum, ir::cast(count, sum->type));
}

ExprRef precedes(ReduceOp op, const ExprRef& a, const ExprRef& b) {
  if (is_float(a->type)) {  // a NaN compares false
    const ExprRef at_least = binary(ascending(op) ? ScalarOp::le : ScalarOp::ge, b, a);
    return ir::op(ScalarOp::logical_not, {binary(ScalarOp::logical_or, at_least, is_nan(b))});
  }
  const ExprRef less = before(ascending(op), a, b);
  if (!is_complex(a->type)) return less;
  const ExprRef b_is_number = ir::op(ScalarOp::logical_not, {is_nan(b)});
  return binary(ScalarOp::logical_and, b_is_number, binary(ScalarOp::logical_or, is_nan(a), less));
}

Reducer::Reducer(ReduceOp op, DType element) : op_(op), element_(element) {
  if (op == ReduceOp::var)
    components_ = {DType::f64, is_complex(element) ? DType::c128 : DType::f64, is_complex(element) ? DType::c128 : DType::f64, DType::f64};
  else if (is_arg(op))
    components_ = {element, DType::i64};
  else if (op == ReduceOp::any || op == ReduceOp::all)
    components_ = {DType::boolean};
  else
    components_ = {element};
}

State Reducer::identity() const {
  switch (op_) {
    case ReduceOp::sum:
    case ReduceOp::mean:  // -0.0, so that a sum of negative zeros stays one
      return {ir::constant(is_float(element_) || is_complex(element_) ? Scalar{element_, 0, {-0.0, is_complex(element_) ? -0.0 : 0.0}}
                                                                      : number(element_, 0))};
    case ReduceOp::prod: return {ir::constant(number(element_, 1))};
    case ReduceOp::min: return {ir::constant(extreme(element_, true))};
    case ReduceOp::max: return {ir::constant(extreme(element_, false))};
    case ReduceOp::any: return {ir::constant(Scalar::of_bool(false))};
    case ReduceOp::all: return {ir::constant(Scalar::of_bool(true))};
    case ReduceOp::argmin:
    case ReduceOp::argmax: return {ir::constant(extreme(element_, op_ == ReduceOp::argmin)), ir::constant_i64(INT64_MAX)};
    case ReduceOp::var: return {f64(0), ir::constant(number(components_[1], 0)), ir::constant(number(components_[1], 0)), f64(0)};
  }
  return {};
}

State Reducer::single(const ExprRef& x, const ExprRef& index) const {
  switch (op_) {
    case ReduceOp::any:
    case ReduceOp::all: return {ir::cast(x, DType::boolean)};
    case ReduceOp::argmin:
    case ReduceOp::argmax: return {x, index};
    case ReduceOp::var: return {f64(1), ir::cast(x, components_[1]), ir::constant(number(components_[1], 0)), f64(0)};
    default: return {x};
  }
}

State Reducer::merge(const State& a, const State& b) const {
  switch (op_) {
    case ReduceOp::sum:
    case ReduceOp::mean: return {binary(ScalarOp::add, a[0], b[0])};
    case ReduceOp::prod: return {binary(ScalarOp::mul, a[0], b[0])};
    case ReduceOp::min:
    case ReduceOp::max: {
      if (is_complex(element_)) return {ir::op(ScalarOp::select, {precedes(op_, b[0], a[0]), b[0], a[0]})};
      return {binary(op_ == ReduceOp::min ? ScalarOp::min : ScalarOp::max, a[0], b[0])};
    }
    case ReduceOp::any: return {binary(ScalarOp::logical_or, a[0], b[0])};
    case ReduceOp::all: return {binary(ScalarOp::logical_and, a[0], b[0])};
    case ReduceOp::argmin:
    case ReduceOp::argmax: {
      // Lanes interleave: of equals the one with the lower index wins, so that anything wins against an empty state.
      const ExprRef tie = ir::op(ScalarOp::logical_not, {precedes(op_, a[0], b[0])});
      const ExprRef earlier = binary(ScalarOp::lt, b[1], a[1]);
      const ExprRef take_b = binary(ScalarOp::logical_or, precedes(op_, b[0], a[0]), binary(ScalarOp::logical_and, tie, earlier));
      return {ir::op(ScalarOp::select, {take_b, b[0], a[0]}), ir::op(ScalarOp::select, {take_b, b[1], a[1]})};
    }
    case ReduceOp::var: {
      // Chan, Golub, LeVeque: "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
      const ExprRef n = binary(ScalarOp::add, a[0], b[0]), empty = binary(ScalarOp::eq, a[0], f64(0));
      const ExprRef share = ir::op(ScalarOp::select, {binary(ScalarOp::eq, n, f64(0)), f64(0), binary(ScalarOp::div_count, b[0], n)});
      const ExprRef delta = binary(ScalarOp::add, binary(ScalarOp::sub, b[1], a[1]), binary(ScalarOp::sub, b[2], a[2]));
      const ExprRef offset = binary(ScalarOp::add, a[2], binary(ScalarOp::mul, delta, ir::cast(share, components_[1])));
      const ExprRef spread = weighted_square(delta, binary(ScalarOp::mul, a[0], share));
      return {n, ir::op(ScalarOp::select, {empty, b[1], a[1]}), ir::op(ScalarOp::select, {empty, b[2], offset}),
              binary(ScalarOp::add, binary(ScalarOp::add, a[3], b[3]), spread)};
    }
  }
  return {};
}

bool Reducer::accumulates() const { return is_arg(op_) && !is_complex(element_); }

State Reducer::accumulate(const State& a, const ExprRef& x, const ExprRef& index) const {
  if (!accumulates()) return merge(a, single(x, index));
  // Of equals the earlier stays. A NaN compares false, so "not better or equal" takes it, unless there is one already.
  const ExprRef keeps = binary(ascending(op_) ? ScalarOp::le : ScalarOp::ge, a[0], x);
  ExprRef take = ir::op(ScalarOp::logical_not, {keeps});
  if (is_float(element_)) take = binary(ScalarOp::logical_and, take, ir::op(ScalarOp::logical_not, {is_nan(a[0])}));
  return {ir::op(ScalarOp::select, {take, x, a[0]}), ir::op(ScalarOp::select, {take, index, a[1]})};
}

ExprRef Reducer::finish(const State& state, const ExprRef& count, int64_t ddof, DType result) const {
  switch (op_) {
    case ReduceOp::sum: return ir::cast(unsigned_zero(state[0]), result);
    case ReduceOp::mean: return share_of(unsigned_zero(state[0]), count);
    case ReduceOp::argmin:
    case ReduceOp::argmax: return state[1];
    case ReduceOp::var: {
      if (const auto part = graph::variance_part(ddof)) return ir::cast(state[1 + static_cast<size_t>(*part)], result);
      const ExprRef degrees = binary(ScalarOp::max, binary(ScalarOp::sub, count, f64(static_cast<double>(ddof))), f64(0));
      return ir::cast(share_of(state[3], degrees), result);
    }
    default: return ir::cast(state[0], result);
  }
}

State DeviationSums::identity() const { return {ir::constant(number(mean_, 0)), f64(0)}; }

State DeviationSums::single(const ExprRef& x, const ExprRef&) const {
  const ExprRef deviation = binary(ScalarOp::sub, ir::cast(x, mean_), shift_);
  return {deviation, squared(deviation)};
}

State DeviationSums::merge(const State& a, const State& b) const {
  return {binary(ScalarOp::add, a[0], b[0]), binary(ScalarOp::add, a[1], b[1])};
}

State DeviationSums::close(const State& sums, const ExprRef& count) const {
  const ExprRef step = divided_by_count(sums[0], count);
  const ExprRef spread = binary(ScalarOp::sub, sums[1], binary(ScalarOp::mul, squared(step), count));
  // Squares beyond what floats hold, of numbers that are not: no difference of infinities.
  const ExprRef infinity = f64(std::numeric_limits<double>::infinity()), zeros = squared(binary(ScalarOp::sub, step, step));
  const ExprRef beyond = binary(ScalarOp::logical_and, binary(ScalarOp::eq, sums[1], infinity), binary(ScalarOp::eq, zeros, f64(0)));
  return {count, shift_, step, ir::op(ScalarOp::select, {beyond, infinity, binary(ScalarOp::max, spread, f64(0))})};
}

}  // namespace gasell::plan
