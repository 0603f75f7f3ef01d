#include "lang/ast.h"

#include "lang/ast_visit.h"

namespace gasell::ast {

Expr::~Expr() {
  // The outermost destructor on this thread empties the list; those it causes only add to it.
  thread_local std::vector<ExprRef>* doomed = nullptr;
  auto doom_children = [this](std::vector<ExprRef>& list) {
    visit_children(*this, [&list](ExprRef& child) {
      if (child.use_count() == 1) list.push_back(std::move(child));
    });
  };
  if (doomed) {
    doom_children(*doomed);
    return;
  }
  std::vector<ExprRef> list;
  doom_children(list);
  if (list.empty()) return;
  doomed = &list;
  while (!list.empty()) {
    const ExprRef last = std::move(list.back());
    list.pop_back();
  }
  doomed = nullptr;
}

}  // namespace gasell::ast
