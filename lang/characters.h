// Characters as the language sees them: UTF-8, and what may stand in a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gasell {

struct CodePoint {
  char32_t value;  // 0xFFFFFFFF when the bytes are not UTF-8
  int length;      // bytes, at least 1
};
inline constexpr char32_t kBadCodePoint = 0xFFFFFFFF;
/// The code point at `offset`, which lies inside `text`.
CodePoint decode_utf8(std::string_view text, size_t offset);
void append_utf8(std::string& out, char32_t value);
int64_t code_point_count(std::string_view text);

/// May this code point begin a name; may it stand inside one? (Unicode's XID properties, as Python.)
bool begins_name(char32_t c);
bool continues_name(char32_t c);
/// Bytes of the name that begins at `offset`, 0 when none does.
size_t name_length(std::string_view text, size_t offset);
/// A name as it is compared: NFKC, as Python. ASCII names are themselves.
std::string normalised_name(std::string_view name);
/// Columns a terminal gives to a code point: 0 (combining), 1 or 2 (wide).
int display_width(char32_t c);

/// Python's reserved words, which cannot be names.
bool is_keyword(std::string_view word);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace gasell
