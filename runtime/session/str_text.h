// Unicode text: UTF-8 in and out, properties of code points, case, Python's repr.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/characters.h"

namespace gasell {

bool is_ascii(std::string_view s);
/// The byte where code point `index` starts; the size when there are fewer.
size_t byte_offset(std::string_view s, int64_t index);
/// Lone surrogates ("\ud800") are kept as their three bytes; a byte that is no UTF-8 becomes U+FFFD.
std::u32string decode(std::string_view s);
std::string encode(std::u32string_view s);
/// std::bad_alloc (MemoryError) for more characters in a row than a text is padded with.
void require_width(int64_t count);
/// A character `count` times.
std::string repeated(char32_t c, int64_t count);

// ---- properties (Unicode, as str's methods ask for them) ----
bool is_wide_space(char32_t c);  // of those that are not ASCII
inline bool is_space(char32_t c) { return c < 0x80 ? (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20) : is_wide_space(c); }
bool is_line_break(char32_t c);
bool is_printable(char32_t c);
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit_like(char32_t c);  // str.isdigit: decimals, superscripts, circled digits …
bool is_numeric(char32_t c);
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);
bool is_cased(char32_t c);
bool is_identifier(std::string_view s);
/// The value of a decimal digit of any script, or -1.
int decimal_digit(char32_t c);

// ---- case, by full mapping: "ß".upper() is "SS" ----
std::string to_lower(std::string_view s);
std::string to_upper(std::string_view s);
std::string to_title(std::string_view s);
std::string capitalize(std::string_view s);
std::string swap_case(std::string_view s);
std::string case_fold(std::string_view s);

/// repr(s): quotes and escapes as CPython chooses them; `ascii_only` for ascii().
std::string str_repr(std::string_view s, bool ascii_only = false);

}  // namespace gasell
