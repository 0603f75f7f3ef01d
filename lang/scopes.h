// Names to places: what is a local, what a cell shared with inner functions, what a global.
#pragma once

#include "lang/ast.h"

namespace gasell {

/// Fills every Binding and FunctionScope of the tree with Python's rules (ast.h says what they mean):
///   - a name bound anywhere in a function (parameter, assignment, for, with, import, def, except, del, :=) is its local, unless declared
///     global or nonlocal; other names are looked for in the enclosing functions and are global when none has them;
///   - names of a module's top level are global; comprehensions are functions of their own, whose first iterator the enclosing scope
///     evaluates; `:=` inside one binds in the function around it; defaults, decorators and annotations belong to the enclosing scope.
/// Throws a SyntaxError where a declaration contradicts a use, and for return, break and continue where they cannot stand.
void resolve_scopes(ast::Module& module);

}  // namespace gasell
