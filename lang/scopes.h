// Names to places: what is a local, what a cell shared with inner functions, what a global.
#pragma once

#include "lang/ast.h"

namespace gasell {

/// Fills every Binding and FunctionScope of the tree with Python's rules (ast.h says what they mean):
///   - a name bound anywhere in a function (parameter, assignment, for, with, import, def, except, del, :=) is its local, unless declared
///     global or nonlocal; other names are looked for in the enclosing functions and are global when none has them;
///   - names of a module's top level are global; comprehensions are functions of their own, whose first iterator the enclosing scope
///     evaluates; `:=` inside one binds in the function around it; defaults, decorators and annotations belong to the enclosing scope.
///
/// The frame of a function, lambda or comprehension (FunctionScope) has a slot for each local and a list of cells; a cell is a box that
/// closures share. A name's Binding in a function is {local, slot}, {cell, index into cells} or {global, -1}; a captured local is always
/// reached through its cell, never its slot.
///   - locals: parameters in the order of `params` (`*args` and `**kw` where they stand), then the others as they are first bound. A
///     comprehension's slot 0 is ".0", the iterable of its first clause.
///   - cell_of_local: on entry a captured parameter's argument moves from its slot into its cell.
///   - cells: the own ones, made anew on each entry, in the order of their slots; then those taken from the enclosing function, in the
///     order in which this function or one inside it first uses them.
///   - captured: for taken cell number i (cells index own_cells + i), where the enclosing function has it: always of kind cell. When the
///     function object is made, it takes these cells from its maker's frame.
/// Throws a SyntaxError where a declaration contradicts a use, and for return, break and continue where they cannot stand.
void resolve_scopes(ast::Module& module);

}  // namespace gasell
