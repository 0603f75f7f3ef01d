// Tab in the session: names, attributes, columns, keys, arguments, modules, files, commands.
#pragma once

#include <string>
#include <string_view>

#include "runtime/session/interpreter.h"
#include "tools/editor/services.h"

namespace gasell::cli {

/// What could stand where the cursor is. Looks values up, and evaluates what has no effect (attributes, items, operators); calls no
/// function of the script.
editor::Completion complete(Interpreter& interpreter, std::string_view text, size_t cursor);

/// Signature and first line of the description of a candidate that complete() gave for what begins at `begin`; empty where it is no name.
std::string candidate_detail(Interpreter& interpreter, std::string_view text, size_t begin, const std::string& candidate);

}  // namespace gasell::cli
