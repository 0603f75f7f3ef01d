// %who and %whos: the names that the session has bound.
#pragma once

#include <functional>
#include <string>

#include "runtime/session/interpreter.h"

namespace gasell::cli {

/// Names of the session's own, which are left out.
using IsHidden = std::function<bool(const std::string&)>;
/// The names, a few a line.
std::string who(Interpreter& interpreter, const IsHidden& is_hidden);
/// A line a name: its type and what it holds; arrays by shape, dtype and size, without computing them.
std::string whos(Interpreter& interpreter, const IsHidden& is_hidden);

}  // namespace gasell::cli
