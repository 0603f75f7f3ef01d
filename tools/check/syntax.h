// All syntax errors of a text.
#pragma once

#include <vector>

#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace gasell::check {

/// The tree, or null and the errors: behind the first, those of the text in which the wrong line is a `pass`.
ast::ModuleRef parse_all(const SourceRef& source, std::vector<Diagnostic>& errors);

/// The tree of the text without its wrong lines, at the places they have in it; null where too much is wrong.
ast::ModuleRef parse_right_lines(const SourceRef& source);

}  // namespace gasell::check
