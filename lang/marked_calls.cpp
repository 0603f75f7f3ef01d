#include "lang/marked_calls.h"

#include <algorithm>

#include "lang/ast_visit.h"

namespace gasell::ast {

bool yields(const ExprRef& e) {
  if (!e) return false;
  if (yield_call(*e)) return true;
  bool found = false;
  const auto visit = [&](const ExprRef& child) { found = found || yields(child); };
  if (auto* lambda = std::get_if<Lambda>(&e->node)) {
    visit_children(lambda->params, visit);
  } else if (auto* comprehension = std::get_if<Comprehension>(&e->node)) {
    visit(comprehension->clauses[0].iter);
  } else {
    visit_children(*e, visit);
  }
  return found;
}

bool yields(const StmtRef& s) {
  bool found = false;
  const bool has_scope = std::holds_alternative<FunctionDef>(s->node);
  visit_children(
      *s, [&](const ExprRef& e) { found = found || yields(e); }, [&](const Body& body) { found = found || (!has_scope && yields(body)); });
  return found;
}

bool yields(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const StmtRef& s) { return yields(s); });
}

}  // namespace gasell::ast
