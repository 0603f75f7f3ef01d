// How Gasell's programs are written: `gasell fmt`.
#pragma once

#include <string>

#include "lang/source.h"

namespace gasell::format {

inline constexpr int kLineLength = 120;

/// The text in the one style (docs/editors.md): four blanks a level, double quotes, blanks around operators, lines of `width` columns at
/// most where they can be split, two empty lines around functions of a file and one around inner ones. Comments keep their places, and the
/// program its tree, which is compared. What is formatted stays as it is when it is formatted again. Throws Error: a SyntaxError as the
/// parser's, or an internal one when the tree would change.
std::string format_text(const SourceRef& source, int width = kLineLength);

/// What changes, as `diff -u` shows it; empty where nothing does.
std::string unified_diff(const std::string& name, const std::string& before, const std::string& after);

}  // namespace gasell::format
