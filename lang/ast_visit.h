// The children of a tree's nodes, in the order of the source.
#pragma once

#include "lang/ast.h"

namespace gasell::ast {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

template <class Visit>
void visit_children(std::vector<FStringPart>& parts, Visit&& visit) {
  for (FStringPart& part : parts) {
    if (part.value) visit(part.value);
    visit_children(part.spec, visit);
  }
}

template <class Visit>
void visit_children(std::vector<Parameter>& params, Visit&& visit) {
  for (Parameter& p : params) {
    if (p.annotation) visit(p.annotation);
    if (p.default_value) visit(p.default_value);
  }
}

/// Calls visit(ExprRef&) for every child expression that is there.
template <class Visit>
void visit_children(Expr& expr, Visit&& visit) {
  auto one = [&](ExprRef& e) {
    if (e) visit(e);
  };
  auto all = [&](std::vector<ExprRef>& list) {
    for (ExprRef& e : list) one(e);
  };
  std::visit(
      Overloaded{[&](FString& n) { visit_children(n.parts, visit); }, [&](Tuple& n) { all(n.items); }, [&](List& n) { all(n.items); },
                 [&](Set& n) { all(n.items); },
                 [&](Dict& n) {
                   for (auto& [key, value] : n.items) one(key), one(value);
                 },
                 [&](Unary& n) { one(n.operand); }, [&](Binary& n) { one(n.left), one(n.right); }, [&](BoolChain& n) { all(n.values); },
                 [&](Compare& n) { one(n.left), all(n.comparators); }, [&](Conditional& n) { one(n.body), one(n.test), one(n.orelse); },
                 [&](Call& n) {
                   one(n.callee), all(n.args);
                   for (Keyword& k : n.keywords) one(k.value);
                 },
                 [&](Attribute& n) { one(n.value); }, [&](Slice& n) { one(n.lower), one(n.upper), one(n.step); },
                 [&](Subscript& n) { one(n.value), one(n.index); }, [&](Starred& n) { one(n.value); },
                 [&](NamedExpr& n) { one(n.target), one(n.value); }, [&](Lambda& n) { visit_children(n.params, visit), one(n.body); },
                 [&](Comprehension& n) {
                   one(n.element), one(n.value);
                   for (ComprehensionClause& c : n.clauses) one(c.target), one(c.iter), all(c.conditions);
                 },
                 [](auto&) {}},
      expr.node);
}

/// Calls visit(ExprRef&) for every expression that stands directly in a statement, and body(Body&) for its blocks.
template <class Visit, class VisitBody>
void visit_children(Stmt& stmt, Visit&& visit, VisitBody&& body) {
  auto one = [&](ExprRef& e) {
    if (e) visit(e);
  };
  auto all = [&](std::vector<ExprRef>& list) {
    for (ExprRef& e : list) one(e);
  };
  std::visit(
      Overloaded{[&](ExprStmt& n) { one(n.value); }, [&](Assign& n) { all(n.targets), one(n.value); },
                 [&](AugAssign& n) { one(n.target), one(n.value); }, [&](AnnAssign& n) { one(n.target), one(n.annotation), one(n.value); },
                 [&](If& n) { one(n.test), body(n.body), body(n.orelse); }, [&](While& n) { one(n.test), body(n.body), body(n.orelse); },
                 [&](For& n) { one(n.target), one(n.iter), body(n.body), body(n.orelse); }, [&](Return& n) { one(n.value); },
                 [&](FunctionDef& n) { all(n.decorators), visit_children(n.params, visit), one(n.returns), body(n.body); },
                 [&](With& n) {
                   for (WithItem& item : n.items) one(item.context), one(item.target);
                   body(n.body);
                 },
                 [&](Assert& n) { one(n.test), one(n.message); }, [&](Delete& n) { all(n.targets); },
                 [&](Raise& n) { one(n.exception), one(n.cause); },
                 [&](Try& n) {
                   body(n.body);
                   for (ExceptHandler& h : n.handlers) one(h.type), body(h.body);
                   body(n.orelse), body(n.finalbody);
                 },
                 [](auto&) {}},
      stmt.node);
}

}  // namespace gasell::ast
