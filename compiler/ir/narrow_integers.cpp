#include "compiler/ir/narrow_integers.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

/// Least and largest value. Both are far from what could overflow in the computations here.
struct Range {
  int64_t low, high;
};
constexpr int64_t kFar = int64_t{1} << 40;

Range operator|(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }
bool contains(Range outer, Range inner) { return outer.low <= inner.low && inner.high <= outer.high; }

bool is_whole(DType t) { return is_integer(t) || t == DType::boolean; }

/// The values of a type; those of 64 bits as far as they are followed.
Range values_of(DType t) {
  if (t == DType::boolean) return {0, 1};
  const int bits = gasell::size_of(t) * 8;
  if (bits == 64) return {is_signed(t) ? -kFar : 0, kFar};
  return is_signed(t) ? Range{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1} : Range{0, (int64_t{1} << bits) - 1};
}

/// An integer expression whose value is that of exact arithmetic.
struct Exact {
  Range value;
  Range all;  // of it and all its parts
  int operations = 0;
  bool leaf = true;  // its parts are not looked at
};
using MaybeExact = std::optional<Exact>;

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/// The range of an operation's result; none where it is not known what it is. Operands are within ±kFar, which products are kept below
/// first.
std::optional<Range> result_range(ScalarOp op, const std::vector<Range>& args) {
  const Range a = args[0], b = args.size() > 1 ? args[1] : a;
  const bool constant = b.low == b.high;
  const auto small = [](Range r) { return contains({-(int64_t{1} << 31), int64_t{1} << 31}, r); };
  const bool positive = a.low >= 0 && b.low >= 0;
  switch (op) {
    case ScalarOp::add: return Range{a.low + b.low, a.high + b.high};
    case ScalarOp::sub: return Range{a.low - b.high, a.high - b.low};
    case ScalarOp::neg: return Range{-a.high, -a.low};
    case ScalarOp::mul: {
      if (!small(a) || !small(b)) return {};
      const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return Range{low, high};
    }
    case ScalarOp::abs: return Range{a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, std::max(-a.low, a.high)};
    case ScalarOp::min: return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
    case ScalarOp::max: return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
    case ScalarOp::select: return b | args[2];
    case ScalarOp::floordiv:
      if (!constant || b.low <= 0) return {};
      return Range{floor_quotient(a.low, b.low), floor_quotient(a.high, b.low)};
    case ScalarOp::mod:
      if (!constant || b.low <= 0) return {};
      return Range{0, b.low - 1};
    case ScalarOp::shl:
      if (!constant || b.low < 0 || b.low > 20 || !small(a)) return {};
      return Range{a.low * (int64_t{1} << b.low), a.high * (int64_t{1} << b.low)};
    case ScalarOp::shr:
      if (!constant || b.low < 0 || b.low > 63) return {};
      return Range{a.low >> b.low, a.high >> b.low};
    case ScalarOp::bit_and:
      if (a.low >= 0 || b.low >= 0) return Range{0, a.low >= 0 && b.low >= 0 ? std::min(a.high, b.high) : a.low >= 0 ? a.high : b.high};
      [[fallthrough]];
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor: {
      // No more bits than the operands have.
      const int64_t most = std::max({a.high, b.high, -(a.low + 1), -(b.low + 1)});
      const auto end = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(most) + 1));
      return Range{positive ? 0 : -end, end - 1};
    }
    default: return {};
  }
}

bool is_comparison(ScalarOp op) {
  switch (op) {
    case ScalarOp::eq:
    case ScalarOp::ne:
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge: return true;
    default: return false;
  }
}

class Narrowing {
 public:
  explicit Narrowing(DType least) : least_(least) {}

  Body body(const Body& statements) {
    Body result;
    for (const StmtRef& s : statements) {
      Stmt changed = *s;
      switch (s->kind) {
        case StmtKind::let:
        case StmtKind::var:
        case StmtKind::assign:
        case StmtKind::store:
        case StmtKind::if_:
        case StmtKind::while_: changed.value = expression(s->value); break;
        default: break;
      }
      const MaybeExact value = s->kind == StmtKind::let && is_whole(s->type) ? exact(s->value) : MaybeExact{};
      known_.clear();
      if (value)
        ranges_[s->name] = value->value;
      else if (s->kind != StmtKind::store && s->kind != StmtKind::assign)
        ranges_.erase(s->name);
      changed.body = body(s->body);
      changed.orelse = body(s->orelse);
      result.push_back(make_statement(std::move(changed)));
    }
    return result;
  }

 private:
  /// What it is, computed in narrower types where that is possible.
  ExprRef expression(const ExprRef& e) {
    if (e->kind == ExprKind::op && is_integer(e->type))
      if (const auto type = narrower(e)) return cast(narrow(e, *type), e->type);
    if (e->kind == ExprKind::cast && is_integer(e->args[0]->type))
      if (const auto type = narrower(e->args[0])) return cast(narrow(e->args[0], *type), e->type);
    if (e->kind == ExprKind::op && is_comparison(e->op) && is_integer(e->args[0]->type)) {
      const MaybeExact a = exact(e->args[0]), b = exact(e->args[1]);
      if (a && b && (a->operations || b->operations))
        if (const auto type = holding(a->all | b->all, e->args[0]->type))
          return op(e->op, {narrow(e->args[0], *type), narrow(e->args[1], *type)});
    }
    if (e->kind == ExprKind::load || e->args.empty()) return e;
    Expr changed = *e;
    for (ExprRef& a : changed.args) a = expression(a);
    if (changed.args == e->args) return e;
    switch (e->kind) {
      case ExprKind::cast: return cast(changed.args[0], e->type);
      case ExprKind::bitcast: return bitcast(changed.args[0], e->type);
      default: return op(e->op, std::move(changed.args));
    }
  }

  /// The type to compute e in, where that is another than its own.
  std::optional<DType> narrower(const ExprRef& e) {
    const MaybeExact known = exact(e);
    return known && known->operations ? holding(known->all, e->type) : std::optional<DType>{};
  }
  std::optional<DType> holding(Range range, DType below) const {
    for (const DType t : {DType::i16, DType::i32})
      if (gasell::size_of(t) >= gasell::size_of(least_) && gasell::size_of(t) < gasell::size_of(below) && contains(values_of(t), range))
        return t;
    return {};
  }

  MaybeExact exact(const ExprRef& e) {
    if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
    MaybeExact result;
    if (is_whole(e->type)) {
      result = compute(e);
      if (result && !contains({-kFar, kFar}, result->all)) result.reset();
      if (!result && gasell::size_of(e->type) <= 4) result = Exact{values_of(e->type), values_of(e->type)};
    }
    return known_[e.get()] = result;
  }

  MaybeExact compute(const ExprRef& e) {
    const auto leaf = [](Range r) { return Exact{r, r}; };
    switch (e->kind) {
      case ExprKind::constant:
        if (!contains(values_of(e->type), {e->value.i, e->value.i})) return {};
        return leaf({e->value.i, e->value.i});
      case ExprKind::variable: {
        const auto found = ranges_.find(e->name);
        return found == ranges_.end() ? MaybeExact{} : leaf(found->second);
      }
      case ExprKind::cast: {
        if (e->type == DType::boolean) return {};
        MaybeExact value = exact(e->args[0]);
        if (!value || !contains(values_of(e->type), value->value)) return {};
        value->leaf = false;
        return value;
      }
      case ExprKind::op: {
        if (!is_integer(e->type)) return {};
        std::vector<Range> ranges;
        Exact result{{}, {kFar, -kFar}, 1, false};
        for (const ExprRef& a : e->args) {
          if (e->op == ScalarOp::select && &a == &e->args[0]) {
            ranges.push_back({0, 1});
            continue;
          }
          const MaybeExact arg = exact(a);
          if (!arg) return {};
          ranges.push_back(arg->value);
          result.all = result.all | arg->all;
          result.operations += arg->operations;
        }
        const auto value = result_range(e->op, ranges);
        if (!value || !contains(values_of(e->type), *value)) return {};
        result.value = *value;
        result.all = result.all | *value;
        return result;
      }
      default: return {};
    }
  }

  /// The same number in a type that holds it and all its parts.
  ExprRef narrow(const ExprRef& e, DType type) {
    const bool leaf = exact(e)->leaf;
    if (e->kind == ExprKind::cast && !leaf) return narrow(e->args[0], type);
    if (leaf) return cast(expression(e), type);
    std::vector<ExprRef> args;
    for (const ExprRef& a : e->args) args.push_back(e->op == ScalarOp::select && &a == &e->args[0] ? expression(a) : narrow(a, type));
    // Vectors of numbers of 16 bits divide by one product's upper half; a thread's i32 has no such.
    if (e->op == ScalarOp::floordiv && type == DType::i32 && least_ == DType::i32)
      if (ExprRef product = by_product(args[0], exact(e->args[0])->value, exact(e->args[1])->value.low)) return product;
    return op(e->op, std::move(args));
  }

  /// floor(x / d) = (x * m + c) >> s for all x of the range, in 32 bits: m * d is a little more than 2^s, by `excess`, which no x makes a
  /// whole m of (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994); c makes negative numbers, counted
  /// from a multiple of d below them, positive ones. Null: the range is too large.
  static ExprRef by_product(const ExprRef& x, Range range, int64_t d) {
    const auto i32 = [](int64_t v) { return constant(Scalar::of_int(v).cast(DType::i32)); };
    if (std::has_single_bit(static_cast<uint64_t>(d))) return op(ScalarOp::shr, {x, i32(std::countr_zero(static_cast<uint64_t>(d)))});
    const int64_t below = range.low < 0 ? (-range.low + d - 1) / d : 0;  // multiples of d
    // A quotient that is a whole byte, or two, of the product is taken out of it at once.
    for (const int shift : {16, 24, 8, 12, 14, 18, 20, 22}) {
      const int64_t m = (int64_t{1} << shift) / d + 1, excess = m * d - (int64_t{1} << shift);
      const int64_t largest = std::max(std::abs(range.low), std::abs(range.high)) * m + below * excess;
      if ((range.high + below * d) * excess >= (int64_t{1} << shift) || largest >= int64_t{1} << 31) continue;
      return op(ScalarOp::shr, {op(ScalarOp::add, {op(ScalarOp::mul, {x, i32(m)}), i32(below * excess)}), i32(shift)});
    }
    return nullptr;
  }

  const DType least_;
  std::unordered_map<std::string, Range> ranges_;      // of lets
  std::unordered_map<const Expr*, MaybeExact> known_;  // of the parts of one statement
};

}  // namespace

Kernel narrow_integers(const Kernel& kernel, DType least) { return with_body(kernel, Narrowing(least).body(kernel.body)); }

}  // namespace gasell::ir
