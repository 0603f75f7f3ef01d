// Colours of an entry, from the language's own tokens.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "lang/tokens.h"
#include "tools/editor/theme.h"

namespace gasell::editor {

/// A style for each byte of `text`. `is_builtin` tells the names that are there without being defined.
std::vector<Style> highlight(std::string_view text, const std::vector<Token>& tokens,
                             const std::function<bool(std::string_view)>& is_builtin);

/// The bracket before or at the cursor and its pair, as indices of tokens; nullopt where there is no bracket. A bracket without its pair
/// comes twice.
std::optional<std::pair<size_t, size_t>> bracket_pair(std::string_view text, const std::vector<Token>& tokens, size_t cursor);

/// Index of the token whose bracket is open at `at`, the innermost; nullopt outside of brackets.
std::optional<size_t> open_bracket(std::string_view text, const std::vector<Token>& tokens, size_t at);

}  // namespace gasell::editor
