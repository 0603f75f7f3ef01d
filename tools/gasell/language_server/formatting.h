// A document in the one style.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/gasell/language_server/document.h"

namespace gasell::cli::lsp {

/// The edits that bring the text into the style of `gasell fmt`; none where it is there already. Throws Error: a SyntaxError as the
/// parser's.
nlohmann::json formatting(const Document& document);

}  // namespace gasell::cli::lsp
