#include "compiler/ir/index_range.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

constexpr int kMostSteps = 200;  // of an extreme

bool is_constant(const ExprRef& e) { return e->kind == ExprKind::constant; }

Affine plus(Affine a, const Affine& b) {
  a.constant = a.constant + b.constant;
  for (const auto& [number, coefficient] : b.terms) {
    ExprRef& sum = a.terms[number];
    sum = sum ? sum + coefficient : coefficient;
    if (is_constant(sum) && sum->value.i == 0) a.terms.erase(number);
  }
  return a;
}
Affine times(const Affine& a, const ExprRef& factor) {
  Affine result{a.constant * factor, {}};
  if (is_constant(factor) && factor->value.i == 0) return result;
  for (const auto& [number, coefficient] : a.terms) result.terms[number] = coefficient * factor;
  return result;
}

void collect_assigned(const Stmt& s, std::unordered_set<std::string>& names) {
  if (s.kind == StmtKind::assign) names.insert(s.name);
  for (const Body* body : {&s.body, &s.orelse})
    for (const StmtRef& inner : *body) collect_assigned(*inner, names);
}

void collect_changing(const Stmt& s, std::unordered_set<std::string>& names) {
  if (!s.name.empty()) names.insert(s.name);  // arrays, too: they are no scalars
  for (const Body* body : {&s.body, &s.orelse})
    for (const StmtRef& inner : *body) collect_changing(*inner, names);
}

bool is_transparent(const Expr& e) {
  if (e.kind != ExprKind::op || e.type != DType::i64) return false;
  switch (e.op) {
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
    case ScalarOp::neg:
    case ScalarOp::min:
    case ScalarOp::max: return true;
    default: return false;
  }
}

/// Whether the result has bounds whatever the operands are.
bool bounds_anything(const Expr& e) {
  return e.kind == ExprKind::cast || (e.kind == ExprKind::op && (e.op == ScalarOp::mod || e.op == ScalarOp::bit_and));
}

double expression_magnitude(const ExprRef& e, double leaf) {
  if (is_constant(e)) return std::fabs(static_cast<double>(e->value.i));
  if (!is_transparent(*e)) return leaf;
  const double a = expression_magnitude(e->args[0], leaf);
  const double b = e->args.size() > 1 ? expression_magnitude(e->args[1], leaf) : 0;
  switch (e->op) {
    case ScalarOp::mul: return a * b;
    case ScalarOp::min:
    case ScalarOp::max: return std::max(a, b);
    default: return a + b;
  }
}

void collect_leaves(const ExprRef& e, std::map<std::string, ExprRef>& leaves) {
  if (is_constant(e)) return;
  if (!is_transparent(*e)) return void(leaves.emplace(print(e), e));
  for (const ExprRef& a : e->args) collect_leaves(a, leaves);
}

}  // namespace

std::unordered_set<std::string> assigned_in(const Stmt& s) {
  std::unordered_set<std::string> names;
  collect_assigned(s, names);
  return names;
}

IndexRanges::IndexRanges(const Stmt& nest) { collect_changing(nest, changing_); }

MaybeAffine IndexRanges::known(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? MaybeAffine{} : found->second;
}

void IndexRanges::forget(const std::unordered_set<std::string>& names) {
  for (const std::string& name : names) values_.erase(name);
}

Affine IndexRanges::atom(std::vector<Affine> lower, std::vector<Affine> upper) {
  atoms_.push_back({std::move(lower), std::move(upper), {}, nullptr});
  return {constant_i64(0), {{static_cast<int>(atoms_.size()) - 1, constant_i64(1)}}};
}

MaybeAffine IndexRanges::value(const ExprRef& e) {
  switch (e->kind) {
    case ExprKind::constant: return Affine{e, {}};
    case ExprKind::variable: return changing_.count(e->name) ? known(e->name) : Affine{e, {}};
    case ExprKind::load:
    case ExprKind::address: return {};
    case ExprKind::op:
    case ExprKind::cast:
    case ExprKind::bitcast: break;
  }
  std::vector<Affine> args;
  bool fixed = true;
  for (const ExprRef& a : e->args) {
    MaybeAffine arg = value(a);
    if (!arg && !bounds_anything(*e)) return {};
    if (!arg) arg = atom({}, {});
    fixed = fixed && arg->terms.empty();
    args.push_back(*arg);
  }
  if (!fixed && e->type != DType::i64) return {};
  if (!fixed) return e->kind == ExprKind::op ? operation(*e, args) : e->kind == ExprKind::cast ? any_of(e->args[0]->type) : MaybeAffine{};
  if (e->kind == ExprKind::cast) return Affine{cast(args[0].constant, e->type), {}};
  if (e->kind == ExprKind::bitcast) return Affine{bitcast(args[0].constant, e->type), {}};
  std::vector<ExprRef> constants;
  for (const Affine& a : args) constants.push_back(a.constant);
  return Affine{op(e->op, std::move(constants)), {}};
}

/// Any number that a type of few bits has; none of others.
MaybeAffine IndexRanges::any_of(DType type) {
  if (!is_integer(type) || gasell::size_of(type) > 2) return {};
  const int bits = 8 * gasell::size_of(type) - is_signed(type);
  const auto one = [](int64_t bound) { return std::vector<Affine>{{constant_i64(bound), {}}}; };
  return atom(one(is_signed(type) ? -(int64_t{1} << bits) : 0), one((int64_t{1} << bits) - 1));
}

/// Of i64, where at least one operand changes.
MaybeAffine IndexRanges::operation(const Expr& e, const std::vector<Affine>& args) {
  const ExprRef minus_one = constant_i64(-1);
  // A result between the least of some values and the largest of some.
  const auto between = [this](const std::vector<Affine>& values, const auto& lower, const auto& upper) -> MaybeAffine {
    std::optional<ExprRef> low, high;
    for (const Affine& a : values) {
      const auto l = least(a), h = largest(a);
      if (!l || !h) return {};
      low = low ? op(ScalarOp::min, {*low, *l}) : *l;
      high = high ? op(ScalarOp::max, {*high, *h}) : *h;
    }
    return atom(lower(*low), upper(*high));
  };
  const auto one = [](const ExprRef& bound) { return std::vector<Affine>{{bound, {}}}; };
  switch (e.op) {
    case ScalarOp::add: return plus(args[0], args[1]);
    case ScalarOp::sub: return plus(args[0], times(args[1], minus_one));
    case ScalarOp::neg: return times(args[0], minus_one);
    case ScalarOp::mul:
      if (args[1].terms.empty()) return times(args[0], args[1].constant);
      return args[0].terms.empty() ? times(args[1], args[0].constant) : MaybeAffine{};
    case ScalarOp::min: return between(args, one, [&](const ExprRef&) { return args; });
    case ScalarOp::max: return between(args, [&](const ExprRef&) { return args; }, one);
    case ScalarOp::select: {
      const MaybeAffine result = between({args[1], args[2]}, one, one);
      if (result) atoms_.back().other = {args[1], args[2]};
      return result;
    }
    case ScalarOp::floordiv: {
      const ExprRef& divisor = args[1].constant;
      if (!args[1].terms.empty() || !is_constant(divisor) || divisor->value.i <= 0) return {};
      const auto quotient = [&](const ExprRef& bound) { return one(bound / divisor); };
      const MaybeAffine result = between({args[0]}, quotient, quotient);
      if (result) atoms_.back().other = {args[0]};
      return result;
    }
    case ScalarOp::mod: {
      const ExprRef& divisor = args[1].constant;
      if (!args[1].terms.empty() || (is_constant(divisor) && divisor->value.i <= 0)) return {};
      const Affine result = atom(one(constant_i64(0)), one(divisor - constant_i64(1)));
      if (!is_constant(divisor)) atoms_.back().condition = op(ScalarOp::gt, {divisor, constant_i64(0)});
      return result;
    }
    case ScalarOp::bit_and:
      for (const Affine& mask : args)
        if (mask.terms.empty() && is_constant(mask.constant) && mask.constant->value.i >= 0)
          return atom(one(constant_i64(0)), one(mask.constant));
      return {};
    default: return {};
  }
}

std::optional<ExprRef> IndexRanges::extreme(const Affine& a, bool up) {
  int budget = kMostSteps;
  return extreme(a, up, budget);
}

/// Takes the youngest atom's bounds for it: those are of older ones.
std::optional<ExprRef> IndexRanges::extreme(const Affine& a, bool up, int& budget) const {
  if (--budget < 0) return {};
  if (a.terms.empty()) return a.constant;
  const auto& [number, coefficient] = *a.terms.rbegin();
  Affine rest = a;
  rest.terms.erase(number);
  // All bounds hold, so the tightest does.
  const auto with = [&, number = number, coefficient = coefficient](bool upper) -> std::optional<ExprRef> {
    std::optional<ExprRef> tightest;
    for (const Affine& bound : upper ? atoms_[static_cast<size_t>(number)].upper : atoms_[static_cast<size_t>(number)].lower) {
      const auto e = extreme(plus(rest, times(bound, coefficient)), up, budget);
      if (!e) return {};
      tightest = tightest ? op(up ? ScalarOp::min : ScalarOp::max, {*tightest, *e}) : *e;
    }
    return tightest;
  };
  if (is_constant(coefficient)) return with(up == (coefficient->value.i > 0));
  const auto first = with(false), second = with(true);
  if (!first || !second) return {};
  return op(up ? ScalarOp::max : ScalarOp::min, {*first, *second});
}

double IndexRanges::magnitude(const Affine& a, double leaf) const {
  double sum = expression_magnitude(a.constant, leaf);
  for (const auto& [number, coefficient] : a.terms) sum += expression_magnitude(coefficient, leaf) * atom_magnitude(number, leaf);
  return sum;
}

double IndexRanges::atom_magnitude(int number, double leaf) const {
  const Atom& atom = atoms_[static_cast<size_t>(number)];
  double result = 1;
  for (const auto* values : {&atom.lower, &atom.upper, &atom.other})
    for (const Affine& a : *values) result = std::max(result, magnitude(a, leaf));
  return result;
}

void IndexRanges::collect(const Affine& a, std::map<std::string, ExprRef>& leaves, std::map<std::string, ExprRef>& conditions) const {
  collect_leaves(a.constant, leaves);
  for (const auto& [number, coefficient] : a.terms) {
    collect_leaves(coefficient, leaves);
    const Atom& atom = atoms_[static_cast<size_t>(number)];
    if (atom.condition) conditions.emplace(print(atom.condition), atom.condition);
    for (const auto* values : {&atom.lower, &atom.upper, &atom.other})
      for (const Affine& bound : *values) collect(bound, leaves, conditions);
  }
}

}  // namespace gasell::ir
