#include "tools/editor/view.h"

#include <algorithm>

#include "lang/characters.h"
#include "tools/editor/characters.h"

namespace gasell::editor {

namespace {

constexpr int kTab = 4;
constexpr std::string_view kBlanks = "    ";

class Composer {
 public:
  Composer(const View& view, int columns) : view_(view), columns_(std::max(columns, 2)) {}

  /// One line of the text with its prompt, on rows of its own.
  void add_line(size_t begin, bool first) {
    if (!is_first_row_) frame_.new_row();
    is_first_row_ = false;
    add_prompt(first ? view_.prompt : view_.more_prompt);
    const size_t end = line_end(view_.text, begin);
    for (size_t at = begin;;) {
      if (at == view_.cursor) mark_cursor();
      if (at >= end) break;
      const size_t next = std::min(next_character(view_.text, at), end);
      add(view_.text.substr(at, next - at), view_.styles.empty() ? Style::plain : view_.styles[at]);
      at = next;
    }
    if (end == view_.text.size() && !view_.suggestion.empty())
      add_text(std::string_view(view_.suggestion).substr(0, line_end(view_.suggestion, 0)), Style::suggestion);
  }

  /// Rows below; they take no more than `rows` together.
  void add_below(int rows) {
    for (const StyledLine& line : view_.below) {
      if (static_cast<int>(frame_.rows.size()) >= rows) return;
      frame_.new_row();
      for (const auto& [text, style] : line) {
        const std::string_view shown = fitting(text, columns_ - 1 - frame_.rows.back().width);
        frame_.write(shown, style);
        if (shown.size() < text.size()) break;
      }
    }
  }

  /// Leaves rows [begin, begin + count) alone.
  void keep_rows(int begin, int count) {
    frame_.rows.erase(frame_.rows.begin(), frame_.rows.begin() + begin);
    if (static_cast<int>(frame_.rows.size()) > count) frame_.rows.resize(static_cast<size_t>(count));
    frame_.cursor_row -= begin;
  }

  Frame& frame() { return frame_; }
  bool has_cursor() const { return has_cursor_; }

 private:
  void add(std::string_view glyph, Style style) {
    if (glyph == "\t") {
      for (int n = kTab - (frame_.rows.back().width - prompt_width_ + kTab * columns_) % kTab; n > 0; --n) add(kBlanks.substr(0, 1), style);
      return;
    }
    const CodePoint point = decode_utf8(glyph, 0);
    const int width = display_width(point.value);
    if (point.value < 0x20 || point.value == 0x7f) glyph = "?";  // what came by a paste and would steer the terminal
    if (frame_.rows.back().width + width > columns_) frame_.new_row();
    frame_.put(glyph, style, glyph == "?" ? 1 : width);
  }
  void add_text(std::string_view text, Style style) {
    for (size_t at = 0; at < text.size();) {
      const size_t next = next_character(text, at);
      add(text.substr(at, next - at), style);
      at = next;
    }
  }
  void add_prompt(std::string_view prompt) {
    const Style style = prompt.find('\033') == std::string_view::npos ? view_.prompt_style : Style::plain;
    while (!prompt.empty()) {
      if (prompt.starts_with("\033[")) {  // a colour that the script chose
        const size_t end = std::min(prompt.find_first_not_of("0123456789;", 2), prompt.size() - 1) + 1;
        frame_.put(prompt.substr(0, end), style, 0);
        prompt.remove_prefix(end);
        continue;
      }
      const size_t next = next_character(prompt, 0);
      add(prompt.substr(0, next), style);
      prompt.remove_prefix(next);
    }
    prompt_width_ = frame_.rows.back().width;
  }
  void mark_cursor() {
    if (frame_.rows.back().width >= columns_) frame_.new_row();
    frame_.cursor_row = static_cast<int>(frame_.rows.size()) - 1;
    frame_.cursor_column = frame_.rows.back().width;
    has_cursor_ = true;
  }

  const View& view_;
  int columns_;
  int prompt_width_ = 0;
  bool is_first_row_ = true, has_cursor_ = false;
  Frame frame_;
};

}  // namespace

Frame compose(const View& view, int columns, int rows, size_t& top) {
  rows = std::max(rows, 1);
  const size_t cursor_line =
      static_cast<size_t>(std::count(view.text.begin(), view.text.begin() + static_cast<std::ptrdiff_t>(view.cursor), '\n'));
  const auto line_count = static_cast<size_t>(std::count(view.text.begin(), view.text.end(), '\n')) + 1;
  top = std::min(top, cursor_line);
  if (line_count <= static_cast<size_t>(rows)) top = 0;
  top = std::max(top, cursor_line + 1 - std::min(cursor_line + 1, static_cast<size_t>(rows)));
  top = std::min(top, line_count - std::min(line_count, static_cast<size_t>(rows)));
  size_t begin = 0;
  for (size_t line = 0; line < top; ++line) begin = line_end(view.text, begin) + 1;
  Composer composer(view, columns);
  std::vector<int> first_rows;  // of each line
  for (size_t line = top;; ++line) {
    first_rows.push_back(static_cast<int>(composer.frame().rows.size()) - (line == top ? 1 : 0));
    composer.add_line(begin, line == 0);
    begin = line_end(view.text, begin) + 1;
    const bool full = static_cast<int>(composer.frame().rows.size()) >= rows && composer.has_cursor();
    if (begin > view.text.size() || full) break;
  }
  // Lines that wrap: begin so far down that the cursor is seen.
  const int cursor_row = composer.frame().cursor_row;
  int skipped = 0;
  while (cursor_row - skipped >= rows) {
    const size_t next = static_cast<size_t>(std::upper_bound(first_rows.begin(), first_rows.end(), skipped) - first_rows.begin());
    if (next < first_rows.size() && first_rows[next] <= cursor_row) {
      skipped = first_rows[next];
      ++top;
    } else {
      skipped = cursor_row - rows + 1;
    }
  }
  composer.keep_rows(skipped, rows);
  composer.add_below(rows);
  return std::move(composer.frame());
}

Frame compose_whole(const View& view, int columns) {
  Composer composer(view, columns);
  for (size_t begin = 0; begin <= view.text.size(); begin = line_end(view.text, begin) + 1) composer.add_line(begin, begin == 0);
  Frame& frame = composer.frame();
  frame.cursor_row = static_cast<int>(frame.rows.size()) - 1;
  frame.cursor_column = frame.rows.back().width;
  return std::move(frame);
}

}  // namespace gasell::editor
