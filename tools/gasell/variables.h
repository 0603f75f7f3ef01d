// %who and %whos: the names that the session has bound.
#pragma once

#include <string>

#include "runtime/session/interpreter.h"

namespace gasell::cli {

/// The names, a few a line.
std::string who(Interpreter& interpreter);
/// A line a name: its type and what it holds; arrays by shape, dtype and size, without computing them.
std::string whos(Interpreter& interpreter);

}  // namespace gasell::cli
