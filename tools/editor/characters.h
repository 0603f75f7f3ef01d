// Characters as a person sees them: what the cursor steps over, and how many columns it takes.
#pragma once

#include <cstddef>
#include <string_view>

namespace gasell::editor {

/// Where the character (a grapheme cluster of UTF-8: a letter with its accents, a flag) that begins at `at` ends; the text's size at its
/// end.
size_t next_character(std::string_view text, size_t at);
/// Where the character that ends at `at` begins; 0 at the beginning.
size_t previous_character(std::string_view text, size_t at);
/// Columns of the characters of `text`, which has no line ends.
int width_of(std::string_view text);
/// As much of the beginning of `text` as fits into `columns`.
std::string_view fitting(std::string_view text, int columns);

/// The line that `at` is in, without its line end.
size_t line_begin(std::string_view text, size_t at);
size_t line_end(std::string_view text, size_t at);

}  // namespace gasell::editor
