// Whether a function takes the arguments of a call.
#pragma once

#include <optional>
#include <string>

#include "lang/ast.h"
#include "tools/gasell/signatures.h"

namespace gasell::check {

/// CPython's sentence of the TypeError that the call would raise; nothing where it fits, or where *args and **kw hide what is given.
/// `bound`: the arguments that the call does not show and the sentence counts, 1 for the object of an __init__.
std::optional<std::string> misfit(const cli::CallSignature& signature, const ast::Call& call, size_t bound = 0);

}  // namespace gasell::check
