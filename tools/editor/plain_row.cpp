#include "tools/editor/plain_row.h"

#include <algorithm>

#include "tools/editor/characters.h"

namespace gasell::editor {

std::string PlainRow::draw(const View& view, int columns) {
  std::string out;
  // Lines that were begun since are written one below the other.
  const auto line_of = [&](size_t at) {
    return 1 + static_cast<size_t>(std::count(view.text.begin(), view.text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  };
  const auto write_line = [&](size_t begin, size_t cursor) {
    const std::string_view prompt = begin == 0 ? view.prompt : view.more_prompt;
    const std::string_view line = view.text.substr(begin, line_end(view.text, begin) - begin);
    const int room = std::max(columns - 1 - width_of(prompt), 1);
    // What is left of the cursor and does not fit is left out.
    size_t first = 0;
    while (width_of(line.substr(first, cursor - begin - first)) > room) first = next_character(line, first);
    const std::string_view shown = fitting(line.substr(first), room);
    const std::string row = std::string(prompt) + std::string(shown);
    const size_t cursor_in_row = prompt.size() + cursor - begin - first;
    if (at_end_ && cursor_in_row == row.size() && row.starts_with(row_)) {  // what is added at the end is all that is written
      out += row.substr(row_.size());
    } else {
      out += "\r" + row + std::string(static_cast<size_t>(std::max(width_of(row_) - width_of(row), 0)), ' ');
      if (cursor_in_row < row.size() || out.ends_with(' ')) out += "\r" + row.substr(0, cursor_in_row);
    }
    row_ = row;
    at_end_ = cursor_in_row == row.size();
  };
  const size_t cursor_line = line_of(view.cursor);
  for (; lines_ < cursor_line; ++lines_) {
    size_t begin = 0;
    for (size_t k = 1; k < lines_; ++k) begin = line_end(view.text, begin) + 1;
    write_line(begin, line_end(view.text, begin));
    out += "\r\n";
    row_.clear();
    at_end_ = true;
  }
  write_line(line_begin(view.text, view.cursor), view.cursor);
  return out;
}

std::string PlainRow::finish(const View& view, int columns) {
  std::string out = draw(view, columns) + "\r\n";
  lines_ = 1;
  row_.clear();
  at_end_ = true;
  return out;
}

std::string PlainRow::show(std::string_view list) {
  row_.clear();
  at_end_ = true;
  return "\r\n" + std::string(list) + "\r\n";
}

}  // namespace gasell::editor
