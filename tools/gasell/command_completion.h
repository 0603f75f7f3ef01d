// Tab in the session: commands, and what completion.h knows.
#pragma once

#include <string>
#include <string_view>

#include "tools/gasell/completion.h"

namespace gasell::cli {

/// What could stand where the cursor is in an entry of the session.
editor::Completion complete_entry(Interpreter& interpreter, std::string_view text, size_t cursor);
/// candidate_detail, and of a command how it is called and what it does.
std::string entry_candidate_detail(Interpreter& interpreter, std::string_view text, size_t begin, const std::string& candidate);

}  // namespace gasell::cli
