#include "runtime/session/str_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <new>

#include "runtime/device/machine.h"
#include "runtime/session/str_tables.h"

namespace gasell {
namespace {

template <size_t N>
bool in_ranges(const CodePointRange (&table)[N], char32_t c) {
  const auto* at = std::upper_bound(std::begin(table), std::end(table), c, [](char32_t x, const CodePointRange& r) { return x < r.first; });
  return at != std::begin(table) && c <= std::prev(at)->last;
}

const SpecialCase* special_case(char32_t c) {
  const auto* at =
      std::lower_bound(std::begin(kSpecialCases), std::end(kSpecialCases), c, [](const SpecialCase& s, char32_t x) { return s.code < x; });
  return at != std::end(kSpecialCases) && at->code == c ? at : nullptr;
}

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

void append_all(std::string& out, const char32_t (&codes)[3]) {
  for (const char32_t c : codes) {
    if (c != 0) append_utf8(out, c);
  }
}

void append_upper(std::string& out, char32_t c) {
  if (const SpecialCase* s = c < 128 ? nullptr : special_case(c))
    append_all(out, s->upper);
  else
    append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
}

void append_title(std::string& out, char32_t c) {
  if (const SpecialCase* s = c < 128 ? nullptr : special_case(c))
    append_all(out, s->title);
  else
    append_utf8(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
}

/// Skipped when looking for letters around a sigma.
bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default:
      return std::u32string_view(U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A").find(c) !=
             std::u32string_view::npos;
  }
}

/// A capital sigma at the end of a word becomes the final one.
bool is_final_sigma(std::u32string_view s, size_t at) {
  size_t before = at;
  while (before > 0 && is_case_ignorable(s[before - 1])) --before;
  if (before == 0 || !is_cased(s[before - 1])) return false;
  size_t after = at + 1;
  while (after < s.size() && is_case_ignorable(s[after])) ++after;
  return after == s.size() || !is_cased(s[after]);
}

void append_lower(std::string& out, std::u32string_view s, size_t at) {
  const char32_t c = s[at];
  if (c == 0x130)
    out += "i\u0307";
  else if (c == 0x3A3)
    append_utf8(out, is_final_sigma(s, at) ? 0x3C2 : 0x3C3);
  else
    append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

/// Maps the ASCII letters of `s` by adding `delta` to those in [first, last].
std::string map_ascii(std::string_view s, char first, char last, int delta) {
  std::string out(s);
  for (char& c : out) {
    if (c >= first && c <= last) c = static_cast<char>(c + delta);
  }
  return out;
}

}  // namespace

bool is_ascii(std::string_view s) {
  uint64_t seen = 0;
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, s.data() + i, 8);
    seen |= word;
  }
  for (; i < s.size(); ++i) seen |= static_cast<unsigned char>(s[i]);
  return (seen & 0x8080808080808080U) == 0;
}

size_t byte_offset(std::string_view s, int64_t index) {
  size_t at = 0;
  for (; index > 0 && at < s.size(); --index) {
    do ++at;
    while (at < s.size() && (s[at] & 0xC0) == 0x80);
  }
  return at;
}

std::u32string decode(std::string_view s) {
  std::u32string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size();) {
    const auto lead = static_cast<unsigned char>(s[i]);
    const size_t size = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (size == 0 || i + size > s.size()) {
      out += U'\uFFFD';
      ++i;
      continue;
    }
    char32_t c = size == 1 ? lead : lead & (0x7FU >> size);
    bool good = true;
    for (size_t k = 1; k < size; ++k) {
      good &= (s[i + k] & 0xC0) == 0x80;
      c = c << 6 | (static_cast<unsigned char>(s[i + k]) & 0x3FU);
    }
    good &= c <= 0x10FFFF;
    out += good ? c : U'\uFFFD';
    i += good ? size : 1;
  }
  return out;
}

void require_width(int64_t count) {
  constexpr int64_t kWidest = 1 << 30;      // wider ones are mistakes, and take seconds to put together
  constexpr int64_t kAlwaysFits = 1 << 16;  // asking the system for its memory takes longer than most texts
  if (count > kAlwaysFits && count > std::min(kWidest, machine_memory() / 8)) throw std::bad_alloc();
}

std::string repeated(char32_t c, int64_t count) {
  require_width(count);
  if (c < 128) return std::string(static_cast<size_t>(count), static_cast<char>(c));
  std::string one, all;
  append_utf8(one, c);
  all.reserve(one.size() * static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) all += one;
  return all;
}

std::string encode(std::u32string_view s) {
  std::string out;
  out.reserve(s.size());
  for (const char32_t c : s) append_utf8(out, c);
  return out;
}

bool is_wide_space(char32_t c) {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_line_break(char32_t c) { return (c >= 10 && c <= 13) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029; }

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7F;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

bool is_alpha(char32_t c) {
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(char32_t c) { return c < 0x80 ? c >= '0' && c <= '9' : category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit_like(char32_t c) { return is_decimal(c) || in_ranges(kDigitLike, c); }
bool is_numeric(char32_t c) {
  const auto k = category(c);
  return (k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO) || in_ranges(kNumericIdeographs, c);
}
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || in_ranges(kOtherLowercase, c); }
bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU || in_ranges(kOtherUppercase, c); }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }
bool is_cased(char32_t c) { return is_lower(c) || is_upper(c) || is_title(c); }

bool is_identifier(std::string_view s) {
  bool first = true;
  for (const char32_t c : decode(s)) {
    if (!(first ? begins_name(c) : continues_name(c))) return false;
    first = false;
  }
  return !first;
}

int decimal_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1;
  if (!is_decimal(c)) return -1;
  char32_t start = c;  // decimals stand in blocks of ten
  while (is_decimal(start - 1)) --start;
  return static_cast<int>((c - start) % 10);
}

std::string to_lower(std::string_view s) {
  if (is_ascii(s)) return map_ascii(s, 'A', 'Z', 32);
  const std::u32string codes = decode(s);
  std::string out;
  for (size_t i = 0; i < codes.size(); ++i) append_lower(out, codes, i);
  return out;
}

std::string to_upper(std::string_view s) {
  if (is_ascii(s)) return map_ascii(s, 'a', 'z', -32);
  std::string out;
  for (const char32_t c : decode(s)) append_upper(out, c);
  return out;
}

std::string to_title(std::string_view s) {
  const std::u32string codes = decode(s);
  std::string out;
  bool in_word = false;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (in_word)
      append_lower(out, codes, i);
    else
      append_title(out, codes[i]);
    in_word = is_cased(codes[i]);
  }
  return out;
}

std::string capitalize(std::string_view s) {
  const std::u32string codes = decode(s);
  std::string out;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (i == 0)
      append_title(out, codes[i]);
    else
      append_lower(out, codes, i);
  }
  return out;
}

std::string swap_case(std::string_view s) {
  const std::u32string codes = decode(s);
  std::string out;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (is_upper(codes[i]))
      append_lower(out, codes, i);
    else if (is_lower(codes[i]))
      append_upper(out, codes[i]);
    else
      append_utf8(out, codes[i]);
  }
  return out;
}

std::string case_fold(std::string_view s) {
  if (is_ascii(s)) return map_ascii(s, 'A', 'Z', 32);
  std::string out;
  for (const char32_t c : decode(s)) {
    std::array<utf8proc_int32_t, 8> folded{};
    int boundary = 0;
    const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded.data(), folded.size(), UTF8PROC_CASEFOLD, &boundary);
    for (utf8proc_ssize_t i = 0; i < n; ++i) append_utf8(out, static_cast<char32_t>(folded[static_cast<size_t>(i)]));
  }
  return out;
}

std::string str_repr(std::string_view s, bool ascii_only) {
  constexpr char kHex[] = "0123456789abcdef";
  const char quote = s.find('\'') != s.npos && s.find('"') == s.npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char32_t c : decode(s)) {
    const auto escape = [&](char letter, int digits) {
      out += '\\';
      out += letter;
      for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[c >> shift & 15];
    };
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x80 ? c < 0x20 || c == 0x7F : ascii_only || !is_printable(c)) {
      if (c < 0x100)
        escape('x', 2);
      else if (c < 0x10000)
        escape('u', 4);
      else
        escape('U', 8);
    } else {
      append_utf8(out, c);
    }
  }
  return out + quote;
}

}  // namespace gasell
