// A terminal as far as the screen writes to one: what stands on it after what was written.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lang/characters.h"
#include "tools/editor/characters.h"

namespace gasell::editor::test {

class TerminalModel {
 public:
  TerminalModel(int columns, int rows) : columns_(columns), cells_(static_cast<size_t>(rows), Row(static_cast<size_t>(columns), " ")) {}

  void write(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      if (text[at] == '\033') {
        at = control(text, at + 2);
      } else if (text[at] == '\r') {
        column_ = 0, ++at;
      } else if (text[at] == '\b') {
        column_ = std::max(column_ - 1, 0), ++at;
      } else if (text[at] == '\n') {
        new_row(), ++at;
      } else {
        const size_t next = next_character(text, at);
        put(text.substr(at, next - at));
        at = next;
      }
    }
  }

  int row() const { return row_; }
  int column() const { return std::min(column_, columns_ - 1); }
  /// Without the blanks at its end.
  std::string line(int row) const {
    std::string text;
    for (const std::string& cell : cells_[static_cast<size_t>(row)]) text += cell;
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < cells_.size(); ++i) all.push_back(line(static_cast<int>(i)));
    while (!all.empty() && all.back().empty()) all.pop_back();
    return all;
  }

 private:
  using Row = std::vector<std::string>;

  void put(std::string_view glyph) {
    const int width = display_width(decode_utf8(glyph, 0).value);
    if (column_ + width > columns_) column_ = 0, new_row();  // it wraps with the next character only
    Row& row = cells_[static_cast<size_t>(row_)];
    row[static_cast<size_t>(column_)] = std::string(glyph);
    for (int k = 1; k < width; ++k) row[static_cast<size_t>(column_ + k)] = "";
    column_ += width;
  }
  void new_row() {
    if (++row_ < static_cast<int>(cells_.size())) return;
    cells_.erase(cells_.begin());
    cells_.emplace_back(static_cast<size_t>(columns_), " ");
    --row_;
  }
  size_t control(std::string_view text, size_t at) {
    int number = 0;
    for (; text[at] >= '0' && text[at] <= ';'; ++at) number = text[at] == ';' ? 0 : number * 10 + text[at] - '0';
    const int count = std::max(number, 1);
    const auto blank = [&](int row, int from) {
      for (int k = from; k < columns_; ++k) cells_[static_cast<size_t>(row)][static_cast<size_t>(k)] = " ";
    };
    switch (text[at]) {
      case 'A': row_ = std::max(row_ - count, 0); break;
      case 'B': row_ = std::min(row_ + count, static_cast<int>(cells_.size()) - 1); break;
      case 'C': column_ = std::min(column() + count, columns_ - 1); break;
      case 'D': column_ = std::max(column() - count, 0); break;
      case 'H': row_ = column_ = 0; break;
      case 'K': blank(row_, column()); break;
      case 'J':
        blank(row_, number == 2 ? 0 : column());
        for (int row = number == 2 ? 0 : row_ + 1; row < static_cast<int>(cells_.size()); ++row) blank(row, 0);
        break;
      default: break;
    }
    return at + 1;
  }

  int columns_;
  std::vector<Row> cells_;
  int row_ = 0, column_ = 0;
};

}  // namespace gasell::editor::test
