#include "tools/editor/editing.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "lang/characters.h"
#include "tools/editor/characters.h"
#include "tools/editor/indent.h"
#include "tools/editor/paste.h"

namespace gasell::editor {

namespace {

constexpr int kPage = 10;  // lines

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\n") == std::string_view::npos; }

std::string without_blank_end(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\n");
  if (last == std::string_view::npos) return {};
  return std::string(text.substr(0, line_end(text, last)));
}

}  // namespace

void Editing::begin(Mode mode, std::string prompt, std::string more_prompt) {
  mode_ = mode;
  prompt_ = std::move(prompt);
  more_prompt_ = std::move(more_prompt);
  buffer_.clear();
  menu_.close();
  search_.reset();
  recall_.reset();
  yank_age_.reset();
  whole_.reset();
  mistake_.reset();
  control_x_ = false;
  vi_.begin();
  cuts_.rest();
  if (mode_ == Mode::entry) history_.refresh();
}

void Editing::prefill(std::string_view text) {
  buffer_.insert(text);
  whole_ = text.find('\n') == std::string_view::npos ? std::nullopt : std::optional(std::string(text));
}

void Editing::replace_with(std::string_view text) {
  buffer_.replace_all(without_blank_end(text));
  whole_ = buffer_.text();
}

std::string Editing::result() const { return mode_ == Mode::line ? buffer_.text() : without_blank_end(buffer_.text()); }

Editing::Outcome Editing::handle(const Key& key, bool more_waits) {
  mistake_.reset();
  const bool is_control = key.code == Key::Code::character && key.ctrl;
  if (is_control && key.text == "c") return Outcome::interrupted;
  if (search_) return handle_search(key);
  if (std::exchange(control_x_, false)) {
    if (is_control && key.text == "e") return Outcome::edits_beside;
    if (is_control && key.text == "u") return buffer_.undo() ? Outcome::goes_on : Outcome::beeps;
  }
  if (menu_.is_open())
    if (const std::optional<Outcome> outcome = handle_menu(key)) return *outcome;
  if (uses_vi_)
    if (const std::optional<Outcome> outcome = handle_vi(key)) return *outcome;
  const bool keeps_cutting = (is_control && (key.text == "k" || key.text == "u" || key.text == "w")) ||
                             (key.alt && (key.text == "d" || key.code == Key::Code::backspace)) ||
                             (key.ctrl && key.code == Key::Code::erase);
  if (!keeps_cutting) cuts_.rest();
  const bool recalls = key.code == Key::Code::up || key.code == Key::Code::down || (is_control && (key.text == "p" || key.text == "n")) ||
                       key.code == Key::Code::page_up || key.code == Key::Code::page_down;
  if (!recalls) recall_.reset();
  const std::optional<size_t> yanked = std::exchange(yank_age_, std::nullopt);
  if (key.alt && key.text == "y" && yanked) {
    buffer_.undo();
    yank(*yanked + 1);
    return Outcome::goes_on;
  }
  switch (key.code) {
    case Key::Code::character:
      if (key.ctrl) return handle_control(key);
      if (key.alt) return handle_alt(key);
      type(key.text);
      return Outcome::goes_on;
    case Key::Code::enter: return enter(key, more_waits);
    case Key::Code::tab: return tab(key);
    case Key::Code::paste: take_paste(key.text); return Outcome::goes_on;
    default: return handle_special(key);
  }
}

std::optional<Editing::Outcome> Editing::handle_vi(const Key& key) {
  if (!vi_.is_normal()) {
    const bool is_alt = key.alt && key.code == Key::Code::character && !key.ctrl;  // Escape and a key that came at once
    if (key.code != Key::Code::escape && !is_alt) return std::nullopt;
    vi_.leave_insert(buffer_);
    if (!is_alt) return Outcome::goes_on;
    Key alone = key;
    alone.alt = false;
    return handle(alone, false);
  }
  if (key.code == Key::Code::character && !key.ctrl && key.text == "/" && mode_ == Mode::entry) {
    search(true, true);
    return Outcome::goes_on;
  }
  const auto earlier = [&](bool older) {
    if (mode_ == Mode::entry) recall(older);
  };
  if (!(key.text == "j" || key.text == "k")) recall_.reset();
  switch (vi_.handle(key, buffer_, cuts_, earlier)) {
    case Vi::Taken::done: return Outcome::goes_on;
    case Vi::Taken::beeps: return Outcome::beeps;
    case Vi::Taken::not_mine: break;
  }
  return std::nullopt;
}

void Editing::type(std::string_view text) {
  buffer_.insert(text);
  if (mode_ == Mode::line || text.size() != 1 || std::string_view(":)]}").find(text[0]) == std::string_view::npos) return;
  if (buffer_.cursor() != buffer_.end_of_line()) return;
  if (const std::optional<int> wanted = changed_indentation(buffer_.before_cursor())) {
    const size_t from_end = buffer_.text().size() - buffer_.cursor();
    buffer_.replace(buffer_.begin_of_line(), buffer_.text_of_line(), std::string(static_cast<size_t>(*wanted), ' '));
    buffer_.move_to(buffer_.text().size() - from_end);
  }
}

void Editing::take_paste(std::string_view pasted) {
  std::string text = cleaned_paste(pasted);
  if (mode_ == Mode::line) std::replace(text.begin(), text.end(), '\n', ' ');
  const bool was_empty = is_blank(buffer_.text());
  if (was_empty && text.find('\n') != std::string::npos) {
    buffer_.replace_all(text);
  } else {
    buffer_.insert(text);
  }
  if (text.find('\n') != std::string::npos) whole_ = buffer_.text();
}

void Editing::new_line(bool indents) {
  std::string line = "\n";
  if (indents) line += indentation_after(buffer_.before_cursor());
  const size_t blanks = indents ? std::min(buffer_.after_cursor().find_first_not_of(' '), buffer_.end_of_line() - buffer_.cursor()) : 0;
  size_t begin = buffer_.cursor();
  const bool only_blanks = is_blank(buffer_.before_cursor().substr(buffer_.begin_of_line()));
  if (only_blanks && indents) begin = buffer_.begin_of_line();  // an empty line keeps no blanks
  buffer_.replace(begin, buffer_.cursor() + blanks, line);
}

Editing::Outcome Editing::enter(const Key& key, bool more_waits) {
  if (mode_ == Mode::line) return Outcome::accepted;
  if (key.alt || key.shift) {
    new_line(true);
    return Outcome::goes_on;
  }
  const std::string& text = buffer_.text();
  std::string entry(text);
  const size_t last = line_begin(entry, entry.size());
  if (last > 0 && is_blank(std::string_view(entry).substr(last))) entry.resize(last);  // an empty line ends a block, blanks or not
  if (whole_ == text) entry += "\n";
  const bool at_end = is_blank(buffer_.after_cursor()) || text.find('\n') == std::string::npos || whole_ == text;
  if (is_blank(text) || (at_end && services_.is_complete(entry))) {
    buffer_.move_to(text.size());
    return Outcome::accepted;
  }
  new_line(!more_waits);
  return Outcome::goes_on;
}

Editing::Outcome Editing::tab(const Key& key) {
  const std::string_view before = buffer_.before_cursor().substr(buffer_.begin_of_line());
  if (mode_ == Mode::line) {
    buffer_.insert(key.shift ? "" : "\t");
    return Outcome::goes_on;
  }
  if (key.shift) {  // moves the line to the left
    const size_t begin = buffer_.begin_of_line(), cursor = buffer_.cursor();
    const size_t blanks = buffer_.text_of_line() - begin;
    const size_t less = blanks == 0 ? 0 : (blanks - 1) % kIndent + 1;
    buffer_.erase(begin, begin + less);
    buffer_.move_to(cursor - std::min(less, cursor - begin));
    return Outcome::goes_on;
  }
  if (is_blank(before)) {
    buffer_.insert(std::string(kIndent - before.size() % kIndent, ' '));
    return Outcome::goes_on;
  }
  const size_t cursor = buffer_.cursor();
  complete(true);
  return menu_.is_open() || buffer_.cursor() != cursor ? Outcome::goes_on : Outcome::beeps;
}

void Editing::complete(bool opens) {
  Completion found = services_.complete(buffer_.text(), buffer_.cursor());
  if (found.candidates.empty()) return menu_.close();
  const std::string written = buffer_.text().substr(found.begin, buffer_.cursor() - found.begin);
  if (!opens) return menu_.open(std::move(found), written);
  std::string common = common_prefix(found.candidates);
  if (found.candidates.size() == 1) common += found.closing;
  if (found.candidates.size() == 1 || common.size() > written.size()) {
    menu_.close();
    if (common != written) buffer_.replace(found.begin, buffer_.cursor(), common);
    return;
  }
  menu_.open(std::move(found), written);
}

std::optional<Editing::Outcome> Editing::handle_menu(const Key& key) {
  const auto step = [&](int by) {
    menu_.step(by);
    buffer_.replace(menu_.begin(), buffer_.cursor(), menu_.text());
    return Outcome::goes_on;
  };
  switch (key.code) {
    case Key::Code::tab: return step(key.shift ? -1 : 1);
    case Key::Code::down: return step(1);
    case Key::Code::up: return step(-1);
    case Key::Code::page_down: return step(kPage);
    case Key::Code::page_up: return step(-kPage);
    case Key::Code::enter: {
      const bool chosen = menu_.has_choice();
      menu_.close();
      if (chosen) return Outcome::goes_on;
      return std::nullopt;
    }
    case Key::Code::escape:
      buffer_.replace(menu_.begin(), buffer_.cursor(), menu_.written());
      menu_.close();
      return Outcome::goes_on;
    default: break;
  }
  // What is typed makes the list shorter, until something of it was chosen.
  const bool types = key.code == Key::Code::character && !key.ctrl && !key.alt;
  if (!menu_.has_choice() && (types || key.code == Key::Code::backspace)) {
    if (types) {
      type(key.text);
    } else {
      backspace();
    }
    const size_t begin = menu_.begin();
    complete(false);
    if (menu_.begin() != begin) menu_.close();  // another word has begun
    return Outcome::goes_on;
  }
  menu_.close();
  return std::nullopt;
}

void Editing::backspace() {
  const size_t begin = buffer_.begin_of_line(), column = buffer_.cursor() - begin;
  const bool within_blanks = column > 0 && mode_ == Mode::entry && buffer_.cursor() <= buffer_.text_of_line() && begin > 0;
  buffer_.erase(within_blanks ? begin + (column - 1) / kIndent * kIndent : buffer_.left(), buffer_.cursor());
}

Editing::Outcome Editing::handle_special(const Key& key) {
  const bool by_word = key.ctrl || key.alt;
  switch (key.code) {
    case Key::Code::left: buffer_.move_to(by_word ? buffer_.word_left() : buffer_.left()); break;
    case Key::Code::right:
      if (!accept_suggestion(by_word)) buffer_.move_to(by_word ? buffer_.word_right() : buffer_.right());
      break;
    case Key::Code::home:
      buffer_.move_to(key.ctrl ? 0 : buffer_.cursor() == buffer_.text_of_line() ? buffer_.begin_of_line() : buffer_.text_of_line());
      break;
    case Key::Code::end:
      if (!accept_suggestion(false)) buffer_.move_to(key.ctrl ? buffer_.text().size() : buffer_.end_of_line());
      break;
    case Key::Code::up: move_vertically(true, 1); break;
    case Key::Code::down: move_vertically(false, 1); break;
    case Key::Code::page_up: move_vertically(true, kPage); break;
    case Key::Code::page_down: move_vertically(false, kPage); break;
    case Key::Code::backspace:
      if (by_word) {
        cut(buffer_.word_left(), buffer_.cursor());
      } else {
        backspace();
      }
      break;
    case Key::Code::erase:
      if (by_word) {
        cut(buffer_.cursor(), buffer_.word_right());
      } else {
        buffer_.erase(buffer_.cursor(), buffer_.right());
      }
      break;
    default: break;
  }
  return Outcome::goes_on;
}

Editing::Outcome Editing::handle_control(const Key& key) {
  switch (key.text[0]) {
    case 'a': buffer_.move_to(buffer_.begin_of_line()); break;
    case 'b': buffer_.move_to(buffer_.left()); break;
    case 'd':
      if (buffer_.text().empty()) return Outcome::ended;
      buffer_.erase(buffer_.cursor(), buffer_.right());
      break;
    case 'e':
      if (!accept_suggestion(false)) buffer_.move_to(buffer_.end_of_line());
      break;
    case 'f':
      if (!accept_suggestion(false)) buffer_.move_to(buffer_.right());
      break;
    case 'g': break;
    case 'k': cut(buffer_.cursor(), buffer_.cursor() == buffer_.end_of_line() ? buffer_.right() : buffer_.end_of_line()); break;
    case 'l': return Outcome::clears;
    case 'n': move_vertically(false, 1); break;
    case 'p': move_vertically(true, 1); break;
    case 'r':
    case 's': search(key.text[0] == 'r', true); break;
    case 't': swap_characters(); break;
    case 'u': cut(buffer_.begin_of_line(), buffer_.cursor()); break;
    case 'w': {
      size_t begin = buffer_.cursor();  // words between blanks, as in a shell
      const std::string& text = buffer_.text();
      while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\n')) --begin;
      while (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '\n') --begin;
      cut(begin, buffer_.cursor());
      break;
    }
    case 'x': control_x_ = true; break;
    case 'y': yank(0); break;
    case 'z': return Outcome::suspended;
    case '_': return buffer_.undo() ? Outcome::goes_on : Outcome::beeps;
    default: return Outcome::beeps;
  }
  return Outcome::goes_on;
}

Editing::Outcome Editing::handle_alt(const Key& key) {
  switch (key.text[0]) {
    case 'b': buffer_.move_to(buffer_.word_left()); break;
    case 'f':
      if (!accept_suggestion(true)) buffer_.move_to(buffer_.word_right());
      break;
    case 'd': cut(buffer_.cursor(), buffer_.word_right()); break;
    case 'u':
    case 'l':
    case 'c': change_case(key.text[0]); break;
    case '/': return buffer_.redo() ? Outcome::goes_on : Outcome::beeps;
    case '<': buffer_.move_to(0); break;
    case '>': buffer_.move_to(buffer_.text().size()); break;
    default: return Outcome::beeps;
  }
  return Outcome::goes_on;
}

void Editing::cut(size_t begin, size_t end) {
  cuts_.cut(buffer_.text().substr(begin, end - begin), begin < buffer_.cursor());
  buffer_.erase(begin, end);
}

void Editing::yank(size_t age) {
  const std::string text(cuts_.get(age));
  if (text.empty()) return;
  buffer_.insert(text);
  buffer_.move_to(buffer_.cursor());  // a change of its own
  yank_age_ = age;
}

void Editing::swap_characters() {
  const size_t at = buffer_.cursor() == buffer_.end_of_line() ? buffer_.left() : buffer_.cursor();
  if (at <= buffer_.begin_of_line()) return;
  const std::string& text = buffer_.text();
  const size_t before = previous_character(text, at), behind = next_character(text, at);
  buffer_.replace(before, behind, text.substr(at, behind - at) + text.substr(before, at - before));
}

void Editing::change_case(char how) {
  const size_t end = buffer_.word_right();
  std::string changed;
  bool within = false;
  for (size_t at = buffer_.cursor(); at < end;) {
    const CodePoint point = decode_utf8(buffer_.text(), at);
    const bool upper = how == 'u' || (how == 'c' && !within);
    const auto code = static_cast<utf8proc_int32_t>(point.value);
    within = within || continues_name(point.value);
    append_utf8(changed, static_cast<char32_t>(upper && continues_name(point.value) ? utf8proc_toupper(code) : utf8proc_tolower(code)));
    at += static_cast<size_t>(point.length);
  }
  buffer_.replace(buffer_.cursor(), end, changed);
}

}  // namespace gasell::editor
