// What ?name shows.
#pragma once

#include <string>

#include "runtime/session/interpreter.h"

namespace gasell::cli {

/// Type, signature, description, and the value where it is short. Forces nothing.
std::string describe(Interpreter& interpreter, const Value& value);

}  // namespace gasell::cli
