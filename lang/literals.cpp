#include "lang/literals.h"

#include <fast_float/fast_float.h>
#include <fmt/core.h>

#include <charconv>
#include <limits>

#include "lang/characters.h"
#include "lang/layout.h"

namespace gasell {
namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int digit_value(char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

/// Reads a number as Python's tokenizer does, with its messages.
class NumberScanner {
 public:
  NumberScanner(const SourceRef& source, uint32_t offset) : source_(source), text_(source->text()), begin_(offset), at_(offset) {}

  uint32_t run() {
    const char c = peek();
    if (!is_digit(c) && !(c == '.' && is_digit(peek(1)))) return 0;
    if (c == '0' && (peek(1) | 0x20) == 'x') return based("hexadecimal", 16);
    if (c == '0' && (peek(1) | 0x20) == 'o') return based("octal", 8);
    if (c == '0' && (peek(1) | 0x20) == 'b') return based("binary", 2);
    bool whole = true;
    if (c != '.') digits();
    const uint32_t integer_end = at_;
    if (peek() == '.') {
      whole = false;
      ++at_;
      if (is_digit(peek())) digits();
    }
    const char e = peek();
    if ((e == 'e' || e == 'E') && (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
      whole = false;
      at_ += is_digit(peek(1)) ? 1 : 2;
      digits();
    }
    if ((peek() | 0x20) == 'j') {
      ++at_;
      return ended("imaginary");
    }
    if (whole && c == '0') {
      for (uint32_t i = begin_; i < integer_end; ++i)
        if (text_[i] != '0' && text_[i] != '_')
          fail_at(source_, {begin_, integer_end},
                  "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers");
    }
    return ended("decimal");
  }

 private:
  char peek(uint32_t distance = 0) const { return at_ + distance < text_.size() ? text_[at_ + distance] : '\0'; }
  [[noreturn]] void fail(std::string_view kind) const {
    const bool shows_next = static_cast<unsigned char>(peek()) > ' ';
    fail_at(source_, {begin_, at_ + (shows_next ? 1 : 0)}, fmt::format("invalid {} literal", kind));
  }

  void digits() {
    for (;;) {
      while (is_digit(peek())) ++at_;
      if (peek() != '_') return;
      ++at_;
      if (!is_digit(peek())) fail("decimal");
    }
  }

  uint32_t based(std::string_view kind, int base) {
    at_ += 2;
    do {
      if (peek() == '_') ++at_;
      const uint32_t start = at_;
      while (base == 16 ? is_hex(peek()) : (is_digit(peek()) && peek() - '0' < base)) ++at_;
      if (base != 16 && is_digit(peek()))
        fail_at(source_, {begin_, at_ + 1}, fmt::format("invalid digit '{}' in {} literal", peek(), kind));
      if (at_ == start) fail(kind);
    } while (peek() == '_');
    return ended(kind);
  }

  /// A word may follow a number only if it is an operator: `1if x else 2`.
  uint32_t ended(std::string_view kind) {
    const size_t word = name_length(text_, at_);
    if (word) {
      const auto name = std::string_view(text_).substr(at_, word);
      bool operation = false;
      for (std::string_view known : {"and", "else", "for", "if", "in", "is", "not", "or"}) operation |= name == known;
      if (!operation) fail(kind);
    }
    return at_ - begin_;
  }

  const SourceRef& source_;
  const std::string& text_;
  const uint32_t begin_;
  uint32_t at_;
};

/// Decodes the text of a string literal, piece by piece.
class StringDecoder {
 public:
  StringDecoder(const SourceRef& source, const StringToken& token) : source_(source), text_(source->text()), token_(token) {}

  /// Text without fields: escapes are decoded unless raw, line ends become "\n"; in f-strings doubled braces are one.
  std::string decode(uint32_t begin, uint32_t end, bool braces_doubled) const {
    std::string out;
    for (uint32_t at = begin; at < end;) {
      const char c = text_[at];
      if (c == '\r') {
        out += '\n';
        at += at + 1 < end && text_[at + 1] == '\n' ? 2 : 1;
      } else if (c == '\\' && !token_.raw) {
        at = escape(out, at, end);
      } else if (token_.bytes && static_cast<unsigned char>(c) >= 0x80) {
        fail_at(source_, {token_.begin, token_.end}, "bytes can only contain ASCII literal characters");
      } else {
        out += c;
        at += braces_doubled && (c == '{' || c == '}') ? 2 : 1;
      }
    }
    return out;
  }

 private:
  [[noreturn]] void fail(uint32_t at, uint32_t end, std::string_view what) const {
    fail_at(source_, {at, end},
            fmt::format("(unicode error) 'unicodeescape' codec can't decode bytes in position {}-{}: {}", at - token_.body_begin,
                        end - 1 - token_.body_begin, what));
  }

  uint32_t escape(std::string& out, uint32_t at, uint32_t end) const {
    const char c = at + 1 < end ? text_[at + 1] : '\0';
    switch (c) {
      case '\n': return at + 2;
      case '\r': return at + (at + 2 < end && text_[at + 2] == '\n' ? 3 : 2);
      case '\\':
      case '\'':
      case '"': out += c; return at + 2;
      case 'a': out += '\a'; return at + 2;
      case 'b': out += '\b'; return at + 2;
      case 'f': out += '\f'; return at + 2;
      case 'n': out += '\n'; return at + 2;
      case 'r': out += '\r'; return at + 2;
      case 't': out += '\t'; return at + 2;
      case 'v': out += '\v'; return at + 2;
      case 'x': return token_.bytes ? byte_escape(out, at, end) : hex_escape(out, at, end, 2, "truncated \\xXX escape");
      case 'u':
        if (token_.bytes) break;
        return hex_escape(out, at, end, 4, "truncated \\uXXXX escape");
      case 'U':
        if (token_.bytes) break;
        return hex_escape(out, at, end, 8, "truncated \\UXXXXXXXX escape");
      case 'N':
        if (token_.bytes) break;
        refuse_at(source_, {at, at + 2}, "\\N{...} escapes are not part of Gasell", "write the character itself, or its \\u escape");
      default: break;
    }
    if (c >= '0' && c <= '7') {
      uint32_t value = 0, i = at + 1;
      for (; i < end && i < at + 4 && text_[i] >= '0' && text_[i] <= '7'; ++i) value = value * 8 + static_cast<uint32_t>(text_[i] - '0');
      if (token_.bytes)
        out += static_cast<char>(value);
      else
        append_utf8(out, value);
      return i;
    }
    out += '\\';  // an unknown escape stands for itself
    return at + 1;
  }

  uint32_t byte_escape(std::string& out, uint32_t at, uint32_t end) const {
    if (at + 3 >= end || !is_hex(text_[at + 2]) || !is_hex(text_[at + 3]))
      fail_at(source_, {token_.begin, token_.end}, fmt::format("(value error) invalid \\x escape at position {}", at - token_.body_begin));
    out += static_cast<char>(digit_value(text_[at + 2]) * 16 + digit_value(text_[at + 3]));
    return at + 4;
  }

  uint32_t hex_escape(std::string& out, uint32_t at, uint32_t end, uint32_t digits, std::string_view truncated) const {
    char32_t value = 0;
    uint32_t i = at + 2;
    for (; i < at + 2 + digits; ++i) {
      if (i >= end || !is_hex(text_[i])) fail(at, std::min(i, end), truncated);
      value = value * 16 + static_cast<char32_t>(digit_value(text_[i]));
    }
    if (value > 0x10FFFF) fail(at, i, "illegal Unicode character");
    if (value >= 0xD800 && value < 0xE000)
      refuse_at(source_, {at, i}, "a lone surrogate cannot stand in a Gasell string",
                "strings are UTF-8; write the character with one \\U escape");
    append_utf8(out, value);
    return i;
  }

  const SourceRef& source_;
  const std::string& text_;
  const StringToken& token_;
};

/// Fields inside the specs of fields nest this deep, as in Python.
constexpr int kMaxSpecDepth = 3;

/// The parts of one f-string, appended to those of the literals before it.
class FStringReader {
 public:
  FStringReader(const SourceRef& source, const StringToken& token, const FieldParser& parse_field)
      : source_(source), token_(token), parse_field_(parse_field), decoder_(source, token) {}

  void read(std::vector<ast::FStringPart>& parts, uint32_t begin, uint32_t end, int depth) const {
    const std::string& text = source_->text();
    uint32_t literal = begin;
    auto flush = [&](uint32_t until) { append_text(parts, decoder_.decode(literal, until, depth == 0)); };
    for (uint32_t at = begin; at < end;) {
      const char c = text[at];
      if (c == '\\' && at + 1 < end && text[at + 1] != '{' && text[at + 1] != '}') {
        at += 2;
      } else if (c == '}' || (c == '{' && depth == 0 && at + 1 < end && text[at + 1] == '{')) {
        at += 2;
      } else if (c == '{') {
        flush(at);
        at = literal = read_field(parts, at, end, depth);
      } else {
        ++at;
      }
    }
    flush(end);
  }

  static void append_text(std::vector<ast::FStringPart>& parts, std::string text) {
    if (text.empty()) return;
    if (!parts.empty() && !parts.back().value) {
      parts.back().text += text;
    } else {
      parts.push_back({std::move(text), {}, 0, {}, {}});
    }
  }

 private:
  uint32_t read_field(std::vector<ast::FStringPart>& parts, uint32_t at, uint32_t end, int depth) const {
    if (depth >= kMaxSpecDepth) fail_at(source_, {at, at + 1}, "f-string: expressions nested too deeply");
    const std::string& text = source_->text();
    const FieldToken field = scan_field(source_, at, end, token_, 0);
    ast::FStringPart part;
    part.value = parse_field_(field.expression);
    if (field.conversion) part.conversion = text[field.conversion];
    if (field.debug) part.source_text = text.substr(at + 1, field.debug_end - at - 1);
    if (field.has_spec) read(part.spec, field.spec.begin, field.spec.end, depth + 1);
    // {x=} shows the repr unless a conversion or a format says otherwise.
    if (field.debug && !field.conversion && !field.has_spec) part.conversion = 'r';
    parts.push_back(std::move(part));
    return field.end;
  }

  const SourceRef& source_;
  const StringToken& token_;
  const FieldParser& parse_field_;
  StringDecoder decoder_;
};

}  // namespace

uint32_t scan_number(const SourceRef& source, uint32_t offset) { return NumberScanner(source, offset).run(); }

ast::Node number_value(const SourceRef& source, Span span) {
  std::string digits;
  for (char c : std::string_view(source->text()).substr(span.begin, span.end - span.begin))
    if (c != '_') digits += c;
  const char kind = digits.size() > 1 && digits[0] == '0' ? static_cast<char>(digits[1] | 0x20) : '\0';
  const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
  const bool imaginary = base == 10 && (digits.back() | 0x20) == 'j';
  if (imaginary) digits.pop_back();
  if (imaginary || (base == 10 && digits.find_first_of(".eE") != std::string::npos)) {
    double value = 0;
    if (digits[0] == '.') digits.insert(0, 1, '0');
    fast_float::from_chars(digits.data(), digits.data() + digits.size(), value);  // out of range: infinity or zero, as Python
    return ast::FloatLiteral{value, imaginary};
  }
  const char* begin = digits.data() + (base == 10 ? 0 : 2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(begin, digits.data() + digits.size(), value, base);
  constexpr auto kLimit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (error == std::errc() && value <= kLimit) return ast::IntLiteral{static_cast<int64_t>(value)};
  if (error == std::errc() && value == kLimit + 1) return ast::BigIntLiteral{std::string(kTwoTo63)};
  constexpr size_t kMostDigits = 4300;
  if (base == 10 && digits.size() > kMostDigits)
    fail_at(
        source, span,
        fmt::format("Exceeds the limit ({} digits) for integer string conversion: value has {} digits; use sys.set_int_max_str_digits() to "
                    "increase the limit - Consider hexadecimal for huge integer literals to avoid decimal conversion limits.",
                    kMostDigits, digits.size()));
  for (char& c : digits) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return ast::BigIntLiteral{std::move(digits)};
}

ast::Node string_value(const SourceRef& source, const std::vector<StringToken>& tokens, const FieldParser& parse_field) {
  bool formatted = false;
  const bool bytes = tokens[0].bytes;
  for (const StringToken& token : tokens) {
    if (token.bytes != bytes) fail_at(source, {tokens[0].begin, tokens.back().end}, "cannot mix bytes and nonbytes literals");
    formatted |= token.formatted;
  }
  if (bytes) {
    std::string value;
    for (const StringToken& token : tokens) value += StringDecoder(source, token).decode(token.body_begin, token.body_end, false);
    return ast::BytesLiteral{std::move(value)};
  }
  std::vector<ast::FStringPart> parts;
  for (const StringToken& token : tokens) {
    if (token.formatted) {
      FStringReader(source, token, parse_field).read(parts, token.body_begin, token.body_end, 0);
    } else {
      FStringReader::append_text(parts, StringDecoder(source, token).decode(token.body_begin, token.body_end, false));
    }
  }
  if (formatted) return ast::FString{std::move(parts)};
  return ast::StringLiteral{parts.empty() ? std::string() : std::move(parts[0].text)};
}

}  // namespace gasell
