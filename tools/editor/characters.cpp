#include "tools/editor/characters.h"

#include <utf8proc.h>

#include <algorithm>

#include "lang/characters.h"

namespace gasell::editor {

size_t next_character(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  CodePoint first = decode_utf8(text, at);
  size_t end = at + static_cast<size_t>(first.length);
  if (first.value < 0x80 && (end >= text.size() || static_cast<unsigned char>(text[end]) < 0x80)) return end;
  utf8proc_int32_t state = 0;
  while (end < text.size()) {
    const CodePoint next = decode_utf8(text, end);
    if (first.value == kBadCodePoint || next.value == kBadCodePoint) break;
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(first.value), static_cast<utf8proc_int32_t>(next.value), &state))
      break;
    end += static_cast<size_t>(next.length);
    first = next;
  }
  return end;
}

size_t previous_character(std::string_view text, size_t at) {
  if (at == 0) return 0;
  if (static_cast<unsigned char>(text[at - 1]) < 0x80) return at - 1;
  size_t begin = line_begin(text, at);
  if (begin == at) return at - 1;
  for (size_t next = begin; (next = next_character(text, begin)) < at;) begin = next;
  return begin;
}

int width_of(std::string_view text) {
  int width = 0;
  for (size_t at = 0; at < text.size(); at = next_character(text, at)) width += display_width(decode_utf8(text, at).value);
  return width;
}

std::string_view fitting(std::string_view text, int columns) {
  int width = 0;
  size_t at = 0;
  while (at < text.size()) {
    width += display_width(decode_utf8(text, at).value);
    if (width > columns) break;
    at = next_character(text, at);
  }
  return text.substr(0, at);
}

size_t line_begin(std::string_view text, size_t at) {
  const size_t found = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return found == std::string_view::npos ? 0 : found + 1;
}

size_t line_end(std::string_view text, size_t at) { return std::min(text.find('\n', at), text.size()); }

}  // namespace gasell::editor
