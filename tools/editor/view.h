// What an entry looks like on rows and columns.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/editor/screen.h"
#include "tools/editor/theme.h"

namespace gasell::editor {

/// A line below the text: parts with their styles. What does not fit is left out.
using StyledLine = std::vector<std::pair<std::string, Style>>;

/// All that is shown of an entry. compose()'s frame points into it.
struct View {
  std::string_view prompt, more_prompt;  // before the first line and before each further one; the first may hold sequences of colours
  Style prompt_style = Style::prompt;
  std::string_view text;
  size_t cursor = 0;
  std::vector<Style> styles;  // of each byte of the text; empty: plain
  std::string suggestion;     // behind the text; its first line is shown
  std::vector<StyledLine> below;
};

/// Wraps the text at `columns` and keeps at most `rows` rows: those around the cursor, from line `top` on, which moves as little as it
/// must. What stands below the text comes first to go.
Frame compose(const View& view, int columns, int rows, size_t& top);
/// All rows of the text alone, however many, the cursor at its end.
Frame compose_whole(const View& view, int columns);

}  // namespace gasell::editor
