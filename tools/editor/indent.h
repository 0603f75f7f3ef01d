// Indentation while a block is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gasell::editor {

inline constexpr int kIndent = 4;

/// Blanks that a new line behind `before` begins with: those of its last line, more behind a ':' and within brackets, less behind return,
/// pass, break, continue and raise.
std::string indentation_after(std::string_view before);

/// The indentation that the line at the end of `before` should have now that this line is `else:`, `elif …:`, `except …:`, `finally:` or a
/// closing bracket; nullopt where it may stay.
std::optional<int> changed_indentation(std::string_view before);

}  // namespace gasell::editor
