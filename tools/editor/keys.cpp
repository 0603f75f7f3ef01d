#include "tools/editor/keys.h"

#include <charconv>
#include <vector>

#include "lang/characters.h"

namespace gasell::editor {

namespace {

constexpr char kEscape = '\033';
constexpr std::string_view kPasteEnd = "\033[201~";
constexpr size_t kLongestSequence = 64;  // what is longer is none

Key::Code code_of_letter(char letter) {
  switch (letter) {
    case 'A': return Key::Code::up;
    case 'B': return Key::Code::down;
    case 'C': return Key::Code::right;
    case 'D': return Key::Code::left;
    case 'F': return Key::Code::end;
    case 'H': return Key::Code::home;
    case 'M': return Key::Code::enter;  // of the number block
    case 'Z': return Key::Code::tab;
    default: return Key::Code::unknown;
  }
}

/// Of sequences that end in '~'.
Key::Code code_of_number(int number) {
  switch (number) {
    case 1:
    case 7: return Key::Code::home;
    case 2: return Key::Code::insert;
    case 3: return Key::Code::erase;
    case 4:
    case 8: return Key::Code::end;
    case 5: return Key::Code::page_up;
    case 6: return Key::Code::page_down;
    default: return Key::Code::unknown;
  }
}

Key key_of_code_point(int code) {
  switch (code) {
    case 9: return {Key::Code::tab};
    case 13: return {Key::Code::enter};
    case 27: return {Key::Code::escape};
    case 8:
    case 127: return {Key::Code::backspace};
    default: break;
  }
  Key key{Key::Code::character};
  append_utf8(key.text, static_cast<char32_t>(code));
  return key;
}

/// "1;5" as {1, 5}; 0 stands for what is no number.
std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> numbers;
  while (true) {
    const size_t end = text.find_first_of(";:");
    int number = 0;
    const std::string digits(text.substr(0, end));
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    numbers.push_back(number);
    if (end == std::string_view::npos) return numbers;
    text.remove_prefix(end + 1);
  }
}

void set_modifiers(Key& key, int number) {
  const int bits = number > 0 ? number - 1 : 0;
  key.shift = key.shift || (bits & 1);
  key.alt = key.alt || (bits & 2);
  key.ctrl = key.ctrl || (bits & 4);
}

Key control_key(char c) {
  switch (c) {
    case '\r':
    case '\n': return {Key::Code::enter};
    case '\t': return {Key::Code::tab};
    case '\b':
    case 0x7f: return {Key::Code::backspace};
    default: break;
  }
  Key key{Key::Code::character};
  key.ctrl = true;
  key.text = c == 0 ? "@" : std::string(1, static_cast<char>(c < 27 ? c + 'a' - 1 : c + '@'));
  return key;
}

}  // namespace

Key KeyDecoder::take(size_t count, Key key) {
  bytes_.erase(0, count);
  return key;
}

std::optional<Key> KeyDecoder::next(bool waited) {
  if (bytes_.empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes_[0]);
  if (first == kEscape) return escape_sequence(waited);
  if (first < 0x20 || first == 0x7f) return take(1, control_key(bytes_[0]));
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (bytes_.size() < length && !waited) return std::nullopt;
  const CodePoint point = decode_utf8(bytes_, 0);
  if (point.value == kBadCodePoint) return take(static_cast<size_t>(point.length), {});
  return take(static_cast<size_t>(point.length), {Key::Code::character, bytes_.substr(0, static_cast<size_t>(point.length))});
}

std::optional<Key> KeyDecoder::escape_sequence(bool waited) {
  const bool twice = bytes_.size() > 2 && bytes_[1] == kEscape && (bytes_[2] == '[' || bytes_[2] == 'O');  // rxvt's Alt
  const size_t begin = twice ? 1 : 0;
  if (bytes_.size() < begin + 2) {
    if (!waited) return std::nullopt;
    return take(1, {Key::Code::escape});
  }
  if (bytes_[begin + 1] == '[') {
    std::optional<Key> key = control_sequence(begin + 2, twice);
    if (key || !waited || bytes_.starts_with("\033[200~")) return key;
    return take(bytes_.size(), {});
  }
  if (bytes_[begin + 1] == 'O') {
    if (bytes_.size() < begin + 3) {
      if (!waited) return std::nullopt;
      return take(2, {Key::Code::character, "O", false, true});
    }
    return take(begin + 3, {code_of_letter(bytes_[begin + 2]), {}, false, twice});
  }
  KeyDecoder behind;  // Alt with another key
  behind.bytes_ = bytes_.substr(1);
  if (bytes_[1] == kEscape) return take(1, {Key::Code::escape});
  std::optional<Key> key = behind.next(waited);
  if (!key) return std::nullopt;
  key->alt = true;
  bytes_ = behind.bytes_;
  return key;
}

std::optional<Key> KeyDecoder::control_sequence(size_t begin, bool alt) {
  size_t end = begin;
  if (end < bytes_.size() && bytes_[end] == '[') {  // the Linux console's function keys: CSI [ A
    if (bytes_.size() < end + 2) return std::nullopt;
    return take(end + 2, {});
  }
  while (end < bytes_.size() && static_cast<unsigned char>(bytes_[end]) >= 0x20 && static_cast<unsigned char>(bytes_[end]) < 0x40) ++end;
  if (end == bytes_.size()) {
    if (end - begin > kLongestSequence) return take(end, {});
    return std::nullopt;
  }
  const std::vector<int> numbers = numbers_of(std::string_view(bytes_).substr(begin, end - begin));
  const char last = bytes_[end];
  if (last == '~' && numbers[0] == 200) {
    const size_t stop = bytes_.find(kPasteEnd, end + 1);
    if (stop == std::string::npos) return std::nullopt;
    return take(stop + kPasteEnd.size(), {Key::Code::paste, bytes_.substr(end + 1, stop - end - 1)});
  }
  if (std::string_view("<=>?").find(bytes_[begin]) != std::string_view::npos) return take(end + 1, {});  // an answer of the terminal
  Key key;
  key.alt = alt;
  if (last == 'u') {
    key = key_of_code_point(numbers[0]);
  } else if (last == '~' && numbers[0] == 27 && numbers.size() > 2) {  // xterm's modifyOtherKeys
    key = key_of_code_point(numbers[2]);
  } else {
    key.code = last == '~' ? code_of_number(numbers[0]) : code_of_letter(last);
    key.shift = last == 'Z';
  }
  if (numbers.size() > 1) set_modifiers(key, numbers[1]);
  if (last == 'a' || last == 'b' || last == 'c' || last == 'd') {  // rxvt's keys with Shift
    key.code = code_of_letter(static_cast<char>(last - 32));
    key.shift = true;
  }
  return take(end + 1, std::move(key));
}

}  // namespace gasell::editor
