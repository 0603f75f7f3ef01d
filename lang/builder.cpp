#include "lang/builder.h"

#include <fmt/core.h>

#include <array>

#include "lang/ast_visit.h"
#include "lang/characters.h"
#include "lang/literals.h"
#include "lang/marked_calls.h"
#include "lang/parser.h"

namespace gasell::syntax {

using namespace ast;

Span Builder::span(const char* first, const char* last) const {
  while (last > first && static_cast<unsigned char>(last[-1]) <= ' ') --last;
  const uint32_t start = offset(first);
  return {start, last > first ? offset(last - 1) + 1 : start};
}

Span Builder::token_span(const char* at) const {
  // The end of a block or of the text shows at the end of its last line.
  const char* line_end = at;
  while (line_end > begin() && (line_end >= end() || *line_end == kDedentMark)) --line_end;
  if (line_end < end() && *line_end == kNewlineMark) at = line_end;
  const uint32_t start = offset(at);
  if (at >= end() || static_cast<unsigned char>(*at) <= ' ') return {start, start};
  const std::string_view rest(at, static_cast<size_t>(end() - at));
  if (string_prefix_length(rest, 0) >= 0) return {start, scan_string(source(), start, static_cast<uint32_t>(source()->text().size())).end};
  if (const auto name = name_length(rest, 0)) return {start, start + static_cast<uint32_t>(name)};
  if (const auto number = is_digit(*at) || *at == '.' ? scan_number(source(), start) : 0) return {start, start + number};
  return {start, start + static_cast<uint32_t>(std::max<size_t>(1, operator_length(at, end())))};
}

Items Builder::take(size_t first) {
  Items items(std::make_move_iterator(stack.begin() + static_cast<ptrdiff_t>(first)), std::make_move_iterator(stack.end()));
  stack.resize(first);
  return items;
}

void Builder::enter(const char* at) {
  if (++nesting > kMaxNesting) fail_at(source(), token_span(at), fmt::format("too deeply nested (more than {} levels)", kMaxNesting));
}

size_t operator_length(const char* first, const char* last) {
  const std::string_view rest(first, static_cast<size_t>(std::min<ptrdiff_t>(3, last - first)));
  for (std::string_view three : {"**=", "//=", ">>=", "<<=", "..."})
    if (rest == three) return 3;
  for (std::string_view two :
       {"**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":="})
    if (rest.substr(0, 2) == two) return 2;
  return !rest.empty() && std::string_view("+-*/%@&|^~<>()[]{},:;.=!").find(rest[0]) != std::string_view::npos ? 1 : 0;
}

std::string kind_name(const Expr& expr) {
  return std::visit(Overloaded{[](const NoneLiteral&) { return "None"; },
                               [](const EllipsisLiteral&) { return "ellipsis"; },
                               [](const BoolLiteral& n) { return n.value ? "True" : "False"; },
                               [](const FString&) { return "f-string expression"; },
                               [](const Name&) { return "name"; },
                               [](const Tuple&) { return "tuple"; },
                               [](const List&) { return "list"; },
                               [](const Set&) { return "set display"; },
                               [](const Dict&) { return "dict literal"; },
                               [](const Unary&) { return "expression"; },
                               [](const Binary&) { return "expression"; },
                               [](const BoolChain&) { return "expression"; },
                               [](const Compare&) { return "comparison"; },
                               [](const Conditional&) { return "conditional expression"; },
                               [&](const Call&) { return yield_call(expr) ? "yield expression" : "function call"; },
                               [](const Attribute&) { return "attribute"; },
                               [](const Subscript&) { return "subscript"; },
                               [](const Starred&) { return "starred"; },
                               [](const NamedExpr&) { return "named expression"; },
                               [](const Lambda&) { return "lambda"; },
                               [](const Comprehension& n) {
                                 constexpr std::array kNames = {"list comprehension", "set comprehension", "dict comprehension",
                                                                "generator expression"};
                                 return kNames[static_cast<size_t>(n.kind)];
                               },
                               [](const auto&) { return "literal"; }},
                    expr.node);
}

namespace {

void check_part(const Builder& b, const Expr& expr, TargetUse use, bool starred_allowed) {
  if (std::holds_alternative<Name>(expr.node) || std::holds_alternative<Attribute>(expr.node) ||
      std::holds_alternative<Subscript>(expr.node))
    return;
  const std::vector<ExprRef>* items = nullptr;
  if (const auto* tuple = std::get_if<Tuple>(&expr.node)) items = &tuple->items;
  if (const auto* list = std::get_if<List>(&expr.node)) items = &list->items;
  if (items && use != TargetUse::aug_assign && use != TargetUse::ann_assign) {
    int starred = 0;
    for (const ExprRef& item : *items) {
      if (std::holds_alternative<Starred>(item->node) && ++starred == 2)
        fail_at(b.source(), item->span, "multiple starred expressions in assignment");
      check_part(b, *item, use, use != TargetUse::del);
    }
    return;
  }
  if (const auto* starred = std::get_if<Starred>(&expr.node); starred && use != TargetUse::del) {
    if (!starred_allowed) fail_at(b.source(), expr.span, "starred assignment target must be in a list or tuple");
    return check_part(b, *starred->value, use, false);
  }
  const std::string kind = kind_name(expr);
  switch (use) {
    case TargetUse::del: fail_at(b.source(), expr.span, fmt::format("cannot delete {}", kind));
    case TargetUse::aug_assign: fail_at(b.source(), expr.span, fmt::format("'{}' is an illegal expression for augmented assignment", kind));
    case TargetUse::ann_assign:
      if (items) fail_at(b.source(), expr.span, fmt::format("only single target (not {}) can be annotated", kind));
      fail_at(b.source(), expr.span, "illegal target for annotation");
    default: fail_at(b.source(), expr.span, fmt::format("cannot assign to {}", kind));
  }
}

}  // namespace

void check_target(const Builder& b, const Expr& expr, TargetUse use) { check_part(b, expr, use, false); }

}  // namespace gasell::syntax
