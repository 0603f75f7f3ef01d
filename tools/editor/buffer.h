// The text that is edited: cursor, undo, what was cut.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gasell::editor {

/// What was cut, newest last, kept from entry to entry. Cuts that follow each other at once are one.
class KillRing {
 public:
  void cut(std::string text, bool before_cursor);
  /// The next cut is one of its own.
  void rest() { continues_ = false; }
  /// The newest, or an older one: 0 is the newest. Empty where there is none.
  std::string_view get(size_t age) const;
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  bool continues_ = false;
};

/// UTF-8 text of one or more lines, and a cursor between two of its characters. Offsets are bytes.
class Buffer {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  std::string_view before_cursor() const { return std::string_view(text_).substr(0, cursor_); }
  std::string_view after_cursor() const { return std::string_view(text_).substr(cursor_); }

  /// An empty text without a past.
  void clear();
  /// Another text in the place of this one; the cursor behind it. Can be undone.
  void replace_all(std::string_view text);
  /// `text` in the place of [begin, end); the cursor behind it. Insertions of one word are undone together.
  void replace(size_t begin, size_t end, std::string_view text);
  void insert(std::string_view text) { replace(cursor_, cursor_, text); }
  void erase(size_t begin, size_t end) { replace(begin, end, {}); }
  void move_to(size_t at);

  bool undo();
  bool redo();

  size_t left() const;
  size_t right() const;
  /// Beginnings and ends of words: runs of letters, digits and underscores.
  size_t word_left() const;
  size_t word_right() const;
  size_t begin_of_line() const;
  size_t end_of_line() const;
  /// Where the text of the line begins, behind its indentation.
  size_t text_of_line() const;
  /// The cursor a line up or down in the column it had; false when there is no such line.
  bool move_up();
  bool move_down();

 private:
  struct Change {
    size_t at;
    std::string removed, inserted;
    size_t cursor_before;
  };
  bool move_to_line(size_t begin, size_t end);
  bool joins(const Change& last, size_t begin, size_t end, std::string_view text) const;

  std::string text_;
  size_t cursor_ = 0;
  int wanted_column_ = -1;  // of a way up or down through shorter lines
  std::vector<Change> done_, undone_;
  bool joinable_ = false;  // the cursor has not moved since the last change
};

}  // namespace gasell::editor
