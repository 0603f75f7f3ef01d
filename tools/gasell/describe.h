// What ?name and name?? show.
#pragma once

#include <string>

#include "runtime/session/interpreter.h"

namespace gasell::cli {

/// Type, signature, description, and the value where it is short. Forces nothing.
std::string describe(Interpreter& interpreter, const Value& value);
/// The text of a function, with where it is written; the description of what has none.
std::string source_of(Interpreter& interpreter, const Value& value);

}  // namespace gasell::cli
