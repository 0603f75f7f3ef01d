#include "tools/editor/buffer.h"

#include <algorithm>

#include "lang/characters.h"
#include "tools/editor/characters.h"

namespace gasell::editor {

namespace {

constexpr size_t kKeptCuts = 60;

bool is_word(std::string_view text, size_t at) { return continues_name(decode_utf8(text, at).value); }

}  // namespace

void KillRing::cut(std::string text, bool before_cursor) {
  if (text.empty()) return;
  if (continues_ && !texts_.empty()) {
    texts_.back() = before_cursor ? text + texts_.back() : texts_.back() + text;
  } else {
    texts_.push_back(std::move(text));
    if (texts_.size() > kKeptCuts) texts_.erase(texts_.begin());
  }
  continues_ = true;
}

std::string_view KillRing::get(size_t age) const {
  return texts_.empty() ? std::string_view() : std::string_view(texts_[texts_.size() - 1 - age % texts_.size()]);
}

void Buffer::clear() { *this = {}; }

void Buffer::replace_all(std::string_view text) {
  joinable_ = false;
  replace(0, text_.size(), text);
  joinable_ = false;
}

bool Buffer::joins(const Change& last, size_t begin, size_t end, std::string_view text) const {
  if (!joinable_ || begin != end || begin != last.at + last.inserted.size() || !last.removed.empty() || text.empty()) return false;
  return is_word(text, 0) == is_word(last.inserted, previous_character(last.inserted, last.inserted.size())) &&
         next_character(text, 0) == text.size();
}

void Buffer::replace(size_t begin, size_t end, std::string_view text) {
  wanted_column_ = -1;
  if (begin == end && text.empty()) return;
  if (!done_.empty() && joins(done_.back(), begin, end, text)) {
    done_.back().inserted += text;
  } else {
    done_.push_back({begin, text_.substr(begin, end - begin), std::string(text), cursor_});
  }
  undone_.clear();
  text_.replace(begin, end - begin, text);
  cursor_ = begin + text.size();
  joinable_ = true;
}

void Buffer::move_to(size_t at) {
  cursor_ = std::min(at, text_.size());
  wanted_column_ = -1;
  joinable_ = false;
}

bool Buffer::undo() {
  if (done_.empty()) return false;
  Change change = std::move(done_.back());
  done_.pop_back();
  text_.replace(change.at, change.inserted.size(), change.removed);
  move_to(change.cursor_before);
  undone_.push_back(std::move(change));
  return true;
}

bool Buffer::redo() {
  if (undone_.empty()) return false;
  Change change = std::move(undone_.back());
  undone_.pop_back();
  text_.replace(change.at, change.removed.size(), change.inserted);
  move_to(change.at + change.inserted.size());
  done_.push_back(std::move(change));
  return true;
}

size_t Buffer::left() const { return previous_character(text_, cursor_); }
size_t Buffer::right() const { return next_character(text_, cursor_); }

size_t Buffer::word_left() const {
  size_t at = cursor_;
  for (size_t before; at > 0 && !is_word(text_, before = previous_character(text_, at));) at = before;
  for (size_t before; at > 0 && is_word(text_, before = previous_character(text_, at));) at = before;
  return at;
}

size_t Buffer::word_right() const {
  size_t at = cursor_;
  while (at < text_.size() && !is_word(text_, at)) at = next_character(text_, at);
  while (at < text_.size() && is_word(text_, at)) at = next_character(text_, at);
  return at;
}

size_t Buffer::begin_of_line() const { return line_begin(text_, cursor_); }
size_t Buffer::end_of_line() const { return line_end(text_, cursor_); }
size_t Buffer::text_of_line() const { return std::min(text_.find_first_not_of(' ', begin_of_line()), end_of_line()); }

bool Buffer::move_to_line(size_t begin, size_t end) {
  const int column =
      wanted_column_ >= 0 ? wanted_column_ : width_of(std::string_view(text_).substr(begin_of_line(), cursor_ - begin_of_line()));
  move_to(begin + fitting(std::string_view(text_).substr(begin, end - begin), column).size());
  wanted_column_ = column;
  return true;
}

bool Buffer::move_up() {
  const size_t begin = begin_of_line();
  return begin > 0 && move_to_line(line_begin(text_, begin - 1), begin - 1);
}

bool Buffer::move_down() {
  const size_t end = end_of_line();
  return end < text_.size() && move_to_line(end + 1, line_end(text_, end + 1));
}

}  // namespace gasell::editor
