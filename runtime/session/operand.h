// Operands of operators and subscripts, which are often local variables and literals: those need no node's call to be read.
#pragma once

#include "runtime/session/evaluator.h"

namespace gasell {

/// An operand: a local variable or a literal, whose number is read where it is, or any other expression.
struct Operand {
  explicit Operand(NodePtr n) : node(std::move(n)), slot(local_slot(*node)), constant(constant_number(*node)) {}
  /// The variable or literal where it is a number; null for others, and for other expressions.
  const Value* number(const Frame& f) const {
    if (slot < 0) return constant;
    const Value& v = f.locals[slot];
    return v.is_int() || v.is_float() ? &v : nullptr;
  }
  /// The local variable or literal number where it stands for itself, whatever it is; null for other expressions, and for variables that
  /// are not bound. No longer than nothing of the script runs that may bind the variable.
  const Value* place(const Frame& f) const {
    if (slot < 0) return constant;
    const Value& v = f.locals[slot];
    return v.is_absent() ? nullptr : &v;
  }
  NodePtr node;
  int slot;
  const Value* constant;
};

}  // namespace gasell
