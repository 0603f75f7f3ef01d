#include <fmt/core.h>

#include <algorithm>

#include "lang/grammar.h"

namespace gasell::syntax {

namespace {

x3::rule<class StatementRule, Rule> const statement = "statement";
x3::rule<class SimpleLineRule, Rule> const simple_line = "statement";
x3::rule<class BlockRule, Rule> const block = "block";

const auto comma = sym(",");
const auto last_comma = -keep(",");
const auto newline = mark(kNewlineMark);

// ---- simple statements ----

const auto augmented_operator = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  const size_t length = operator_length(at, last);
  const std::string_view text(at, length);
  if (length < 2 || text.back() != '=' || text == "==" || text == "!=" || text == "<=" || text == ">=" || text == ":=") return false;
  b.push(b.span(at, at + length), Token{std::string(text)});
  at += length;
  return true;
});

const auto any_value = yield_expression | star_expressions;
const auto expression_statement =
    make(make_expression_statement)[any_value >> -(+(keep("=") > any_value) | (augmented_operator > any_value) |
                                                   (keep(":") > expression > -(keep("=") > any_value)))];

const auto dotted_name = make(make_dotted_name)[name_token >> *(sym(".") > name_token)];
const auto alias = -(kw("as") > name_token);
const auto import_module = make(make_import_name)[dotted_name >> alias];
const auto import_member = make(make_import_name)[name_token >> alias];
const auto refused_relative = TokenParser([](Builder& b, Iterator& at, Iterator last) -> bool {
  if (at == last || *at != '.') return false;
  refuse_at(b.source(), b.token_span(at), "relative imports are not part of Gasell", "name the module or the file itself");
});
const auto refused_star_import = TokenParser([](Builder& b, Iterator& at, Iterator last) -> bool {
  const Iterator start = at;
  if (!match_symbol("*", at, last)) return false;
  refuse_at(b.source(), b.token_span(start), "star-imports are not part of Gasell", "import the names, or the module");
});
const auto no_from = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  Iterator end = at;
  if (match_word("from", end, last)) fail_at(b.source(), b.token_span(at), "Did you mean to use 'from ... import ...' instead?");
  return true;
});
const auto import_members = import_member >> *(comma >> import_member) >> last_comma;

const auto simple_statement = make(make_word_statement)[keep("pass") | keep("break") | keep("continue")] |
                              make(make_return)[kw("return") > (star_expressions | missing)] |
                              make(make_import)[kw("import") > import_module > *(comma > import_module) > no_from] |
                              make(make_import_from)[kw("from") > (refused_relative | dotted_name) > kw("import") >
                                                     (refused_star_import | (sym("(") > import_members > sym(")")) | import_members)] |
                              make(make_raise)[kw("raise") > -(expression > -(kw("from") > expression))] |
                              make(make_assert)[kw("assert") > expression > -(comma > expression)] |
                              make(make_delete)[kw("del") > target > *(comma >> target) > -comma] |
                              make(make_global)[(keep("global") | keep("nonlocal")) > name_token > *(comma > name_token)] |
                              expression_statement;

const auto simple_line_def = simple_statement >> *(sym(";") >> simple_statement) > -sym(";") > newline;

// ---- compound statements ----

const auto colon = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (!match_symbol(":", at, last)) fail_expected_colon(b, at);
  return true;
});

const auto block_begin = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (at != last && *at == kIndentMark) {
    ++at;
    return true;
  }
  throw Error(Diagnostic{Blame::user,
                         "IndentationError",
                         fmt::format("expected an indented block after {} on line {}", b.block_owner, b.source()->position(b.header).line),
                         Label{b.source(), b.token_span(at), {}},
                         {},
                         {}});
});

const auto block_def = colon > ((newline > block_begin > make(make_body)[+statement] > mark(kDedentMark)) | make(make_body)[simple_line]);

const auto else_clause = -(head("else", "'else' statement", true) > block);
const auto if_statement = make(make_if)[head("if", "'if' statement") > named_expression > block >
                                        *(head("elif", "'elif' statement", true) > named_expression > block) > else_clause];
const auto while_statement = make(make_while)[head("while", "'while' statement") > named_expression > block > else_clause];
const auto for_statement = make(make_for)[head("for", "'for' statement") > targets > kw("in") > star_expressions > block > else_clause];

const auto before_colon = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (at != last && *at == kNewlineMark) fail_expected_colon(b, at);
  Iterator end = at;
  return match_symbol(":", end, last);
});
const auto with_item = make(make_with_item)[expression >> -(kw("as") > target)];
const auto with_items = with_item >> *(comma >> with_item);
const auto with_statement = make(make_with)[head("with", "'with' statement") >
                                            (attempt[sym("(") >> with_items >> -comma >> sym(")") >> before_colon] | with_items) > block];

const auto refused_group = TokenParser([](Builder& b, Iterator& at, Iterator last) -> bool {
  const Iterator start = at;
  if (!match_symbol("*", at, last)) return false;
  refuse_at(b.source(), b.token_span(start), "exception groups (except*) are not part of Gasell", "write except");
});
const auto handler =
    make(make_handler)[head("except", "'except' statement") > -refused_group > ((expression > -(kw("as") > name_token)) | missing) > block];
const auto finally_clause = head("finally", "'finally' statement", true) > block;
const auto no_handler = TokenParser(
    [](Builder& b, Iterator& at, Iterator) -> bool { fail_at(b.source(), b.token_span(at), "expected 'except' or 'finally' block"); });
const auto try_statement =
    make(make_try)[head("try", "'try' statement") > block > ((+handler > else_clause > -finally_clause) | finally_clause | no_handler)];

const auto refused_type_parameters = TokenParser([](Builder& b, Iterator& at, Iterator last) -> bool {
  const Iterator start = at;
  if (!match_symbol("[", at, last)) return false;
  refuse_at(b.source(), b.token_span(start), "type parameters are not part of Gasell");
});
const auto open_parameters = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (!match_symbol("(", at, last)) fail_at(b.source(), b.token_span(at), "expected '('");
  return true;
});
const auto function = make(make_function)[head("def", "function definition") > name_token > -refused_type_parameters > open_parameters >
                                          -parameters > sym(")") > ((sym("->") > expression) | missing) > block];
const auto class_bases = sym("(") > -class_arguments > sym(")");
const auto class_statement =
    make(make_class)[head("class", "class definition") > name_token > -refused_type_parameters > -class_bases > block];

/// `match` is a keyword where a line ends with ':' and the block behind it begins with `case`, or is not there.
const auto match_word_of_statement = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  const Iterator start = at;
  if (!match_word("match", at, last)) return false;
  Iterator end = std::find(at, last, kNewlineMark);
  Iterator next = end;
  while (end != at && end[-1] == ' ') --end;
  if (next == last || end == at || end[-1] != ':') return false;
  ++next;
  if (next != last && *next == kIndentMark && !match_word("case", ++next, last)) return false;
  b.header = b.offset(start);
  b.block_owner = "'match' statement";
  return true;
});
const auto guard = (kw("if") > named_expression) | missing;
const auto case_block = make(make_case)[head("case", "'case' statement") > patterns > guard > block];
const auto match_statement =
    make(make_match)[match_word_of_statement > subject > colon > newline > block_begin > +case_block > mark(kDedentMark)];

const auto refused_async = refused("async", "async is");
const auto at_sign = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (!match_symbol("@", at, last)) return false;
  b.block_owner = "decorator";
  return true;
});
const auto decorated = make(make_decorated)[+(at_sign > named_expression > newline) > (function | class_statement | refused_async)];

const auto statement_def = if_statement | match_statement | for_statement | while_statement | function | decorated | with_statement |
                           try_statement | class_statement | refused_async | simple_line;

const auto end_of_text = TokenParser([](Builder&, Iterator& at, Iterator last) { return at == last; });

BOOST_SPIRIT_DEFINE(statement, simple_line, block)

}  // namespace

void parse_statements(Builder& b) {
  Iterator first = b.begin();
  const Iterator last = b.end();
  const auto context = x3::make_context<BuilderTag>(b);
  try {
    (*statement > end_of_text).parse(first, last, context, x3::unused, x3::unused);
  } catch (const x3::expectation_failure<Iterator>&) {
    fail_syntax(b);
  }
}

}  // namespace gasell::syntax
