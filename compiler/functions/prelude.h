// The part of the library of compiled functions that is written in the language itself: texts in prelude/*.gsl, embedded into the binary
// and compiled where they are called. prelude/numpy.gsl has `def interp(x, xp, fp)` for numpy.interp, prelude/builtins.gsl what has no
// module, prelude/list.gsl what works on lists. A further function is a further `def`; names that open with an underscore are the texts'
// own.
//
// In them, `gasell.…` are functions that scripts do not have (library_builtins.cpp). Types are known where such a text is compiled, so a
// condition on them (`x.ndim == 1`, `gasell.kind(x) == "list"`) leaves one branch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/functions/function.h"

namespace gasell::functions {

/// By path ("numpy.interp"); nullptr: no text has it.
std::shared_ptr<const Function> prelude_function(const std::string& path);
/// What the text of a module has, in order: "normal" and the like of "generator".
std::vector<std::string> prelude_names(const std::string& module);

}  // namespace gasell::functions
