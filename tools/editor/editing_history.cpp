// The history while an entry is edited: earlier entries by prefix, the search, the suggestion.
#include <algorithm>
#include <utility>

#include "tools/editor/characters.h"
#include "tools/editor/editing.h"

namespace gasell::editor {

void Editing::move_vertically(bool up, int lines) {
  // A row of keys goes through whole entries; within the lines of one it goes where another key came between.
  if (!recall_) {
    bool moved = false;
    for (; lines > 0 && (up ? buffer_.move_up() : buffer_.move_down()); --lines) moved = true;
    if (moved) return;
  }
  if (mode_ == Mode::entry) recall(up);
}

void Editing::recall(bool older) {
  if (!recall_) {
    if (!older) return;
    recall_ = Recall{history_.entries().size(), std::string(buffer_.before_cursor()), buffer_.text()};
  }
  const std::optional<size_t> found = older ? history_.older(recall_->index, recall_->prefix, buffer_.text())
                                            : history_.newer(recall_->index, recall_->prefix, buffer_.text());
  if (found) {
    recall_->index = *found;
    buffer_.replace_all(history_.entries()[*found]);
    whole_ = buffer_.text();
  } else if (!older) {
    recall_->index = history_.entries().size();
    if (buffer_.text() != recall_->before) buffer_.replace_all(recall_->before);
    buffer_.move_to(recall_->prefix.size());
    recall_.reset();
  }
}

std::string_view Editing::suggestion() const {
  if (mode_ != Mode::entry || search_ || menu_.is_open() || recall_ || buffer_.cursor() != buffer_.text().size()) return {};
  if (!services_.suggests()) return {};
  const std::string_view rest = history_.rest_of(buffer_.text());
  return rest.starts_with('\n') ? std::string_view() : rest;
}

bool Editing::accept_suggestion(bool word) {
  const std::string rest(suggestion());
  if (rest.empty()) return false;
  if (!word) {
    buffer_.insert(rest);
    if (buffer_.text().find('\n') != std::string::npos) whole_ = buffer_.text();
    return true;
  }
  Buffer measure;
  measure.insert(rest);
  measure.move_to(0);
  buffer_.insert(rest.substr(0, measure.word_right()));
  return true;
}

void Editing::search(bool older, bool anew) {
  const size_t count = history_.entries().size();
  if (!search_) {
    search_ = Search{{}, false, count, buffer_.text(), buffer_.cursor()};
    return;
  }
  const std::string& query = search_->query;
  if (query.empty()) return;
  // A longer query may still be in the entry that is shown.
  const size_t from = anew ? search_->index : std::min(search_->index + 1, count);
  std::optional<size_t> found = older ? history_.older_with(from, query) : history_.newer_with(search_->index, query);
  while (anew && found && history_.entries()[*found] == buffer_.text())
    found = older ? history_.older_with(*found, query) : history_.newer_with(*found, query);
  search_->failed = !found;
  if (!found) return;
  search_->index = *found;
  const std::string& entry = history_.entries()[*found];
  buffer_.replace_all(entry);
  buffer_.move_to(entry.find(query));
  whole_ = entry;
}

Editing::Outcome Editing::handle_search(const Key& key) {
  const bool is_character = key.code == Key::Code::character;
  if (is_character && key.ctrl && (key.text == "r" || key.text == "s")) {
    search(key.text == "r", true);
    return search_->failed ? Outcome::beeps : Outcome::goes_on;
  }
  if (is_character && !key.ctrl && !key.alt) {
    search_->query += key.text;
    search(true, false);
    return search_->failed ? Outcome::beeps : Outcome::goes_on;
  }
  if (key.code == Key::Code::backspace) {
    search_->query.erase(previous_character(search_->query, search_->query.size()));
    search_->index = history_.entries().size();
    search_->failed = false;
    search(true, false);
    return Outcome::goes_on;
  }
  if (is_character && key.ctrl && key.text == "g") {
    buffer_.replace_all(search_->before);
    buffer_.move_to(search_->cursor_before);
    search_.reset();
    return Outcome::goes_on;
  }
  search_.reset();
  if (key.code == Key::Code::escape) return Outcome::goes_on;
  if (key.code == Key::Code::enter) buffer_.move_to(buffer_.text().size());
  return handle(key, false);
}

}  // namespace gasell::editor
