#include "lang/tokens.h"

#include <memory>
#include <string>

#include "lang/characters.h"
#include "lang/diagnostic.h"
#include "lang/literals.h"
#include "lang/string_scan.h"

namespace gasell {

namespace {

class TokenScanner {
 public:
  TokenScanner(std::string_view text, FStringTokens f_strings)
      : source_(std::make_shared<Source>("<tokens>", std::string(text))), text_(source_->text()), f_strings_(f_strings) {}

  std::vector<Token> run() {
    scan(0, static_cast<uint32_t>(text_.size()), 0);
    return std::move(tokens_);
  }

 private:
  void add(TokenKind kind, uint32_t begin, uint32_t end) {
    if (end > begin) tokens_.push_back({kind, {begin, end}});
  }

  void scan(uint32_t at, uint32_t end, int depth) {
    while (at < end) at = scan_one(at, end, depth);
  }

  /// Adds the token at `at`, if one is there; where the next may begin.
  uint32_t scan_one(uint32_t at, uint32_t end, int depth) {
    const char c = text_[at];
    if (c == ' ' || c == '\t' || c == '\f' || c == '\r') return at + 1;
    if (c == '\n') return add(TokenKind::line_end, at, at + 1), at + 1;
    if (c == '#') {
      const auto line_end = static_cast<uint32_t>(std::min<size_t>(text_.find('\n', at), end));
      return add(TokenKind::comment, at, line_end), line_end;
    }
    if (string_prefix_length(std::string_view(text_).substr(0, end), at) >= 0) return scan_literal(at, end, depth);
    if (const auto length = static_cast<uint32_t>(name_length(std::string_view(text_).substr(0, end), at)); length > 0) {
      add(is_keyword(std::string_view(text_).substr(at, length)) ? TokenKind::keyword : TokenKind::name, at, at + length);
      return at + length;
    }
    if (is_digit(c) || (c == '.' && at + 1 < end && is_digit(text_[at + 1]))) return scan_digits(at, end);
    if (c == '(' || c == '[' || c == '{') return add(TokenKind::open, at, at + 1), at + 1;
    if (c == ')' || c == ']' || c == '}') return add(TokenKind::close, at, at + 1), at + 1;
    static constexpr std::string_view kSymbols = "+-*/%@&|^~<>=!,:;.\\";
    const int length = decode_utf8(text_, at).length;
    add(kSymbols.find(c) != std::string_view::npos ? TokenKind::symbol : TokenKind::unknown, at, at + static_cast<uint32_t>(length));
    return at + static_cast<uint32_t>(length);
  }

  uint32_t scan_digits(uint32_t at, uint32_t end) {
    uint32_t length = 0;
    try {
      length = scan_number(source_, at);
    } catch (const Error&) {
      length = 0;  // as one unknown word
    }
    if (length > 0) return add(TokenKind::number, at, at + length), at + length;
    uint32_t wrong = at + 1;
    while (wrong < end && (is_digit(text_[wrong]) || text_[wrong] == '_' || continues_name(static_cast<unsigned char>(text_[wrong]))))
      ++wrong;
    return add(TokenKind::unknown, at, wrong), wrong;
  }

  uint32_t scan_literal(uint32_t at, uint32_t end, int depth) {
    try {
      const StringToken literal = scan_string(source_, at, end, depth);
      if (literal.formatted && depth < kMaxStringDepth && f_strings_ == FStringTokens::fields) {
        scan_fields(literal, depth);
      } else {
        add(TokenKind::string, literal.begin, literal.end);
      }
      return literal.end;
    } catch (const Error&) {
      // What is still being written: up to the end of its line, or of the text behind three quotes.
      const auto quote = static_cast<uint32_t>(text_.find_first_of("'\"", at));
      const bool triple = quote + 2 < end && text_[quote + 1] == text_[quote] && text_[quote + 2] == text_[quote];
      uint32_t last = triple ? end : static_cast<uint32_t>(std::min<size_t>(text_.find('\n', at), end));
      for (uint32_t i = quote + 1; !triple && i < last; ++i) {  // a wrong field of an f-string does not hide where the literal ends
        if (text_[i] == '\\') {
          ++i;
        } else if (text_[i] == text_[quote]) {
          add(TokenKind::string, at, i + 1);
          return i + 1;
        }
      }
      add(TokenKind::string, at, last);
      tokens_.back().unfinished = true;
      return last;
    }
  }

  void scan_fields(const StringToken& literal, int depth) {
    uint32_t begin = literal.begin;  // of the part that is text
    for (uint32_t at = literal.body_begin; at < literal.body_end;) {
      const bool doubled = at + 1 < literal.body_end && text_[at + 1] == text_[at];
      if (text_[at] == '\\' && !literal.raw) {
        at += at + 1 < literal.body_end && (text_[at + 1] == '{' || text_[at + 1] == '}') ? 1 : 2;
      } else if ((text_[at] == '{' || text_[at] == '}') && doubled) {
        at += 2;
      } else if (text_[at] == '{') {
        const FieldToken field = scan_field(source_, at, literal.body_end, literal, depth);
        add(TokenKind::string, begin, field.expression.begin);
        scan(field.expression.begin, field.expression.end, depth + 1);
        begin = field.expression.end;
        at = field.end;
      } else {
        ++at;
      }
    }
    add(TokenKind::string, begin, literal.end);
  }

  SourceRef source_;
  const std::string& text_;
  const FStringTokens f_strings_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> scan_tokens(std::string_view text, FStringTokens f_strings) { return TokenScanner(text, f_strings).run(); }

}  // namespace gasell
