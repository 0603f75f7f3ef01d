// All syntax errors of a text.
#pragma once

#include <vector>

#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace gasell::check {

/// The tree, or null and the errors: behind the first, those of the text in which the wrong line is a `pass`.
ast::ModuleRef parse_all(const SourceRef& source, std::vector<Diagnostic>& errors);

}  // namespace gasell::check
