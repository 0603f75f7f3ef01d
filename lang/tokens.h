// The words of any text, right or wrong, as they stand: for colours, brackets and completion while a text is being written.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/source.h"

namespace gasell {

enum class TokenKind : uint8_t {
  name,
  keyword,
  number,
  string,   // a literal, or of an f-string what stands outside of its fields' expressions
  comment,  // without its line end
  symbol,   // an operator, a comma, a colon, …
  open,     // ( [ {
  close,    // ) ] }
  line_end,
  unknown,  // no character of the language, or a number that Python refuses
};

struct Token {
  TokenKind kind;
  Span span;
  bool unfinished = false;  // a string literal that the text does not end
};

/// What an f-string is: its text and the words of its fields, the brackets around them with the text; or one word.
enum class FStringTokens : uint8_t { fields, whole };

/// In the text's order, blanks left out. Strings and numbers are found by what the parser finds them with (string_scan.h, literals.h).
/// Takes any bytes, throws nothing.
std::vector<Token> scan_tokens(std::string_view text, FStringTokens f_strings = FStringTokens::fields);

}  // namespace gasell
