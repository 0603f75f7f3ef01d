#include "compiler/ir/transform.h"

namespace gasell::ir {

ExprRef rewrite(const ExprRef& e, const ExprRewrite& f) {
  std::vector<ExprRef> args;
  bool changed = false;
  for (const ExprRef& a : e->args) {
    args.push_back(rewrite(a, f));
    changed = changed || args.back() != a;
  }
  if (!changed) return f(e);
  switch (e->kind) {  // through the builders, which fold constants
    case ExprKind::op: return f(op(e->op, std::move(args)));
    case ExprKind::cast: return f(cast(args[0], e->type));
    case ExprKind::bitcast: return f(bitcast(args[0], e->type));
    case ExprKind::load: return f(load(e->name, e->type, args[0]));
    default: return f(e);
  }
}

Stmt rewrite_expressions(const Stmt& s, const ExprRewrite& f) {
  Stmt result = s;
  for (ExprRef* e : {&result.value, &result.index, &result.begin, &result.end, &result.width})
    if (*e) *e = rewrite(*e, f);
  for (ExprRef& e : result.args) e = rewrite(e, f);
  return result;
}

StmtRef make_statement(Stmt s) { return std::make_shared<const Stmt>(std::move(s)); }

Kernel with_body(const Kernel& kernel, Body body) {
  Kernel result = kernel;
  result.body = std::move(body);
  return result;
}

void visit(const ExprRef& e, const std::function<void(const Expr&)>& f) {
  f(*e);
  for (const ExprRef& a : e->args) visit(a, f);
}

std::vector<ExprRef> expressions_of(const Stmt& s) {
  std::vector<ExprRef> result = s.args;
  for (const ExprRef& e : {s.value, s.index, s.begin, s.end, s.width})
    if (e) result.push_back(e);
  return result;
}

bool is_constant_over_time(const ExprRef& e, const std::function<bool(const std::string&)>& is_fixed) {
  if (e->kind == ExprKind::load || (e->kind == ExprKind::variable && !is_fixed(e->name))) return false;
  for (const ExprRef& a : e->args)
    if (!is_constant_over_time(a, is_fixed)) return false;
  return true;
}

}  // namespace gasell::ir
