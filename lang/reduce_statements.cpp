#include <fmt/core.h>

#include "lang/ast_visit.h"
#include "lang/class_definition.h"
#include "lang/reductions.h"

namespace gasell::syntax {

using namespace ast;

namespace {

template <class Node>
void push_stmt(Builder& b, Span span, Node node) {
  b.push(span, std::make_shared<Stmt>(Stmt{span, std::move(node)}));
}

const std::string& token_text(const Item& item) { return std::get<Token>(item.value).text; }
ExprRef expr_or_null(Item& item) { return is_expr(item) ? std::move(expr_of(item)) : nullptr; }
Body body_of(Item& item) { return std::move(std::get<Body>(item.value)); }

BinaryOp augmented_op(std::string_view text) {
  constexpr std::pair<std::string_view, BinaryOp> kOps[] = {
      {"+=", BinaryOp::add},       {"-=", BinaryOp::sub},     {"*=", BinaryOp::mul},     {"/=", BinaryOp::div},
      {"//=", BinaryOp::floordiv}, {"%=", BinaryOp::mod},     {"**=", BinaryOp::pow},    {"@=", BinaryOp::matmul},
      {"<<=", BinaryOp::lshift},   {">>=", BinaryOp::rshift}, {"&=", BinaryOp::bit_and}, {"|=", BinaryOp::bit_or},
      {"^=", BinaryOp::bit_xor},
  };
  for (const auto& [name, op] : kOps)
    if (name == text) return op;
  return BinaryOp::add;
}

/// Kinds of expression after which a single '=' was probably meant as '=='.
bool looks_compared(const Expr& e) {
  return std::visit(
      Overloaded{[](const Call&) { return true; }, [](const Binary&) { return true; }, [](const IntLiteral&) { return true; },
                 [](const FloatLiteral&) { return true; }, [](const StringLiteral&) { return true; },
                 [](const BigIntLiteral&) { return true; }, [](const BytesLiteral&) { return true; }, [](const FString&) { return true; },
                 [](const Dict&) { return true; }, [](const Set&) { return true; }, [](const EllipsisLiteral&) { return true; },
                 [](const NamedExpr&) { return true; }, [](const Unary& n) { return n.op != UnaryOp::logical_not; },
                 [](const Comprehension& n) { return n.kind != ComprehensionKind::generator; }, [](const auto&) { return false; }},
      e.node);
}

/// `f(x) = 1`, `a, f(x) = 1`: what stands right before the '='.
void check_not_compared(const Builder& b, const Item& target) {
  const Expr* last = std::get<ExprRef>(target.value).get();
  if (const auto* tuple = std::get_if<Tuple>(&last->node); tuple && b.source()->text()[target.span.begin] != '(' && !tuple->items.empty())
    last = tuple->items.back().get();
  if (looks_compared(*last))
    fail_at(b.source(), last->span, fmt::format("cannot assign to {} here. Maybe you meant '==' instead of '='?", kind_name(*last)));
}

}  // namespace

void make_expression_statement(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  if (items.size() == 1) return push_stmt(b, span, ExprStmt{std::move(expr_of(items[0]))});
  const std::string& op = token_text(items[1]);
  if (op == ":") {
    check_target(b, *expr_of(items[0]), TargetUse::ann_assign);
    return push_stmt(
        b, span,
        AnnAssign{std::move(expr_of(items[0])), std::move(expr_of(items[2])), items.size() > 3 ? expr_or_null(items[4]) : nullptr});
  }
  if (op != "=") {
    check_target(b, *expr_of(items[0]), TargetUse::aug_assign);
    return push_stmt(b, span, AugAssign{std::move(expr_of(items[0])), augmented_op(op), std::move(expr_of(items[2]))});
  }
  Assign assign;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    const Expr& target = *expr_of(items[i]);
    if (items.size() == 3) check_not_compared(b, items[i]);
    check_target(b, target, TargetUse::assign);
    assign.targets.push_back(std::move(expr_of(items[i])));
  }
  assign.value = std::move(expr_of(items.back()));
  push_stmt(b, span, std::move(assign));
}

void make_return(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  push_stmt(b, span, Return{expr_or_null(items[0])});
}

void make_word_statement(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  const std::string& word = token_text(items[0]);
  if (word == "pass") return push_stmt(b, span, Pass{});
  if (word == "break") return push_stmt(b, span, Break{});
  push_stmt(b, span, Continue{});
}

void make_raise(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  push_stmt(b, span, Raise{items.empty() ? nullptr : expr_or_null(items[0]), items.size() > 1 ? expr_or_null(items[1]) : nullptr});
}

void make_assert(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  push_stmt(b, span, Assert{std::move(expr_of(items[0])), items.size() > 1 ? expr_or_null(items[1]) : nullptr});
}

void make_delete(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  Delete del;
  for (Item& item : items) {
    if (!is_expr(item)) continue;
    check_target(b, *expr_of(item), TargetUse::del);
    del.targets.push_back(std::move(expr_of(item)));
  }
  push_stmt(b, span, std::move(del));
}

void make_global(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  std::vector<std::string> names;
  for (size_t i = 1; i < items.size(); ++i) names.push_back(token_text(items[i]));
  if (token_text(items[0]) == "global") return push_stmt(b, span, Global{std::move(names)});
  push_stmt(b, span, Nonlocal{std::move(names)});
}

void make_dotted_name(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  std::string name = token_text(items[0]);
  for (size_t i = 1; i < items.size(); ++i) name += "." + token_text(items[i]);
  b.push(span, Token{std::move(name)});
}

void make_import_name(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  b.push(span, ImportName{token_text(items[0]), items.size() > 1 ? token_text(items[1]) : std::string(), span, {}});
}

void make_import(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  Import import;
  for (Item& item : items) import.names.push_back(std::move(std::get<ImportName>(item.value)));
  push_stmt(b, span, std::move(import));
}

void make_import_from(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  ImportFrom import{token_text(items[0]), {}};
  for (size_t i = 1; i < items.size(); ++i) {
    if (is_token(items[i], ",")) {
      if (b.source()->text()[span.end - 1] != ')')
        fail_at(b.source(), items[i].span, "trailing comma not allowed without surrounding parentheses");
      continue;
    }
    import.names.push_back(std::move(std::get<ImportName>(items[i].value)));
  }
  push_stmt(b, span, std::move(import));
}

void make_if(Builder& b, size_t first, Span span) {
  Items items = b.take(first);  // test, body, then {"elif", test, body}, then perhaps "else", body
  Body orelse;
  size_t end = items.size();
  if (end >= 4 && is_token(items[end - 2], "else")) {
    orelse = body_of(items[end - 1]);
    end -= 2;
  }
  for (; end > 2; end -= 3) {
    const Span elif{items[end - 3].span.begin, span.end};
    auto inner = std::make_shared<Stmt>(Stmt{elif, If{std::move(expr_of(items[end - 2])), body_of(items[end - 1]), std::move(orelse)}});
    orelse.clear();
    orelse.push_back(std::move(inner));
  }
  push_stmt(b, span, If{std::move(expr_of(items[0])), body_of(items[1]), std::move(orelse)});
}

void make_while(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  push_stmt(b, span, While{std::move(expr_of(items[0])), body_of(items[1]), items.size() > 2 ? body_of(items[3]) : Body{}});
}

void make_for(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  check_target(b, *expr_of(items[0]), TargetUse::for_loop);
  push_stmt(
      b, span,
      For{std::move(expr_of(items[0])), std::move(expr_of(items[1])), body_of(items[2]), items.size() > 3 ? body_of(items[4]) : Body{}});
}

void make_with_item(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  WithItem item{std::move(expr_of(items[0])), items.size() > 1 ? std::move(expr_of(items[1])) : nullptr};
  if (item.target) check_target(b, *item.target, TargetUse::with_item);
  b.push(span, std::move(item));
}

void make_with(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  With with;
  for (Item& item : items)
    if (auto* one = std::get_if<WithItem>(&item.value)) with.items.push_back(std::move(*one));
  with.body = body_of(items.back());
  push_stmt(b, span, std::move(with));
}

void make_handler(Builder& b, size_t first, Span span) {
  Items items = b.take(first);  // type or missing, perhaps a name, body
  ExceptHandler handler;
  handler.type = expr_or_null(items[0]);
  if (items.size() > 2) handler.name = token_text(items[1]);
  handler.span = span;
  handler.body = body_of(items.back());
  b.push(span, std::move(handler));
}

void make_try(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  Try result;
  result.body = body_of(items[0]);
  for (size_t i = 1; i < items.size(); ++i) {
    if (auto* handler = std::get_if<ExceptHandler>(&items[i].value)) {
      if (!result.handlers.empty() && !result.handlers.back().type) {
        const uint32_t at = result.handlers.back().span.begin;
        fail_at(b.source(), {at, at + 6}, "default 'except:' must be last");
      }
      result.handlers.push_back(std::move(*handler));
    } else if (is_token(items[i], "else")) {
      result.orelse = body_of(items[++i]);
    } else {
      result.finalbody = body_of(items[++i]);
    }
  }
  push_stmt(b, span, std::move(result));
}

void make_function(Builder& b, size_t first, Span span) {
  Items items = b.take(first);  // name, parameters, return annotation or missing, body
  FunctionDef def;
  def.name = token_text(items[0]);
  def.name_span = items[0].span;
  def.params = make_parameters(b, items.begin() + 1, items.end() - 2);
  def.returns = expr_or_null(items[items.size() - 2]);
  def.body = body_of(items.back());
  push_stmt(b, span, std::move(def));
}

void make_class(Builder& b, size_t first, Span span) {
  Items items = b.take(first);  // name, bases and keywords, body
  FunctionDef def;
  def.name = token_text(items[0]);
  def.name_span = items[0].span;
  Call maker{std::make_shared<Expr>(Expr{items[0].span, Name{kClassMaker, {}}}), {}, {}};
  for (size_t i = 1; i + 1 < items.size(); ++i) {
    if (auto* keyword = std::get_if<Keyword>(&items[i].value)) {
      maker.keywords.push_back(std::move(*keyword));
    } else if (!maker.keywords.empty()) {
      fail_at(b.source(), items[i].span, "positional argument follows keyword argument");
    } else {
      maker.args.push_back(std::move(expr_of(items[i])));
    }
  }
  def.decorators.push_back(std::make_shared<Expr>(Expr{items[0].span, std::move(maker)}));
  def.body = body_of(items.back());
  push_stmt(b, span, std::move(def));
}

void make_decorated(Builder& b, size_t first, Span) {
  Items items = b.take(first);
  auto& def = std::get<FunctionDef>(std::get<StmtRef>(items.back().value)->node);
  std::vector<ExprRef> decorators;
  for (size_t i = 0; i + 1 < items.size(); ++i) decorators.push_back(std::move(expr_of(items[i])));
  def.decorators.insert(def.decorators.begin(), decorators.begin(), decorators.end());
  b.stack.push_back(std::move(items.back()));
}

void make_body(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  Body body;
  body.reserve(items.size());
  for (Item& item : items) body.push_back(std::move(std::get<StmtRef>(item.value)));
  b.push(span, std::move(body));
}

}  // namespace gasell::syntax
