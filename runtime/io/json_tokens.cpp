#include "runtime/io/json_tokens.h"

#include <charconv>
#include <system_error>

#include "runtime/io/csv/text.h"

namespace gasell {
namespace {

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1; }

}  // namespace

void JsonCursor::check_integer(bool is_negative, std::string_view digits) {
  uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (is_negative && (failure != std::errc{} || value > uint64_t{1} << 63)) throw WrongJson{"Value is too small"};
  if (failure != std::errc{}) throw WrongJson{"Value is too big!"};
}

void put_unescaped(std::string& to, std::string_view text) {
  const auto unit = [&](size_t at) -> int {
    int value = 0;
    for (size_t i = 0; i < 4; ++i) {
      const int digit = at + i < text.size() ? hex_digit(text[at + i]) : -1;
      if (digit < 0) throw WrongJson{"Unexpected character in unicode escape sequence when decoding 'string'"};
      value = value * 16 + digit;
    }
    return value;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      to += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'n': to += '\n'; break;
      case 't': to += '\t'; break;
      case 'r': to += '\r'; break;
      case 'b': to += '\b'; break;
      case 'f': to += '\f'; break;
      case '"':
      case '\\':
      case '/': to += text[i]; break;
      case 'u': {
        auto c = static_cast<uint32_t>(unit(i + 1));
        i += 4;
        if (c >= 0xd800 && c < 0xdc00) {
          if (i + 2 >= text.size() || text[i + 1] != '\\' || text[i + 2] != 'u')
            throw WrongJson{"Unpaired high surrogate when decoding 'string'"};
          const auto low = static_cast<uint32_t>(unit(i + 3));
          if (low < 0xdc00 || low > 0xdfff) throw WrongJson{"Unpaired high surrogate when decoding 'string'"};
          c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
          i += 6;
        } else if (c >= 0xdc00 && c < 0xe000) {
          throw WrongJson{"Unpaired low surrogate when decoding 'string'"};
        }
        csv::put_utf8(to, c);
        break;
      }
      default: throw WrongJson{"Unrecognized escape sequence when decoding 'string'"};
    }
  }
}

}  // namespace gasell
