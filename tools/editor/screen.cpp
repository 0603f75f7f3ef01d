#include "tools/editor/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/characters.h"
#include "tools/editor/characters.h"

namespace gasell::editor {

void Frame::put(std::string_view glyph, Style style, int width) {
  rows.back().cells.push_back({glyph, style, width});
  rows.back().width += width;
}

void Frame::write(std::string_view text, Style style) {
  for (size_t at = 0; at < text.size();) {
    const size_t next = next_character(text, at);
    put(text.substr(at, next - at), style, display_width(decode_utf8(text, at).value));
    at = next;
  }
}

void Screen::set_style(Style style, std::string& out) {
  if (theme_.code(style_) == theme_.code(style)) {
    style_ = style;
    return;
  }
  style_ = style;
  out += theme_.code(style).empty() ? "\033[0m" : fmt::format("\033[0;{}m", theme_.code(style));
}

void Screen::move_to(int row, int column, std::string& out) {
  if (row >= static_cast<int>(drawn_.size())) {  // rows that are not there yet: the terminal may have to scroll
    move_to(static_cast<int>(drawn_.size()) - 1, 0, out);
    for (; static_cast<int>(drawn_.size()) <= row; drawn_.emplace_back()) out += "\n";
    row_ = row;
  }
  if (row == row_ && column == column_) return;
  if (row < row_) out += fmt::format("\033[{}A", row_ - row);
  if (row > row_) out += fmt::format("\033[{}B", row - row_);
  if (column == 0) {
    out += '\r';
  } else if (column == column_ - 1) {
    out += '\b';
  } else if (column != column_) {
    out += column > column_ ? fmt::format("\033[{}C", column - column_) : fmt::format("\033[{}D", column_ - column);
  }
  row_ = row;
  column_ = column;
}

void Screen::draw_row(DrawnRow& drawn, const Frame::Row& row, int number, int columns, std::string& out) {
  size_t same = 0;
  int column = 0;
  while (same < row.cells.size() && same < drawn.cells.size() && drawn.cells[same].shows(row.cells[same]))
    column += row.cells[same++].width;
  if (same == row.cells.size() && same == drawn.cells.size()) return;
  // Cells at the end that are the same, and in the same columns, stay.
  size_t tail = 0;
  if (row.width == drawn.width)
    while (tail < row.cells.size() - same && tail < drawn.cells.size() - same &&
           drawn.cells[drawn.cells.size() - 1 - tail].shows(row.cells[row.cells.size() - 1 - tail]))
      ++tail;
  move_to(number, column, out);
  for (size_t i = same; i < row.cells.size() - tail; ++i) {
    set_style(row.cells[i].style, out);
    out += row.cells[i].glyph;
    column_ += row.cells[i].width;
  }
  set_style(Style::plain, out);
  if (row.width < drawn.width) out += "\033[K";
  if (column_ >= columns) {  // whether the cursor stands behind the last column or on it is the terminal's secret
    out += '\r';
    column_ = 0;
  }
  drawn.cells.resize(row.cells.size());
  for (size_t i = same; i < row.cells.size(); ++i)
    drawn.cells[i] = {std::string(row.cells[i].glyph), row.cells[i].style, row.cells[i].width};
  drawn.width = row.width;
}

std::string Screen::draw(const Frame& frame, int columns) {
  std::string out;
  if (drawn_.size() > frame.rows.size()) {
    move_to(static_cast<int>(frame.rows.size()), 0, out);
    out += "\033[J";
    drawn_.resize(frame.rows.size());
    // The cursor stands below what is kept; the row there exists, empty.
  }
  for (size_t i = 0; i < frame.rows.size(); ++i) {
    if (i >= drawn_.size()) move_to(static_cast<int>(i), 0, out);
    draw_row(drawn_[i], frame.rows[i], static_cast<int>(i), columns, out);
  }
  move_to(frame.cursor_row, frame.cursor_column, out);
  return out;
}

std::string Screen::finish(const Frame& frame, int columns) {
  std::string out = draw(frame, columns);
  move_to(static_cast<int>(frame.rows.size()) - 1, 0, out);
  out += "\r\n";
  drawn_.assign(1, {});
  row_ = column_ = 0;
  return out;
}

std::string Screen::resized(int columns) {
  int above = 0;  // rows that the terminal has made of those above the cursor, if it wraps long ones anew
  for (int i = 0; i < row_; ++i) above += std::max(1, (drawn_[static_cast<size_t>(i)].width + columns - 1) / columns);
  above += column_ / columns;
  std::string out = "\r";
  if (above > 0) out += fmt::format("\033[{}A", above);
  out += "\033[J";
  drawn_.assign(1, {});
  row_ = column_ = 0;
  return out;
}

std::string Screen::cleared() {
  drawn_.assign(1, {});
  row_ = column_ = 0;
  return "\033[H\033[2J";
}

}  // namespace gasell::editor
