#include "compiler/ir/hoist_checks.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/ir/index_range.h"
#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

/// Numbers that a condition is computed from are at most 2^bits large, where 2^62 is more than it can make of them: products of two, three.
constexpr int kLeafBits[] = {47, 29, 19};
constexpr int kMostStatements = 4000;  // of a nest that comes twice

bool is_nest(const Stmt& s) { return s.kind == StmtKind::loop && s.loop_kind != LoopKind::unit; }

bool has_loop(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const StmtRef& s) {
    return s->kind == StmtKind::loop || s->kind == StmtKind::while_ || has_loop(s->body) || has_loop(s->orelse);
  });
}

int count_statements(const Body& body) {
  int count = 0;
  for (const StmtRef& s : body) count += 1 + count_statements(s->body) + count_statements(s->orelse);
  return count;
}

ExprRef all(ExprRef a, const ExprRef& b) {
  if (a && a->kind == ExprKind::constant) return a->value.i ? b : a;
  if (b->kind == ExprKind::constant) return !b->value.i || !a ? b : a;
  return a ? op(ScalarOp::logical_and, {std::move(a), b}) : b;
}

/// `if condition { raise … }`.
bool is_raise_if(const Stmt& s) {
  return s.kind == StmtKind::if_ && s.orelse.empty() && s.body.size() == 1 && s.body[0]->kind == StmtKind::raise;
}

/// Whether it can be computed where it would not be: nothing is divided.
bool is_harmless(const ExprRef& e) {
  if (e->kind == ExprKind::op && (e->op == ScalarOp::floordiv || e->op == ScalarOp::mod || e->op == ScalarOp::pow)) return false;
  return std::all_of(e->args.begin(), e->args.end(), is_harmless);
}

/// The checks of one nest that one condition before it can answer for.
class Nest {
 public:
  explicit Nest(const Stmt& loop) : ranges_(loop) { statement(loop); }

  /// Numbers of checks, in the order in which they stand in the nest.
  const std::set<int>& hoisted() const { return hoisted_; }
  /// How many of them stand in innermost loops: beside the loops around those, a check costs nothing.
  size_t worth() const { return worth_; }

  ExprRef condition() const {
    ExprRef result = constant(Scalar::of_bool(true));
    for (const auto& [text, leaf] : leaves_) {
      // -2^bits <= leaf < 2^bits
      const int64_t most = int64_t{1} << leaf.bits;
      result = all(result,
                   op(ScalarOp::lt, {cast(leaf.value + constant_i64(most), DType::u64), constant(Scalar::of_int(2 * most, DType::u64))}));
    }
    for (const auto& [text, condition] : conditions_) result = all(result, condition);
    return result;
  }

 private:
  struct Leaf {
    ExprRef value;
    int bits;
  };

  void body(const Body& statements) {
    for (const StmtRef& s : statements) statement(*s);
  }

  void statement(const Stmt& s) {
    if (is_raise_if(s)) return raise_if(s);
    switch (s.kind) {
      case StmtKind::let:
      case StmtKind::var:
      case StmtKind::assign: ranges_.set(s.name, ranges_.value(s.value)); break;
      case StmtKind::call: ranges_.set(s.name, {}); break;
      case StmtKind::check: check(s); break;
      case StmtKind::loop: {
        const MaybeAffine begin = ranges_.value(s.begin), end = ranges_.value(s.end);
        MaybeAffine variable;
        if (begin && end) {
          Affine last = *end;
          last.constant = last.constant - constant_i64(1);
          variable = ranges_.atom({*begin}, {last});
        }
        ranges_.set(s.name, variable);
        [[fallthrough]];
      }
      case StmtKind::while_:
      case StmtKind::if_:
      case StmtKind::scope: {
        // Vars that loops assign have any of their values where an iteration begins; and behind all blocks.
        const auto assigned = assigned_in(s);
        const bool repeats = s.kind == StmtKind::loop || s.kind == StmtKind::while_;
        if (repeats) ranges_.forget(assigned);
        const bool around = innermost_;
        if (repeats) innermost_ = !has_loop(s.body);
        std::map<std::string, MaybeAffine> before;
        for (const std::string& name : assigned) before[name] = ranges_.known(name);
        body(s.body);
        for (const auto& [name, value] : before) ranges_.set(name, value);
        body(s.orelse);
        ranges_.forget(assigned);
        innermost_ = around;
        break;
      }
      default: break;
    }
  }

  void check(const Stmt& s) {
    const int number = checks_++;
    const MaybeAffine index = ranges_.value(s.value), extent = ranges_.value(s.end);
    const bool fixed = extent && extent->terms.empty();
    if (index && fixed && hoist(*index, *extent)) {
      hoisted_.insert(number);
      worth_ += innermost_;
      ranges_.set(s.name, index);
    } else if (fixed) {
      // Whatever comes behind it knows that the check held.
      ranges_.set(s.name, ranges_.atom({{constant_i64(0), {}}}, {{extent->constant - constant_i64(1), {}}}));
    } else {
      ranges_.set(s.name, {});
    }
  }

  /// What stays the same raises in all iterations or in none.
  void raise_if(const Stmt& s) {
    const int number = checks_++;
    const MaybeAffine condition = ranges_.value(s.value);
    if (!condition || !condition->terms.empty() || !is_harmless(condition->constant)) return;
    const ExprRef never = op(ScalarOp::logical_not, {condition->constant});
    if (never->kind == ExprKind::constant && !never->value.i) return;
    conditions_.emplace(print(never), never);
    hoisted_.insert(number);
    worth_ += innermost_;
  }

  bool hoist(const Affine& index, const Affine& extent) {
    const auto bits = std::find_if(std::begin(kLeafBits), std::end(kLeafBits), [&](int b) {
      const double leaf = std::ldexp(1.0, b), most = std::ldexp(1.0, 62);
      return ranges_.magnitude(index, leaf) < most && ranges_.magnitude(extent, leaf) < most;
    });
    const auto least = ranges_.least(index), largest = ranges_.largest(index);
    if (bits == std::end(kLeafBits) || !least || !largest) return false;
    const ExprRef inside[] = {op(ScalarOp::ge, {*least, constant_i64(0)}), op(ScalarOp::lt, {*largest, extent.constant})};
    for (const ExprRef& e : inside)
      if (e->kind == ExprKind::constant && !e->value.i) return false;
    std::map<std::string, ExprRef> leaves;
    ranges_.collect(index, leaves, conditions_);
    ranges_.collect(extent, leaves, conditions_);
    for (const auto& [text, value] : leaves) {
      Leaf& leaf = leaves_.emplace(text, Leaf{value, *bits}).first->second;
      leaf.bits = std::min(leaf.bits, *bits);
    }
    for (const ExprRef& e : inside) conditions_.emplace(print(e), e);
    return true;
  }

  IndexRanges ranges_;
  int checks_ = 0;
  bool innermost_ = false;
  size_t worth_ = 0;
  std::set<int> hoisted_;
  std::map<std::string, Leaf> leaves_;
  std::map<std::string, ExprRef> conditions_;
};

/// The statement without those of its checks; null: it was one of them.
StmtRef without(const StmtRef& s, const std::set<int>& hoisted, int& number) {
  if (s->kind == StmtKind::check) return hoisted.count(number++) ? let(s->name, s->value) : s;
  if (is_raise_if(*s)) return hoisted.count(number++) ? nullptr : s;
  if (s->body.empty() && s->orelse.empty()) return s;
  Stmt result = *s;
  for (Body* body : {&result.body, &result.orelse}) {
    for (StmtRef& inner : *body) inner = without(inner, hoisted, number);
    std::erase(*body, nullptr);
  }
  return make_statement(std::move(result));
}

Body hoist(const Body& statements);

/// How many checks versions of this statement's loops can take out of innermost ones.
size_t possible(const Stmt& s) {
  size_t inside = 0;
  for (const Body* body : {&s.body, &s.orelse})
    for (const StmtRef& inner : *body) inside += possible(*inner);
  return is_nest(s) ? std::max(Nest(s).worth(), inside) : inside;
}

StmtRef hoist(const StmtRef& s) {
  Stmt result = *s;
  if (is_nest(*s) && count_statements(s->body) <= kMostStatements) {
    const Nest nest(*s);
    size_t inside = 0;
    for (const StmtRef& inner : s->body) inside += possible(*inner);
    if (nest.worth() > 0 && nest.worth() >= inside) {
      int number = 0;
      const StmtRef fast = without(s, nest.hoisted(), number);
      const ExprRef condition = nest.condition();
      return condition->kind == ExprKind::constant ? fast : if_(condition, {fast}, {s});
    }
  }
  result.body = hoist(s->body);
  result.orelse = hoist(s->orelse);
  return make_statement(std::move(result));
}

Body hoist(const Body& statements) {
  Body result;
  for (const StmtRef& s : statements) result.push_back(hoist(s));
  return result;
}

}  // namespace

Kernel hoist_checks(const Kernel& kernel) { return kernel.function ? with_body(kernel, hoist(kernel.body)) : kernel; }

}  // namespace gasell::ir
