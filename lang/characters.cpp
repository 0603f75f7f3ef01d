#include "lang/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace gasell {

CodePoint decode_utf8(std::string_view text, size_t offset) {
  const auto first = static_cast<unsigned char>(text[offset]);
  if (first < 0x80) return {first, 1};
  utf8proc_int32_t value = -1;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + offset),
                                       static_cast<utf8proc_ssize_t>(std::min<size_t>(4, text.size() - offset)), &value);
  if (length <= 0) return {kBadCodePoint, 1};
  return {static_cast<char32_t>(value), static_cast<int>(length)};
}

void append_utf8(std::string& out, char32_t value) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(value), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(length));
}

int64_t code_point_count(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

bool begins_name(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  if (c == kBadCodePoint) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL: return true;
    default: return false;
  }
}

bool continues_name(char32_t c) {
  if (c < 0x80) return begins_name(c) || (c >= '0' && c <= '9');
  if (begins_name(c)) return true;
  if (c == kBadCodePoint) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return c == 0xB7 || c == 0x387;  // Other_ID_Continue that occurs in words
  }
}

size_t name_length(std::string_view text, size_t offset) {
  if (offset >= text.size()) return 0;
  CodePoint c = decode_utf8(text, offset);
  if (!begins_name(c.value)) return 0;
  size_t end = offset;
  do {
    end += c.length;
    if (end >= text.size()) break;
    c = decode_utf8(text, end);
  } while (continues_name(c.value));
  return end - offset;
}

std::string normalised_name(std::string_view name) {
  if (std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return std::string(name);
  utf8proc_uint8_t* out = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(name.data()), static_cast<utf8proc_ssize_t>(name.size()), &out,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
  if (length < 0) return std::string(name);
  std::string result(reinterpret_cast<const char*>(out), static_cast<size_t>(length));
  std::free(out);  // utf8proc hands out malloc'ed memory
  return result;
}

int display_width(char32_t c) {
  if (c == kBadCodePoint) return 1;
  return std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(c)));
}

bool is_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 35> kWords = {
      "False",  "None",     "True", "and",    "as",      "assert", "async",  "await",  "break", "class",  "continue", "def",
      "del",    "elif",     "else", "except", "finally", "for",    "from",   "global", "if",    "import", "in",       "is",
      "lambda", "nonlocal", "not",  "or",     "pass",    "raise",  "return", "try",    "while", "with",   "yield"};
  return std::binary_search(kWords.begin(), kWords.end(), word);
}

}  // namespace gasell
