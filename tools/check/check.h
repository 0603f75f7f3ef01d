// What can be said of a program without running it: `gasell check`, and an editor while one types.
#pragma once

#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/session/interpreter.h"

namespace gasell::check {

struct Finding {
  bool is_error;     // else a warning
  std::string code;  // "syntax", "name", "attribute", "call", "import", "unused-import", "unused-variable", "unreachable"
  Diagnostic diagnostic;
};

/// In the order of the text. Errors are those that a run would raise: of the syntax (all of them, then nothing else is looked at), names
/// that nothing binds, modules and attributes of modules that are not there or not in Gasell, and calls of functions that do not take these
/// arguments. What stands in a `try` with handlers may be meant to fail, and is left out. Nothing of the program runs: `interpreter` makes
/// the library's modules, and learns no name that a program uses. Does not throw what the program is wrong in.
std::vector<Finding> check_source(Interpreter& interpreter, const SourceRef& source);

}  // namespace gasell::check
