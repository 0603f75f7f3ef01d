// match and case: the patterns are read as expressions, and checked here for being patterns.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "lang/ast_visit.h"
#include "lang/marked_calls.h"
#include "lang/parser.h"
#include "lang/reductions.h"

namespace gasell::syntax {

using namespace ast;

namespace {

bool is_wildcard(const Expr& e) {
  const auto* name = std::get_if<Name>(&e.node);
  return name && name->id == "_";
}

/// The alternatives of `a | b | c`, or the pattern itself.
std::vector<const Expr*> alternatives(const Expr& e) {
  std::vector<const Expr*> result;
  const Expr* rest = &e;
  for (const Binary* n = nullptr; (n = std::get_if<Binary>(&rest->node)) && n->op == BinaryOp::bit_or; rest = n->left.get())
    result.push_back(n->right.get());
  result.push_back(rest);
  std::reverse(result.begin(), result.end());
  return result;
}

/// The name or wildcard that makes a pattern match everything, or null.
const Expr* irrefutable(const Expr& e) {
  if (std::holds_alternative<Name>(e.node)) return &e;
  if (const auto* named = std::get_if<NamedExpr>(&e.node)) return irrefutable(*named->value);
  const std::vector<const Expr*> all = alternatives(e);
  return all.size() > 1 ? irrefutable(*all.back()) : nullptr;
}

class PatternCheck {
 public:
  explicit PatternCheck(const Builder& b) : b_(b) {}

  void check(const Expr& e) {
    std::visit(Overloaded{[&](const Name& n) { bind(n.id, e.span); }, [&](const NoneLiteral&) {}, [&](const BoolLiteral&) {},
                          [&](const IntLiteral&) {}, [&](const FloatLiteral&) {}, [&](const StringLiteral&) {},
                          [&](const FString&) { fail(e, "patterns may only match literals and attribute lookups"); },
                          [&](const Attribute&) { dotted(e); },
                          [&](const Unary& n) {
                            if (n.op != UnaryOp::neg || !is_number(*n.operand)) fail(e, "invalid syntax");
                          },
                          [&](const Binary& n) { binary(e, n); }, [&](const Tuple& n) { sequence(n.items); },
                          [&](const List& n) { sequence(n.items); }, [&](const Dict& n) { mapping(n); },
                          [&](const Call& n) { class_pattern(e, n); },
                          [&](const NamedExpr& n) {
                            check(*n.value);
                            if (const Expr* all = irrefutable(*n.value)) unreachable(*all);
                            bind(std::get<Name>(n.target->node).id, n.target->span);
                          },
                          [&](const auto&) { fail(e, "invalid syntax"); }},
               e.node);
  }

  /// Nothing that comes after this pattern is ever tried.
  [[noreturn]] void unreachable(const Expr& e) const {
    const std::string& name = std::get<Name>(e.node).id;
    fail(e, name == "_" ? "wildcard makes remaining patterns unreachable"
                        : fmt::format("name capture '{}' makes remaining patterns unreachable", name));
  }

 private:
  [[noreturn]] void fail(const Expr& e, std::string message) const { fail_at(b_.source(), e.span, std::move(message)); }

  void bind(const std::string& name, Span span) {
    if (name == "_") return;
    if (!names_.insert(name).second) fail_at(b_.source(), span, fmt::format("multiple assignments to name '{}' in pattern", name));
  }

  static bool is_number(const Expr& e) {
    return std::holds_alternative<IntLiteral>(e.node) || std::holds_alternative<FloatLiteral>(e.node);
  }

  void dotted(const Expr& e) const {
    const Expr* owner = &e;
    while (const auto* attribute = std::get_if<Attribute>(&owner->node)) owner = attribute->value.get();
    if (!std::holds_alternative<Name>(owner->node)) fail(e, "invalid syntax");
  }

  void binary(const Expr& e, const Binary& n) {
    if (n.op == BinaryOp::bit_or) return alternatives_agree(e);
    const auto* left = &*n.left;
    if (const auto* negative = std::get_if<Unary>(&left->node)) left = negative->operand.get();
    if ((n.op != BinaryOp::add && n.op != BinaryOp::sub) || !is_number(*left) || !is_number(*n.right)) fail(e, "invalid syntax");
    const auto* real = std::get_if<FloatLiteral>(&left->node);
    const auto* imaginary = std::get_if<FloatLiteral>(&n.right->node);
    if (real && real->imaginary) fail(*n.left, "real number required in complex literal");
    if (!imaginary || !imaginary->imaginary) fail(*n.right, "imaginary number required in complex literal");
  }

  void alternatives_agree(const Expr& e) {
    const std::set<std::string> before = names_;
    std::set<std::string> first;
    const std::vector<const Expr*> all = alternatives(e);
    for (size_t i = 0; i < all.size(); ++i) {
      names_ = before;
      check(*all[i]);
      if (i + 1 < all.size())
        if (const Expr* any = irrefutable(*all[i])) unreachable(*any);
      if (i == 0)
        first = names_;
      else if (names_ != first)
        fail(e, "alternative patterns bind different names");
    }
  }

  void sequence(const std::vector<ExprRef>& items) {
    bool starred = false;
    for (const ExprRef& item : items) {
      const auto* star = std::get_if<Starred>(&item->node);
      if (!star) {
        check(*item);
        continue;
      }
      if (starred) fail(*item, "multiple starred names in sequence pattern");
      starred = true;
      if (!std::holds_alternative<Name>(star->value->node)) fail(*item, "invalid syntax");
      check(*star->value);
    }
  }

  void mapping(const Dict& n) {
    std::set<std::string> keys;
    for (const auto& [key, value] : n.items) {
      if (!key) {
        if (&value != &n.items.back().second || !std::holds_alternative<Name>(value->node) || is_wildcard(*value))
          fail(*value, "invalid syntax");
      } else if (std::holds_alternative<Name>(key->node)) {
        fail(*key, "mapping pattern keys may only match literals and attribute lookups");
      } else {
        if (!std::holds_alternative<Attribute>(key->node)) {
          PatternCheck(b_).check(*key);
          if (std::holds_alternative<Tuple>(key->node) || std::holds_alternative<List>(key->node) ||
              std::holds_alternative<Dict>(key->node))
            fail(*key, "invalid syntax");
          if (std::string text = print(*key); !keys.insert(text).second) {
            if (const auto* literal = std::get_if<StringLiteral>(&key->node)) text = "'" + literal->value + "'";
            fail(*key, fmt::format("mapping pattern checks duplicate key ({})", text));
          }
        } else {
          dotted(*key);
        }
      }
      check(*value);
    }
  }

  void class_pattern(const Expr& e, const Call& n) {
    if (yield_call(e)) fail(e, "invalid syntax");
    if (!std::holds_alternative<Name>(n.callee->node)) dotted(*n.callee);
    for (const ExprRef& argument : n.args) check(*argument);
    for (const Keyword& keyword : n.keywords) {
      if (keyword.name.empty()) fail(*keyword.value, "invalid syntax");
      check(*keyword.value);
    }
  }

  const Builder& b_;
  std::set<std::string> names_;
};

}  // namespace

void make_named_pattern(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  const std::string& name = std::get<Token>(items[1].value).text;
  if (name == "_") fail_at(b.source(), items[1].span, "cannot use '_' as a target");
  b.push(span, make_expr(span, NamedExpr{make_expr(items[1].span, Name{name, {}}), std::move(expr_of(items[0]))}));
}

void make_patterns(Builder& b, size_t first, Span span) {
  if (b.stack.size() > first + 1) make_target_list(b, first, span);
  if (std::holds_alternative<Starred>(expr_of(b.stack.back())->node)) fail_at(b.source(), span, "invalid syntax");
  PatternCheck(b).check(*expr_of(b.stack.back()));
}

void make_case(Builder& b, size_t first, Span span) {
  Items items = b.take(first);  // pattern, guard or Missing, body
  std::vector<ExprRef> arguments{std::move(expr_of(items[0]))};
  Span head = items[0].span;
  if (is_expr(items[1])) {
    head = join(head, items[1].span);
    arguments.push_back(std::move(expr_of(items[1])));
  }
  If one{make_marked_call(kCase, head, std::move(arguments)), std::move(std::get<Body>(items[2].value)), {}};
  b.push(span, std::make_shared<Stmt>(Stmt{span, std::move(one)}));
}

void make_match(Builder& b, size_t first, Span span) {
  Items items = b.take(first);  // subject, cases
  Body cases;
  for (size_t i = 1; i < items.size(); ++i) {
    cases.push_back(std::move(std::get<StmtRef>(items[i].value)));
    const Call& one = *case_call(std::get<If>(cases.back()->node));
    const Expr* all = one.args.size() == 1 && i + 1 < items.size() ? irrefutable(*one.args[0]) : nullptr;
    if (all) PatternCheck(b).unreachable(*all);
  }
  const Span of_subject = items[0].span;
  If match{make_marked_call(kMatch, of_subject, {std::move(expr_of(items[0]))}), std::move(cases), {}};
  b.push(span, std::make_shared<Stmt>(Stmt{span, std::move(match)}));
}

}  // namespace gasell::syntax
