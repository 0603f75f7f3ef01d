// Constructs that stand in the tree as a call of a name that no text can hold, beside class statements (class_definition.h):
//   yield a            .yield(a), .yield()
//   yield from a       .yield_from(a)
//   match a:           if .match(a):
//     case P if g: …     if .case(P, g): …
// A pattern is the expression that looks like it; `P as name` is the tree of `name := P`.
#pragma once

#include <string_view>

#include "lang/ast.h"

namespace gasell::ast {

inline constexpr const char* kYield = ".yield";
inline constexpr const char* kYieldFrom = ".yield_from";
inline constexpr const char* kMatch = ".match";
inline constexpr const char* kCase = ".case";

inline ExprRef make_marked_call(std::string_view mark, Span span, std::vector<ExprRef> args) {
  auto callee = std::make_shared<Expr>(span, Name{std::string(mark), {}});
  return std::make_shared<Expr>(span, Call{std::move(callee), std::move(args), {}});
}

/// The call when it has this mark, else null.
inline const Call* marked_call(const Expr& e, std::string_view mark) {
  const auto* call = std::get_if<Call>(&e.node);
  const auto* callee = call ? std::get_if<Name>(&call->callee->node) : nullptr;
  return callee && callee->id == mark ? call : nullptr;
}
inline const Call* yield_call(const Expr& e) {
  const Call* plain = marked_call(e, kYield);
  return plain ? plain : marked_call(e, kYieldFrom);
}
inline const Call* match_call(const If& n) { return marked_call(*n.test, kMatch); }
inline const Call* case_call(const If& n) { return marked_call(*n.test, kCase); }

/// Whether the function that holds this is a generator because of it: functions inside it do not count.
bool yields(const ExprRef& e);
bool yields(const StmtRef& s);
bool yields(const Body& body);

}  // namespace gasell::ast
