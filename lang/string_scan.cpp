#include "lang/string_scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "lang/characters.h"
#include "lang/layout.h"

namespace gasell {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\n' || c == '\r'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

[[noreturn]] void fail_unterminated(const SourceRef& source, const StringToken& token, uint32_t at) {
  if (at > token.begin && is_line_end(source->text()[at - 1])) --at;  // the last line that holds something
  const auto message = fmt::format("unterminated {}{} literal (detected at line {})", token.triple ? "triple-quoted " : "",
                                   token.formatted ? "f-string" : "string", source->position(at).line);
  if (token.triple)
    throw UnfinishedText(Diagnostic{Blame::user, "SyntaxError", message, Label{source, {token.begin, token.body_begin}, {}}, {}, {}});
  fail_at(source, {token.begin, token.body_begin}, message);
}

[[noreturn]] void fail_unclosed_field(const SourceRef& source, uint32_t brace) {
  throw UnfinishedText(Diagnostic{Blame::user, "SyntaxError", "'{' was never closed", Label{source, {brace, brace + 1}, {}}, {}, {}});
}

/// Scans a format spec from `at` to the '}' that ends it; fields may stand inside.
uint32_t scan_spec(const SourceRef& source, uint32_t at, uint32_t end, const StringToken& literal, int depth, uint32_t brace) {
  const std::string& text = source->text();
  while (at < end) {
    const char c = text[at];
    if (c == '}') return at;
    if (c == '{') {
      at = scan_field(source, at, end, literal, depth + 1).end;
      continue;
    }
    if (!literal.triple && (is_line_end(c) || c == text[literal.body_begin - 1])) fail_at(source, {brace, at}, "f-string: expecting '}'");
    at += c == '\\' && at + 1 < end && text[at + 1] != '{' && text[at + 1] != '}' ? 2 : 1;
  }
  fail_unclosed_field(source, brace);
}

/// A string inside a field. When it begins with the quote of the f-string around and does not end, that quote was the f-string's end.
StringToken scan_inner_string(const SourceRef& source, uint32_t at, uint32_t end, const StringToken& literal, int depth) {
  try {
    return scan_string(source, at, end, depth);
  } catch (const UnfinishedText&) {
    throw;
  } catch (const Error& error) {
    const bool same_quote = source->text()[at] == source->text()[literal.body_begin - 1];
    if (!same_quote || error.diagnostic().message.rfind("unterminated", 0) != 0) throw;
    fail_at(source, {at, at + 1}, "f-string: expecting '}'");
  }
}

}  // namespace

int string_prefix_length(std::string_view text, uint32_t offset) {
  std::string prefix;
  uint32_t i = offset;
  while (i < text.size() && prefix.size() < 3 && text[i] != '"' && text[i] != '\'') prefix += lower(text[i++]);
  if (i >= text.size() || (text[i] != '"' && text[i] != '\'')) return -1;
  for (std::string_view known : {"", "r", "u", "b", "f", "br", "rb", "fr", "rf"})
    if (prefix == known) return static_cast<int>(prefix.size());
  return -1;
}

StringToken scan_string(const SourceRef& source, uint32_t offset, uint32_t end, int depth) {
  const std::string& text = source->text();
  StringToken token{};
  token.begin = offset;
  uint32_t at = offset;
  for (; text[at] != '"' && text[at] != '\''; ++at) {
    const char letter = lower(text[at]);
    if (letter == 'r') token.raw = true;
    if (letter == 'b') token.bytes = true;
    if (letter == 'f') token.formatted = true;
  }
  if (depth > kMaxStringDepth) fail_at(source, {offset, at + 1}, "too many nested f-strings");
  const char quote = text[at];
  token.triple = at + 2 < end && text[at + 1] == quote && text[at + 2] == quote;
  at += token.triple ? 3 : 1;
  token.body_begin = at;
  while (at < end) {
    const char c = text[at];
    if (c == quote && (!token.triple || (at + 2 < end && text[at + 1] == quote && text[at + 2] == quote))) {
      token.body_end = at;
      token.end = at + (token.triple ? 3 : 1);
      return token;
    }
    if (is_line_end(c) && !token.triple) break;
    if (c == '\\') {
      ++at;
      if (at >= end) break;
      if (token.formatted && (text[at] == '{' || text[at] == '}')) continue;  // the brace keeps its meaning
      if (token.formatted && !token.raw && text[at] == 'N' && at + 1 < end && text[at + 1] == '{') {
        while (at < end && text[at] != '}' && text[at] != quote && !is_line_end(text[at])) ++at;
        continue;
      }
      at += text[at] == '\r' && at + 1 < end && text[at + 1] == '\n' ? 2 : 1;
      continue;
    }
    if (token.formatted && (c == '{' || c == '}')) {
      if (at + 1 < end && text[at + 1] == c) {
        at += 2;
      } else if (c == '{') {
        at = scan_field(source, at, end, token, depth).end;
      } else {
        fail_at(source, {at, at + 1}, "f-string: single '}' is not allowed");
      }
      continue;
    }
    ++at;
  }
  fail_unterminated(source, token, std::min(at, end));
}

FieldToken scan_field(const SourceRef& source, uint32_t begin, uint32_t end, const StringToken& literal, int depth) {
  const std::string& text = source->text();
  if (depth > kMaxStringDepth) fail_at(source, {begin, begin + 1}, "f-string: expressions nested too deeply");
  FieldToken field{};
  uint32_t at = begin + 1;
  std::string open;  // brackets inside the expression
  auto next = [&](uint32_t i) { return i + 1 < end ? text[i + 1] : '\0'; };
  for (;; ++at) {
    if (at >= end) fail_unclosed_field(source, begin);
    const char c = text[at];
    if (c == '#') {
      while (at + 1 < end && !is_line_end(text[at + 1])) ++at;
      continue;
    }
    const bool after_word =
        at > begin + 1 && continues_name(static_cast<unsigned char>(text[at - 1])) && static_cast<unsigned char>(text[at - 1]) < 0x80;
    if (const int prefix = after_word ? (c == '"' || c == '\'' ? 0 : -1) : string_prefix_length(std::string_view(text).substr(0, end), at);
        prefix >= 0) {
      at = scan_inner_string(source, at, end, literal, depth + 1).end - 1;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') {
      open += c;
      continue;
    }
    if (c == ')' || c == ']' || (c == '}' && !open.empty())) {
      if (open.empty()) fail_at(source, {at, at + 1}, fmt::format("f-string: unmatched '{}'", c));
      const char opener = open.back();
      if ((opener == '(') != (c == ')') || (opener == '[') != (c == ']'))
        fail_at(source, {at, at + 1}, fmt::format("closing parenthesis '{}' does not match opening parenthesis '{}'", c, opener));
      open.pop_back();
      continue;
    }
    if (!open.empty()) continue;
    if ((c == '=' || c == '!' || c == '<' || c == '>') && next(at) == '=') {
      ++at;
      continue;
    }
    if (c == '}' || c == ':' || c == '!' || c == '=') break;
  }
  field.expression = {begin + 1, at};
  const bool empty = std::all_of(text.begin() + begin + 1, text.begin() + at, is_blank);
  if (empty) fail_at(source, {at, at + 1}, fmt::format("f-string: valid expression required before '{}'", text[at]));
  if (text[at] == '=') {
    field.debug = true;
    for (++at; at < end && is_blank(text[at]);) ++at;
    field.debug_end = at;
  }
  if (at < end && text[at] == '!') {
    field.conversion = at + 1;
    field.conversion_end = at + 1 + static_cast<uint32_t>(name_length(text, at + 1));
    const auto name = std::string_view(text).substr(field.conversion, field.conversion_end - field.conversion);
    if (name.empty()) fail_at(source, {at, at + 1}, "f-string: missing conversion character");
    if (name != "r" && name != "s" && name != "a")
      fail_at(source, {field.conversion, field.conversion_end},
              fmt::format("f-string: invalid conversion character '{}': expected 's', 'r', or 'a'", name));
    at = field.conversion_end;
    while (at < end && is_blank(text[at])) ++at;
  }
  if (at >= end) fail_unclosed_field(source, begin);
  if (text[at] == ':') {
    field.has_spec = true;
    field.spec.begin = at + 1;
    at = field.spec.end = scan_spec(source, at + 1, end, literal, depth, begin);
  }
  if (text[at] != '}') {
    fail_at(source, {at, at + 1}, field.conversion ? "f-string: expecting ':' or '}'" : "f-string: expecting '!', or ':', or '}'");
  }
  field.end = at + 1;
  return field;
}

}  // namespace gasell
