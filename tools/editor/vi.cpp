#include "tools/editor/vi.h"

#include <utf8proc.h>

#include <algorithm>

#include "lang/characters.h"
#include "tools/editor/characters.h"

namespace gasell::editor {

namespace {

/// Of a character: blank 0, of a word 1, other 2. With `big` all that is not blank is of a word.
int kind_at(std::string_view text, size_t at, bool big) {
  if (at >= text.size() || text[at] == ' ' || text[at] == '\n' || text[at] == '\t') return 0;
  return big || continues_name(decode_utf8(text, at).value) ? 1 : 2;
}

size_t next_word(std::string_view text, size_t at, bool big) {
  const int kind = kind_at(text, at, big);
  while (at < text.size() && kind != 0 && kind_at(text, at, big) == kind) at = next_character(text, at);
  while (at < text.size() && kind_at(text, at, big) == 0) at = next_character(text, at);
  return at;
}

size_t previous_word(std::string_view text, size_t at, bool big) {
  while (at > 0 && kind_at(text, previous_character(text, at), big) == 0) at = previous_character(text, at);
  if (at == 0) return 0;
  const int kind = kind_at(text, previous_character(text, at), big);
  while (at > 0 && kind_at(text, previous_character(text, at), big) == kind) at = previous_character(text, at);
  return at;
}

size_t end_of_word(std::string_view text, size_t at, bool big) {
  at = next_character(text, at);
  while (at < text.size() && kind_at(text, at, big) == 0) at = next_character(text, at);
  const int kind = kind_at(text, at, big);
  for (size_t next; (next = next_character(text, at)) < text.size() && kind_at(text, next, big) == kind;) at = next;
  return std::min(at, text.empty() ? 0 : previous_character(text, text.size()));
}

}  // namespace

void Vi::leave_insert(Buffer& buffer) {
  normal_ = true;
  if (buffer.cursor() > buffer.begin_of_line()) buffer.move_to(buffer.left());
}

void Vi::finish(Buffer& buffer) {
  count_ = 0;
  operator_ = awaits_ = 0;
  // In normal mode the cursor is on a character.
  if (normal_ && buffer.cursor() == buffer.end_of_line() && buffer.cursor() > buffer.begin_of_line()) buffer.move_to(buffer.left());
}

void Vi::insert_at(size_t at, Buffer& buffer) {
  buffer.move_to(at);
  normal_ = false;
}

std::optional<Vi::Motion> Vi::find(char how, const std::string& character, const Buffer& buffer) const {
  const std::string& text = buffer.text();
  const bool forward = how == 'f' || how == 't';
  size_t at = buffer.cursor();
  for (int k = std::max(count_, 1); k > 0; --k) {
    if (forward) {
      const size_t found = text.find(character, next_character(text, at));
      if (found == std::string::npos || found >= buffer.end_of_line()) return std::nullopt;
      at = found;
    } else {
      const size_t found = at == 0 ? std::string::npos : text.rfind(character, at - 1);
      if (found == std::string::npos || found < buffer.begin_of_line()) return std::nullopt;
      at = found;
    }
  }
  if (how == 't') at = previous_character(text, at);
  if (how == 'T') at = next_character(text, at);
  return Motion{at, forward};
}

std::optional<Vi::Motion> Vi::motion(char key, const Buffer& buffer) const {
  const std::string& text = buffer.text();
  Buffer place = buffer;
  const int count = std::max(count_, 1);
  const auto repeat = [&](auto step) {
    size_t at = buffer.cursor();
    for (int k = 0; k < count; ++k) at = step(at);
    return at;
  };
  const bool big = key == 'W' || key == 'B' || key == 'E';
  switch (key) {
    case 'h': return Motion{std::max(repeat([&](size_t at) { return previous_character(text, at); }), buffer.begin_of_line())};
    case 'l':
    case ' ': return Motion{std::min(repeat([&](size_t at) { return next_character(text, at); }), buffer.end_of_line())};
    case '0': return Motion{buffer.begin_of_line()};
    case '^': return Motion{buffer.text_of_line()};
    case '$': return Motion{buffer.end_of_line()};
    case 'w':
    case 'W': {
      // cw stops where the word ends.
      if (operator_ == 'c' && kind_at(text, buffer.cursor(), big) != 0) {
        const size_t last = repeat([&](size_t at) {
          const int kind = kind_at(text, at, big);
          while (at < text.size() && kind_at(text, at, big) == kind) at = next_character(text, at);
          return at;
        });
        return Motion{last};
      }
      return Motion{repeat([&](size_t at) { return next_word(text, at, big); })};
    }
    case 'b':
    case 'B': return Motion{repeat([&](size_t at) { return previous_word(text, at, big); })};
    case 'e':
    case 'E': return Motion{repeat([&](size_t at) { return end_of_word(text, at, big); }), true};
    case 'j':
    case 'k':
      for (int k = 0; k < count; ++k)
        if (!(key == 'j' ? place.move_down() : place.move_up())) return std::nullopt;
      return Motion{place.cursor(), false, true};
    case 'G': return Motion{text.size(), false, true};
    default: return std::nullopt;
  }
}

void Vi::operate_on_lines(char op, size_t begin, size_t end, Buffer& buffer, KillRing& cuts) {
  const std::string& text = buffer.text();
  cuts.rest();
  cuts.cut(text.substr(begin, end - begin) + "\n", false);
  cut_lines_ = true;
  if (op == 'y') return buffer.move_to(begin);
  if (op == 'c') {
    buffer.erase(begin, end);
    normal_ = false;
    return;
  }
  // The line end behind goes with them, or the one before where they are the last.
  if (end < text.size()) {
    buffer.erase(begin, end + 1);
  } else {
    buffer.erase(begin > 0 ? begin - 1 : 0, end);
  }
  buffer.move_to(buffer.begin_of_line());
  buffer.move_to(buffer.text_of_line());
}

void Vi::operate(char op, Motion motion, Buffer& buffer, KillRing& cuts) {
  const std::string& text = buffer.text();
  size_t begin = std::min(buffer.cursor(), motion.to), end = std::max(buffer.cursor(), motion.to);
  if (motion.lines) return operate_on_lines(op, line_begin(text, begin), line_end(text, end), buffer, cuts);
  if (motion.inclusive) end = next_character(text, end);
  cuts.rest();
  cuts.cut(text.substr(begin, end - begin), false);
  cut_lines_ = false;
  if (op == 'y') return buffer.move_to(begin);
  buffer.erase(begin, end);
  if (op == 'c') normal_ = false;
}

void Vi::put(bool behind, Buffer& buffer, const KillRing& cuts) const {
  std::string text(cuts.get(0));
  if (text.empty()) return;
  if (!cut_lines_) {
    if (behind && buffer.cursor() < buffer.end_of_line()) buffer.move_to(buffer.right());
    buffer.insert(text);
    return buffer.move_to(buffer.left());
  }
  text.pop_back();
  if (behind) {
    const size_t end = buffer.end_of_line();
    buffer.replace(end, end, "\n" + text);
    return buffer.move_to(end + 1);
  }
  const size_t begin = buffer.begin_of_line();
  buffer.replace(begin, begin, text + "\n");
  buffer.move_to(begin);
}

Vi::Taken Vi::handle(const Key& key, Buffer& buffer, KillRing& cuts, const std::function<void(bool older)>& recall) {
  if (key.code == Key::Code::escape) return finish(buffer), Taken::done;
  if (key.code == Key::Code::backspace) return command('h', buffer, cuts, recall);
  if (key.code != Key::Code::character || key.alt) return Taken::not_mine;
  if (key.ctrl) {
    if (key.text != "r") return Taken::not_mine;
    const bool done = buffer.redo();
    return finish(buffer), done ? Taken::done : Taken::beeps;
  }
  if (awaits_) {
    const char how = awaits_;
    awaits_ = 0;
    if (how == 'g') return key.text == "g" ? command('\1', buffer, cuts, recall) : (finish(buffer), Taken::beeps);
    if (how == 'r') {
      if (buffer.cursor() == buffer.end_of_line()) return finish(buffer), Taken::beeps;
      const size_t at = buffer.cursor();
      buffer.replace(at, buffer.right(), key.text);
      buffer.move_to(at);
      return finish(buffer), Taken::done;
    }
    last_find_ = how;
    found_ = key.text;
    return command(';', buffer, cuts, recall);
  }
  if (key.text.size() != 1) return Taken::beeps;
  const char c = key.text[0];
  if ((c >= '1' && c <= '9') || (c == '0' && count_ > 0)) {
    count_ = std::min(count_ * 10 + (c - '0'), 9999);
    return Taken::done;
  }
  if (c == 'f' || c == 'F' || c == 't' || c == 'T' || c == 'r' || c == 'g') {
    awaits_ = c;
    return Taken::done;
  }
  if ((c == 'd' || c == 'c' || c == 'y') && !operator_) {
    operator_ = c;
    return Taken::done;
  }
  return command(c, buffer, cuts, recall);
}

Vi::Taken Vi::command(char key, Buffer& buffer, KillRing& cuts, const std::function<void(bool older)>& recall) {
  const std::string& text = buffer.text();
  const char op = operator_;
  if (op && key == op) {  // dd, cc, yy
    size_t end = buffer.end_of_line();
    for (int k = 1; k < count_ && end < text.size(); ++k) end = line_end(text, end + 1);
    operate_on_lines(op, buffer.begin_of_line(), end, buffer, cuts);
    return finish(buffer), Taken::done;
  }
  std::optional<Motion> to;
  if (key == '\1') {
    to = Motion{0, false, true};
  } else if (key == ';' || key == ',') {
    static constexpr std::string_view kFinds = "fFtT", kBack = "FfTt";
    if (last_find_) to = find(key == ';' ? last_find_ : kBack[kFinds.find(last_find_)], found_, buffer);
  } else {
    to = motion(key, buffer);
  }
  if (to) {
    if (op) {
      operate(op, *to, buffer, cuts);
    } else if (key == 'G') {
      buffer.move_to(line_begin(text, text.size()));
    } else {
      buffer.move_to(to->to);
    }
    return finish(buffer), Taken::done;
  }
  if (op) return finish(buffer), Taken::beeps;
  const size_t cursor = buffer.cursor();
  switch (key) {
    case 'j':
    case 'k': recall(key == 'k'); break;
    case 'i': insert_at(cursor, buffer); break;
    case 'a': insert_at(cursor < buffer.end_of_line() ? buffer.right() : cursor, buffer); break;
    case 'I': insert_at(buffer.text_of_line(), buffer); break;
    case 'A': insert_at(buffer.end_of_line(), buffer); break;
    case 'o':
    case 'O': {
      const std::string blanks(buffer.text_of_line() - buffer.begin_of_line(), ' ');
      const size_t at = key == 'o' ? buffer.end_of_line() : buffer.begin_of_line();
      buffer.replace(at, at, key == 'o' ? "\n" + blanks : blanks + "\n");
      insert_at(key == 'o' ? at + 1 + blanks.size() : at + blanks.size(), buffer);
      break;
    }
    case 'x':
    case 's': {
      Motion motion{cursor};
      for (int k = std::max(count_, 1); k > 0; --k) motion.to = std::min(next_character(text, motion.to), buffer.end_of_line());
      operate(key == 'x' ? 'd' : 'c', motion, buffer, cuts);
      break;
    }
    case 'X': operate('d', Motion{std::max(buffer.left(), buffer.begin_of_line())}, buffer, cuts); break;
    case 'D':
    case 'C': operate(key == 'D' ? 'd' : 'c', Motion{buffer.end_of_line()}, buffer, cuts); break;
    case 'Y': operate_on_lines('y', buffer.begin_of_line(), buffer.end_of_line(), buffer, cuts); break;
    case 'S': operate_on_lines('c', buffer.begin_of_line(), buffer.end_of_line(), buffer, cuts); break;
    case 'J': {
      const size_t end = buffer.end_of_line();
      if (end == text.size()) return finish(buffer), Taken::beeps;
      buffer.replace(end, std::min(text.find_first_not_of(' ', end + 1), text.size()), " ");
      buffer.move_to(end);
      break;
    }
    case '~': {
      if (cursor == buffer.end_of_line()) break;
      const CodePoint point = decode_utf8(text, cursor);
      const auto code = static_cast<utf8proc_int32_t>(point.value);
      std::string other;
      append_utf8(other, static_cast<char32_t>(utf8proc_tolower(code) == code ? utf8proc_toupper(code) : utf8proc_tolower(code)));
      buffer.replace(cursor, cursor + static_cast<size_t>(point.length), other);
      break;
    }
    case 'p':
    case 'P': put(key == 'p', buffer, cuts); break;
    case 'u':
      if (!buffer.undo()) return finish(buffer), Taken::beeps;
      break;
    default: return finish(buffer), Taken::beeps;
  }
  return finish(buffer), Taken::done;
}

}  // namespace gasell::editor
