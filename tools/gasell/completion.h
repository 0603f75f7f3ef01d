// What can stand where the cursor is: names, attributes, columns, keys, arguments, modules, files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/session/interpreter.h"
#include "tools/editor/services.h"

namespace gasell::cli {

/// What could stand where the cursor is. Looks values up, and evaluates what has no effect (attributes, items, operators); calls no
/// function of the script.
editor::Completion complete(Interpreter& interpreter, std::string_view text, size_t cursor);

/// Signature and first line of the description of a candidate that complete() gave for what begins at `begin`; empty where it is no name.
std::string candidate_detail(Interpreter& interpreter, std::string_view text, size_t begin, const std::string& candidate);

/// Sorted, without doubles; what begins with an underscore only where one was typed.
std::vector<std::string> starting_with(std::vector<std::string> words, std::string_view prefix);
/// Files and folders whose path begins so; hidden ones when the dot is typed. `begin` is where the path stands in the text.
editor::Completion complete_file(std::string_view path, size_t begin);

}  // namespace gasell::cli
