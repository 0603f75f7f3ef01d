#include "tools/editor/highlight.h"

#include <algorithm>
#include <array>

namespace gasell::editor {

namespace {

std::string_view text_of(std::string_view text, const Token& token) {
  return text.substr(token.span.begin, token.span.end - token.span.begin);
}

bool matches(char open, char close) {
  return (open == '(' && close == ')') || (open == '[' && close == ']') || (open == '{' && close == '}');
}

}  // namespace

std::vector<Style> highlight(std::string_view text, const std::vector<Token>& tokens,
                             const std::function<bool(std::string_view)>& is_builtin) {
  std::vector<Style> styles(text.size(), Style::plain);
  const auto paint = [&](Span span, Style style) { std::fill(styles.begin() + span.begin, styles.begin() + span.end, style); };
  const size_t first = text.find_first_not_of(" \t\n");
  if (first != std::string_view::npos && (text[first] == '%' || text[first] == '!' || text[first] == '?')) {
    const auto end = static_cast<uint32_t>(text[first] == '%' ? std::min(text.find_first_of(" \t\n", first), text.size()) : text.size());
    paint({static_cast<uint32_t>(first), end}, Style::command);
  }
  bool begins_line = true, defines = false, decorates = false, behind_dot = false;
  for (const Token& token : tokens) {
    const std::string_view word = text_of(text, token);
    if (styles[token.span.begin] == Style::command) continue;
    switch (token.kind) {
      case TokenKind::keyword:
        paint(token.span, word == "True" || word == "False" || word == "None" ? Style::constant : Style::keyword);
        break;
      case TokenKind::name:
        if (decorates) {
          paint(token.span, Style::decorator);
        } else if (defines) {
          paint(token.span, Style::definition);
        } else if (!behind_dot && is_builtin && is_builtin(word)) {
          paint(token.span, Style::builtin);
        }
        break;
      case TokenKind::number: paint(token.span, Style::number); break;
      case TokenKind::string: paint(token.span, Style::string); break;
      case TokenKind::comment: paint(token.span, Style::comment); break;
      case TokenKind::symbol:
      case TokenKind::open:
      case TokenKind::close: paint(token.span, Style::symbol); break;
      case TokenKind::unknown: paint(token.span, Style::mistake); break;
      case TokenKind::line_end: break;
    }
    if (begins_line && word == "@") {
      decorates = true;
      paint(token.span, Style::decorator);
    } else if (decorates && word != "." && token.kind != TokenKind::name) {
      decorates = false;
    }
    defines = word == "def" || word == "class";
    behind_dot = word == ".";
    begins_line = token.kind == TokenKind::line_end;
  }
  return styles;
}

std::optional<std::pair<size_t, size_t>> bracket_pair(std::string_view text, const std::vector<Token>& tokens, size_t cursor) {
  const auto is_bracket = [](const Token& token) { return token.kind == TokenKind::open || token.kind == TokenKind::close; };
  std::optional<size_t> found;
  for (size_t i = 0; i < tokens.size() && tokens[i].span.begin <= cursor; ++i)
    if (is_bracket(tokens[i]) && (tokens[i].span.end == cursor || (tokens[i].span.begin == cursor && !found))) found = i;
  if (!found) return std::nullopt;
  const bool forward = tokens[*found].kind == TokenKind::open;
  int depth = 0;
  for (size_t i = *found; i < tokens.size(); forward ? ++i : --i) {  // below zero is a large number
    if (!is_bracket(tokens[i])) continue;
    depth += (tokens[i].kind == TokenKind::open) == forward ? 1 : -1;
    if (depth > 0) continue;
    const char a = text[tokens[*found].span.begin], b = text[tokens[i].span.begin];
    return std::pair(*found, matches(forward ? a : b, forward ? b : a) ? i : *found);
  }
  return std::pair(*found, *found);
}

std::optional<size_t> open_bracket(std::string_view text, const std::vector<Token>& tokens, size_t at) {
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens.size() && tokens[i].span.end <= at; ++i) {
    if (tokens[i].kind == TokenKind::open) open.push_back(i);
    if (tokens[i].kind == TokenKind::close && !open.empty() && matches(text[tokens[open.back()].span.begin], text[tokens[i].span.begin]))
      open.pop_back();
  }
  if (open.empty()) return std::nullopt;
  return open.back();
}

}  // namespace gasell::editor
