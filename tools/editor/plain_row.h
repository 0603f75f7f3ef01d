// The text on a terminal that knows no sequences, or in an editor's shell buffer: one row, written anew.
#pragma once

#include <string>
#include <string_view>

#include "tools/editor/view.h"

namespace gasell::editor {

class PlainRow {
 public:
  /// What to write so that the line with the cursor is shown; lines that end stay above.
  std::string draw(const View& view, int columns);
  /// The same, and the cursor on a new row.
  std::string finish(const View& view, int columns);
  /// `list` between the rows; the next draw() shows the line again.
  std::string show(std::string_view list);

 private:
  size_t lines_ = 1;    // that were begun
  std::string row_;     // what stands on the row
  bool at_end_ = true;  // the cursor is behind it
};

}  // namespace gasell::editor
