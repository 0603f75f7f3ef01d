// How a class statement stands in the tree: as a function without parameters whose body is the class's, as CPython runs it too. Its last
// decorator is a call of `.class`, a name that no text can hold, with the bases as arguments.
#pragma once

#include "lang/ast.h"

namespace gasell::ast {

inline constexpr const char* kClassMaker = ".class";

/// The call that holds the bases when the definition is a class statement, else null.
inline const Call* class_call(const FunctionDef& def) {
  const auto* call = def.decorators.empty() ? nullptr : std::get_if<Call>(&def.decorators.back()->node);
  const auto* callee = call ? std::get_if<Name>(&call->callee->node) : nullptr;
  return callee && callee->id == kClassMaker ? call : nullptr;
}

}  // namespace gasell::ast
