// Expressions of the loop IR, evaluated with values for their names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace gasell::ir {

using Values = std::map<std::string, Scalar>;

inline Scalar evaluate(const ExprRef& e, const Values& values) {
  if (e->kind == ExprKind::constant) return e->value;
  if (e->kind == ExprKind::variable) return values.at(e->name);
  if (e->kind == ExprKind::cast) return evaluate(e->args[0], values).cast(e->type);
  std::vector<Scalar> operands;
  for (const ExprRef& a : e->args) operands.push_back(evaluate(a, values));
  return gasell::evaluate(e->op, operands.data());
}

}  // namespace gasell::ir
