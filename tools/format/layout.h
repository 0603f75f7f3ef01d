// The lines that a statement takes.
#pragma once

#include "tools/format/words.h"

namespace gasell::format {

inline constexpr int kIndent = 4;

struct Line {
  int level;
  Words words;
};

/// The statement in one line where that fits into `width` columns, else split at its brackets: what is in them stands one level deeper, in
/// one line or one piece a line with a comma behind the last. A comma that stood there already asks for that. A right side without brackets
/// gets parentheses. Numbers in a row share lines.
std::vector<Line> lay_out_statement(Words words, int level, int width);

/// The lines as text. False where a comment has no place in them.
bool write_lines(const std::vector<Line>& lines, std::string& out);

}  // namespace gasell::format
