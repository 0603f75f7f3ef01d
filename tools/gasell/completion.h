// Tab in the REPL: names, attributes, commands.
#pragma once

#include "runtime/session/interpreter.h"
#include "tools/gasell/line_editor.h"

namespace gasell::cli {

/// Completes the name or the attribute chain that ends at the cursor. Looks attributes up, calls nothing.
LineEditor::Completion complete_name(Interpreter& interpreter, std::string_view before_cursor);

}  // namespace gasell::cli
