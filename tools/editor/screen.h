// From what the terminal shows to what it shall show, in few bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/editor/theme.h"

namespace gasell::editor {

/// One character on the screen. A wide one has two columns.
struct Cell {
  std::string_view glyph;  // of what the frame was made of, which must live as long
  Style style = Style::plain;
  int width = 1;
};

/// Rows of the terminal from the prompt on. No row is wider than the terminal.
struct Frame {
  struct Row {
    std::vector<Cell> cells;
    int width = 0;
  };
  std::vector<Row> rows{1};
  int cursor_row = 0, cursor_column = 0;

  void put(std::string_view glyph, Style style, int width);
  /// Every character of `text`, which has no line ends and fits into its row; the text must live as long as the frame.
  void write(std::string_view text, Style style);
  void new_row() { rows.emplace_back(); }
};

/// Keeps what was drawn. It begins at the left of the row where the cursor stands at the first draw().
class Screen {
 public:
  void set_theme(Theme theme) { theme_ = theme; }

  /// What to write so that the terminal shows `frame`; only what differs is written.
  std::string draw(const Frame& frame, int columns);
  /// The last frame, and the cursor at the left of a new row below it, where the next draw begins.
  std::string finish(const Frame& frame, int columns);
  /// The terminal has another width: it may have moved what was drawn, so all is drawn anew from where it began.
  std::string resized(int columns);
  /// Everything is drawn anew at the top of the empty screen.
  std::string cleared();

 private:
  struct DrawnCell {
    std::string glyph;
    Style style;
    int width;
    bool operator==(const DrawnCell&) const = default;
    bool shows(const Cell& cell) const { return style == cell.style && glyph == cell.glyph; }
  };
  struct DrawnRow {
    std::vector<DrawnCell> cells;
    int width = 0;
  };
  void move_to(int row, int column, std::string& out);
  void draw_row(DrawnRow& drawn, const Frame::Row& row, int number, int columns, std::string& out);
  void set_style(Style style, std::string& out);

  Theme theme_ = *Theme::named("none", 0);
  std::vector<DrawnRow> drawn_{1};
  int row_ = 0, column_ = 0;  // where the terminal's cursor is
  Style style_ = Style::plain;
};

}  // namespace gasell::editor
