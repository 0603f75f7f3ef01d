// Walking and rebuilding loop IR; what passes share.
#pragma once

#include <functional>

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// The expression with `leaf` applied bottom-up to every part: `rewrite(e)` gets e with its operands already rewritten and gives its
/// replacement.
using ExprRewrite = std::function<ExprRef(const ExprRef&)>;
ExprRef rewrite(const ExprRef& e, const ExprRewrite& f);
/// The statement with every expression of it (not of nested bodies) rewritten.
Stmt rewrite_expressions(const Stmt& s, const ExprRewrite& f);
StmtRef make_statement(Stmt s);
/// The kernel with another body.
Kernel with_body(const Kernel& kernel, Body body);

/// Calls f for e and all its parts.
void visit(const ExprRef& e, const std::function<void(const Expr&)>& f);
/// The expressions a statement holds itself.
std::vector<ExprRef> expressions_of(const Stmt& s);

/// Whether e reads memory or a var: its value may change between two places.
bool is_constant_over_time(const ExprRef& e, const std::function<bool(const std::string&)>& is_fixed);

}  // namespace gasell::ir
