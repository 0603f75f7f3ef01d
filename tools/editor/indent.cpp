#include "tools/editor/indent.h"

#include <algorithm>
#include <array>
#include <vector>

#include "lang/tokens.h"
#include "tools/editor/characters.h"
#include "tools/editor/highlight.h"

namespace gasell::editor {

namespace {

int indentation_of(std::string_view line) { return static_cast<int>(std::min(line.find_first_not_of(' '), line.size())); }

std::string_view first_word(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  return line.substr(begin, std::min(line.find_first_of(" :(", begin), line.size()) - begin);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// May `word` (else, except, …) stand behind the block that `opener` began?
bool continues(std::string_view word, std::string_view opener) {
  if (word == "elif") return is_one_of(opener, {"if", "elif"});
  if (word == "else") return is_one_of(opener, {"if", "elif", "for", "while", "except"});
  if (word == "except") return is_one_of(opener, {"try", "except"});
  return is_one_of(opener, {"try", "except", "else"});
}

}  // namespace

std::string indentation_after(std::string_view before) {
  const std::vector<Token> tokens = scan_tokens(before);
  if (!tokens.empty() && tokens.back().unfinished && tokens.back().span.end == before.size()) return {};  // within three quotes
  if (const std::optional<size_t> open = open_bracket(before, tokens, before.size())) {
    const size_t at = tokens[*open].span.begin;
    const std::string_view line = before.substr(line_begin(before, at), at - line_begin(before, at));
    const bool ends_line =
        *open + 1 >= tokens.size() || tokens[*open + 1].kind == TokenKind::line_end || tokens[*open + 1].kind == TokenKind::comment;
    const int last = indentation_of(before.substr(line_begin(before, before.size())));
    if (line_begin(before, at) != line_begin(before, before.size()))
      return std::string(static_cast<size_t>(last), ' ');  // as the line before
    return std::string(static_cast<size_t>(ends_line ? indentation_of(line) + kIndent : width_of(line) + 1), ' ');
  }
  // The line where the statement begins: brackets and strings may have taken several.
  size_t begin = line_begin(before, before.size());
  const Token* last = nullptr;
  int depth = 0;
  for (size_t i = tokens.size(); i-- > 0;) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::close) ++depth;
    if (token.kind == TokenKind::open) --depth;
    if (token.kind == TokenKind::line_end && depth <= 0) break;
    if (token.kind == TokenKind::line_end || token.kind == TokenKind::comment) continue;
    if (!last) last = &token;
    begin = line_begin(before, token.span.begin);
  }
  const std::string_view line = before.substr(begin);
  int indentation = indentation_of(line);
  if (last && before.substr(last->span.begin, last->span.end - last->span.begin) == ":")
    indentation += kIndent;
  else if (is_one_of(first_word(line), {"return", "pass", "break", "continue", "raise"}))
    indentation -= kIndent;
  return std::string(static_cast<size_t>(std::max(indentation, 0)), ' ');
}

std::optional<int> changed_indentation(std::string_view before) {
  const size_t begin = line_begin(before, before.size());
  const std::string_view line = before.substr(begin);
  if (begin == 0 || line.empty()) return std::nullopt;
  const int indentation = indentation_of(line);
  const char last = line.back();
  if (last == ')' || last == ']' || last == '}') {
    if (line.find_first_not_of(' ') != line.size() - 1) return std::nullopt;
    const std::optional<size_t> open = [&]() -> std::optional<size_t> {
      const std::vector<Token> tokens = scan_tokens(before.substr(0, begin));
      const std::optional<size_t> index = open_bracket(before, tokens, begin);
      return index ? std::optional<size_t>(tokens[*index].span.begin) : std::nullopt;
    }();
    if (!open) return std::nullopt;
    const int wanted = indentation_of(before.substr(line_begin(before, *open)));
    return wanted == indentation ? std::nullopt : std::optional(wanted);
  }
  const std::string_view word = first_word(line);
  if (last != ':' || !is_one_of(word, {"else", "elif", "except", "finally"})) return std::nullopt;
  // The nearest line above that is further left, or as far, and may be continued; when that is as far left, the line stands right already.
  int limit = indentation + 1;
  for (size_t end = begin; end > 0;) {
    const size_t above = line_begin(before, end - 1);
    const std::string_view text = before.substr(above, end - 1 - above);
    end = above;
    if (text.find_first_not_of(' ') == std::string_view::npos) continue;
    const int found = indentation_of(text);
    if (found >= limit) continue;
    if (continues(word, first_word(text))) return found == indentation ? std::nullopt : std::optional(found);
    limit = found;  // what this statement belongs to is further left
  }
  return std::nullopt;
}

}  // namespace gasell::editor
