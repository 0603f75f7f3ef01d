#include "lang/syntax_errors.h"

#include <algorithm>

#include "lang/characters.h"
#include "lang/string_scan.h"

namespace gasell::syntax {

namespace {

bool is_mark(char c) { return c == kIndentMark || c == kDedentMark || c == kNewlineMark; }

/// The first token of the logical line that holds `at`.
const char* line_begin(const Builder& b, const char* at) {
  while (at > b.begin() && !is_mark(at[-1])) --at;
  return at;
}

std::string_view word_at(const Builder& b, const char* at) {
  const std::string_view rest(at, static_cast<size_t>(b.end() - at));
  return rest.substr(0, name_length(rest, 0));
}

bool begins_expression(const Builder& b, const char* at) {
  if (at >= b.end()) return false;
  const auto word = word_at(b, at);
  const std::string_view rest(at, static_cast<size_t>(b.end() - at));
  if (!word.empty()) return !is_keyword(word) || word == "None" || word == "True" || word == "False" || word == "lambda";
  return is_digit(*at) || string_prefix_length(rest, 0) >= 0;
}

/// `type X = …` begins with a name that only the rest of the line makes a keyword.
void refuse_soft_keyword(const Builder& b, const char* line) {
  const auto word = word_at(b, line);
  if (word != "type") return;
  const char* after = line + word.size();
  if (after >= b.end() || *after != ' ') return;
  const std::string_view next(after + 1, operator_length(after + 1, b.end()));
  if (next.size() > 1 ? next != "..." : next == "." || next == "," || next == ")") return;
  if (!word_at(b, after + 1).empty()) refuse_at(b.source(), b.token_span(line), "type statements are not part of Gasell");
}

/// What those who come from C may have meant at this place.
std::string hint_at(const Builder& b, Span span) {
  const std::string_view text = b.source()->text();
  const std::string_view before = text.substr(0, span.begin), after = text.substr(span.begin);
  if (before.ends_with('&') && after.starts_with('&')) return "write 'and'";
  if (before.ends_with('|') && after.starts_with('|')) return "write 'or'";
  if (after.starts_with('!')) return "write 'not'";
  const size_t last = before.find_last_not_of(" \t");
  const std::string_view meant = before.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (meant.ends_with("++") && (after.empty() || after[0] == '\n' || after[0] == ';')) return "write '+= 1'";
  if (meant.ends_with("--") && (after.empty() || after[0] == '\n' || after[0] == ';')) return "write '-= 1'";
  return {};
}

/// An '=' where a value is asked for.
[[noreturn]] void fail_single_equals(const Builder& b, Span equals) {
  if (b.stack.empty() || !is_expr(b.stack.back())) fail_at(b.source(), equals, "invalid syntax");
  const Item& last = b.stack.back();
  const ast::Expr& value = *std::get<ast::ExprRef>(last.value);
  if (std::holds_alternative<ast::Name>(value.node))
    fail_at(b.source(), join(last.span, equals), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  fail_at(b.source(), value.span, "cannot assign to " + kind_name(value) + " here. Maybe you meant '==' instead of '='?");
}

}  // namespace

void fail_syntax(const Builder& b) {
  const char* at = b.furthest;
  const Span span = b.token_span(at);
  if (at < b.end() && *at == kIndentMark) fail_at(b.source(), span, "unexpected indent", {}, "IndentationError");
  const char* line = line_begin(b, at);
  refuse_soft_keyword(b, line);
  const char* previous = at > b.begin() && at[-1] == ' ' ? at - 1 : at;
  const auto first = word_at(b, line);
  if ((first == "print" || first == "exec") && line + first.size() == previous && begins_expression(b, at))
    fail_at(b.source(), {b.offset(line), span.end},
            "Missing parentheses in call to '" + std::string(first) + "'. Did you mean " + std::string(first) + "(...)?");
  if (b.brackets > 0 && begins_expression(b, at) && !b.stack.empty() && is_expr(b.stack.back()) && previous > b.begin() &&
      b.stack.back().span.end == b.offset(previous - 1) + 1)
    fail_at(b.source(), join(b.stack.back().span, span), "invalid syntax. Perhaps you forgot a comma?");
  if (b.brackets > 0 && at < b.end() && *at == '=' && operator_length(at, b.end()) == 1 && !b.stack.empty() && is_expr(b.stack.back()))
    fail_single_equals(b, span);
  fail_at(b.source(), span, "invalid syntax", hint_at(b, span));
}

void fail_expected_colon(const Builder& b, const char* at) {
  const Span span = b.token_span(at);
  if (b.furthest == at) {
    if (operator_length(at, b.end()) == 1 && *at == '=') fail_single_equals(b, span);
    if (*at == ',' && b.block_owner == "'except' statement") fail_at(b.source(), span, "multiple exception types must be parenthesized");
    if (b.block_owner == "'else' statement" && word_at(b, at) == "if") fail_at(b.source(), span, "expected ':'", "write 'elif'");
    bool forced = false;  // after these words Python's grammar knows that nothing else can come
    for (std::string_view owner : {"'else' statement", "'try' statement", "'finally' statement", "function definition"})
      forced |= b.block_owner == owner;
    if (forced || at >= b.end() || is_mark(*at)) fail_at(b.source(), span, "expected ':'");
  }
  fail_syntax(b);
}

}  // namespace gasell::syntax
