#include <array>

#include "lang/grammar.h"
#include "lang/literals.h"
#include "lang/string_scan.h"

namespace gasell::syntax {

namespace {

x3::rule<class AtomRule, Rule> const atom = "expression";
x3::rule<class ArgumentsRule, Rule> const arguments = "arguments";
x3::rule<class SlicesRule, Rule> const slices = "index";
x3::rule<class OperationRule, Rule> const operation = "expression";
x3::rule<class BitOperationRule, Rule> const bit_operation = "expression";
x3::rule<class StarNamedRule, Rule> const star_named = "expression";
x3::rule<class ClauseRule, Rule> const comprehension_clause = "for";

const auto comma = sym(",");
const auto last_comma = -keep(",");  // kept: it makes a tuple of one

// ---- operators ----

bool match_operator(Builder& b, Iterator& at, Iterator last, bool bits_only) {
  static constexpr std::array<std::string_view, 12> kBits = {"+", "-", "*", "/", "//", "%", "@", "**", "<<", ">>", "&", "|"};
  static constexpr std::array<std::string_view, 6> kComparisons = {"<", ">", "<=", ">=", "==", "!="};
  const Iterator start = at;
  auto take = [&](size_t length, std::string text) {
    at += length;
    b.push(b.span(start, at), Token{std::move(text)});
    return true;
  };
  if (const size_t length = operator_length(at, last)) {
    const std::string_view text(at, length);
    if (std::find(kBits.begin(), kBits.end(), text) != kBits.end() || text == "^") return take(length, std::string(text));
    if (!bits_only && std::find(kComparisons.begin(), kComparisons.end(), text) != kComparisons.end())
      return take(length, std::string(text));
    return false;
  }
  if (bits_only) return false;
  for (std::string_view word : {"and", "or", "in"})
    if (match_word(word, at, last)) {
      at = start;
      return take(word.size(), std::string(word));
    }
  auto two_words = [&](std::string_view one, std::string_view two) {
    if (!match_word(one, at, last)) return false;
    skip_blank(at, last);
    if (match_word(two, at, last)) {
      b.push(b.span(start, at), Token{std::string(one) + " " + std::string(two)});
      return true;
    }
    b.reach(at);
    at = start;
    return false;
  };
  if (two_words("is", "not") || two_words("not", "in")) return true;
  if (match_word("is", at, last)) {
    at = start;
    return take(2, "is");
  }
  return false;
}

const auto binary_operator = TokenParser([](Builder& b, Iterator& at, Iterator last) { return match_operator(b, at, last, false); });
const auto bit_operator = TokenParser([](Builder& b, Iterator& at, Iterator last) { return match_operator(b, at, last, true); });
const auto sign = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (operator_length(at, last) != 1 || (*at != '-' && *at != '+' && *at != '~')) return false;
  ++at;
  b.push(b.span(at - 1, at), Token{std::string(1, at[-1])});
  return true;
});

// ---- atoms ----

const auto name = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  const size_t length = plain_name_length(at, last);
  if (!length) return false;
  const Span span = b.span(at, at + length);
  b.push(span, make_expr(span, ast::Name{normalised_name({at, length}), {}}));
  at += length;
  return true;
});

const auto word_literal = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  const Iterator start = at;
  ast::Node node;
  if (match_word("None", at, last)) {
    node = ast::NoneLiteral{};
  } else if (match_word("True", at, last)) {
    node = ast::BoolLiteral{true};
  } else if (match_word("False", at, last)) {
    node = ast::BoolLiteral{false};
  } else if (match_symbol("...", at, last)) {
    node = ast::EllipsisLiteral{};
  } else {
    return false;
  }
  const Span span = b.span(start, at);
  b.push(span, make_expr(span, std::move(node)));
  return true;
});

const auto number = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (at == last || (!is_digit(*at) && *at != '.')) return false;
  const uint32_t begin = b.offset(at);
  const uint32_t length = scan_number(b.source(), begin);
  if (!length) return false;
  at += length;
  const Span span{begin, begin + length};
  b.push(span, make_expr(span, number_value(b.source(), span)));
  return true;
});

/// The expression of an f-string's field, parsed as a text of its own.
ast::ExprRef parse_field_at(const Builder& outer, Span span) {
  const LaidOut laid = lay_out_field(outer.source(), span);
  Builder b(laid);
  b.nesting = outer.nesting;
  b.brackets = 1;
  b.enter(b.begin());
  parse_field(b);
  return std::move(expr_of(b.stack.back()));
}

const auto strings = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  std::vector<StringToken> tokens;
  const Iterator start = at;
  Iterator end = at;
  const auto source_end = b.laid.offsets.back();
  while (at != last) {
    const std::string_view rest(at, static_cast<size_t>(last - at));
    if (string_prefix_length(rest, 0) < 0) break;
    tokens.push_back(scan_string(b.source(), b.offset(at), source_end));
    at += tokens.back().end - tokens.back().begin;
    end = at;
    skip_blank(at, last);
    b.reach(at);
  }
  if (tokens.empty()) return false;
  at = end;
  const Span span = b.span(start, end);
  b.push(span, make_expr(span, string_value(b.source(), tokens, [&b](Span field) { return parse_field_at(b, field); })));
  return true;
});

/// What comes before a parameter's name: "**", "*" or nothing, kept as a token. A "*" without a name is another thing.
const auto parameter_stars = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  const Iterator start = at;
  if (!match_symbol("**", at, last) && match_symbol("*", at, last)) {
    Iterator next = at;
    skip_blank(next, last);
    if (!plain_name_length(next, last)) return false;
  }
  if (at == start && !plain_name_length(at, last)) return false;
  b.push(b.span(start, at), Token{std::string(start, at)});
  return true;
});

const auto else_word = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (match_word("else", at, last)) return true;
  if (at != last && *at == ':') return false;
  const Item &body = b.stack[b.stack.size() - 2], &test = b.stack.back();
  fail_at(b.source(), join(body.span, test.span), "expected 'else' after 'if' expression");
});

/// `f(a.b = 1)`: a name alone may stand before the '='.
const auto no_assignment = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  Iterator end = at;
  if (!match_symbol("=", end, last)) return true;
  const Item& argument = b.stack.back();
  const ast::Expr& value = *std::get<ast::ExprRef>(argument.value);
  const bool is_word = std::holds_alternative<ast::BoolLiteral>(value.node) || std::holds_alternative<ast::NoneLiteral>(value.node);
  fail_at(b.source(), join(argument.span, b.span(at, end)),
          is_word ? "cannot assign to " + kind_name(value) : "expression cannot contain assignment, perhaps you meant \"==\"?");
});

/// A value must follow the token before; `message` says which when none does.
template <class Subject>
struct ValueAfter : x3::unary_parser<Subject, ValueAfter<Subject>> {
  using base = x3::unary_parser<Subject, ValueAfter<Subject>>;
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;

  constexpr ValueAfter(Subject const& subject, std::string_view message) : base(subject), message(message) {}

  template <class C, class R, class A>
  bool parse(Iterator& first, Iterator const& last, C const& context, R& rcontext, A&) const {
    const Builder& b = x3::get<BuilderTag>(context);
    if (first == last || *first == ',' || *first == ')' || *first == '}') {
      Iterator before = first - 1;
      if (*before == ' ') --before;
      fail_at(b.source(), b.span(before, before + 1), std::string(message));
    }
    return this->subject.parse(first, last, context, rcontext, x3::unused);
  }

  std::string_view message;
};
struct ValueAfterGen {
  std::string_view message;
  template <class Subject>
  constexpr auto operator[](Subject const& subject) const {
    using Parser = typename x3::extension::as_parser<Subject>::value_type;
    return ValueAfter<Parser>(x3::as_parser(subject), message);
  }
};
constexpr ValueAfterGen value_or(std::string_view message) { return {message}; }

/// `f(*args=x)`, `f(**kwargs=x)`.
auto not_assigned(std::string_view what) {
  return TokenParser([what](Builder& b, Iterator& at, Iterator last) {
    Iterator end = at;
    if (match_symbol("=", end, last))
      fail_at(b.source(), join(b.stack.back().span, b.span(at, end)), "cannot assign to " + std::string(what));
    return true;
  });
}

const auto no_starred_value = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  if (operator_length(at, last) == 1 && *at == '*')
    fail_at(b.source(), b.token_span(at), "cannot use a starred expression in a dictionary value");
  return true;
});

/// `def f(a, (b, c))`, as Python 2 had it.
auto no_parenthesised(std::string_view what) {
  return TokenParser([what](Builder& b, Iterator& at, Iterator last) {
    if (at == last || *at != '(') return false;
    Iterator end = at;
    for (int depth = 0; end != last; ++end) {
      depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    fail_at(b.source(), b.span(at, end + 1), std::string(what) + " parameters cannot be parenthesized");
    return false;
  });
}

const auto end_of_text = TokenParser([](Builder&, Iterator& at, Iterator last) { return at == last; });

// ---- rules ----

const auto starred = make(make_starred)[sym("*") > bit_operation];
const auto elements = star_named >> (+comprehension_clause | (*(comma >> star_named) >> last_comma >> *comprehension_clause));

/// In a pattern `… as name` may stand behind what is an expression elsewhere, and `if` begins the guard.
const auto as_of_pattern = TokenParser([](Builder& b, Iterator& at, Iterator last) { return b.in_pattern && match_word("as", at, last); });
const auto pattern_name = extend(make_named_pattern)[as_of_pattern > name_token];
const auto if_word = TokenParser([](Builder& b, Iterator& at, Iterator last) { return !b.in_pattern && match_word("if", at, last); });
const auto walrus = TokenParser([](Builder& b, Iterator& at, Iterator last) { return !b.in_pattern && match_symbol(":=", at, last); });

const auto dict_value = value_or("expression expected after dictionary key and ':'")[no_starred_value > (expression >> -pattern_name)];
const auto brace_entry = (keep("**") > bit_operation) | (star_named >> -(keep(":") > dict_value));
const auto brace_entries = brace_entry >> (+comprehension_clause | (*(comma >> brace_entry) >> last_comma >> *comprehension_clause));

const auto atom_def = strings | name | number | word_literal |
                      make(make_parenthesised)[sym("(") > bracketed[-(yield_expression | elements) > sym(")")]] |
                      make(make_list)[sym("[") > bracketed[-elements > sym("]")]] |
                      make(make_braces)[sym("{") > bracketed[-brace_entries > sym("}")]] | refused("await", "await is");

const auto primary = atom >>
                     *(extend(make_attribute)[sym(".") > name_token] | extend(make_call)[keep("(") > bracketed[-arguments > sym(")")]] |
                       extend(make_subscript)[sym("[") > bracketed[slices > sym("]")]]);

const auto operand = *(sign | keep("not")) >> primary;
const auto operation_def = make(fold_operators)[operand >> *(binary_operator > operand)];
const auto bit_operand = *sign >> primary;
const auto bit_operation_def = make(fold_operators)[bit_operand >> *(bit_operator > bit_operand)];

const auto refused_star_annotation = TokenParser([](Builder& b, Iterator& at, Iterator last) -> bool {
  if (operator_length(at, last) != 1 || *at != '*') return false;
  refuse_at(b.source(), b.token_span(at), "starred annotations are not part of Gasell");
});
const auto default_value = (sym("=") > nested[value_or("expected default value expression")[expression]]) | missing;
const auto bare_separator = keep("*") | keep("/");
const auto parameter =
    make(make_parameter)[parameter_stars > name_token > ((sym(":") > (refused_star_annotation | expression)) | missing) > default_value] |
    bare_separator;
const auto any_parameter = parameter | no_parenthesised("Function");
const auto parameters_def = any_parameter >> *(comma >> any_parameter) >> -comma;
const auto lambda_parameter = make(make_parameter)[parameter_stars > name_token > missing > default_value] | bare_separator;
const auto any_lambda_parameter = lambda_parameter | no_parenthesised("Lambda expression");
const auto lambda_parameters = any_lambda_parameter >> *(comma >> any_lambda_parameter) >> -comma;

const auto expression_def = make(make_lambda)[kw("lambda") > -lambda_parameters > sym(":") > nested[expression]] |
                            make(make_conditional)[operation >> -(if_word > operation > else_word > nested[expression])];
const auto named_expression_def = make(make_named)[expression >> -(walrus > expression)] >> -pattern_name;
const auto star_named_def = starred | named_expression;

const auto star_expression = starred | expression;
const auto star_expressions_def = make(make_bare_tuple)[star_expression >> *(comma >> star_expression) >> last_comma];

const auto target_def = bit_operation;
const auto star_target = starred | bit_operation;
const auto targets_def = make(make_target_list)[star_target >> *(comma >> star_target) >> last_comma];

const auto comprehension_clause_def = refused("async", "asynchronous comprehensions are") |
                                      make(make_comprehension_clause)[kw("for") > targets > kw("in") > operation > *(kw("if") > operation)];

const auto argument =
    (make(make_starred)[sym("*") > expression] >> not_assigned("iterable argument unpacking")) |
    (make(make_keyword)[keep("**") > expression] >> not_assigned("keyword argument unpacking")) |
    make(make_keyword)[name_token >> sym("=") > value_or("expected argument value expression")[expression >> -pattern_name]] |
    (named_expression >> no_assignment >> *comprehension_clause);
const auto arguments_def = argument >> *(comma >> argument) >> last_comma;

const auto yield_expression_def = make(make_yield)[keep("yield") > ((keep("from") > expression) | star_expressions | missing)];

const auto subject_def = make(make_bare_tuple)[star_named >> *(comma >> star_named) >> last_comma];
const auto begin_pattern = TokenParser([](Builder& b, Iterator&, Iterator) { return b.in_pattern = true; });
const auto end_pattern = TokenParser([](Builder& b, Iterator&, Iterator) {
  b.in_pattern = false;
  return true;
});
const auto patterns_def = begin_pattern > make(make_patterns)[star_named >> *(comma >> star_named) >> last_comma] > end_pattern;

const auto class_argument = (make(make_starred)[sym("*") > expression]) | make(make_keyword)[keep("**") > expression] |
                            make(make_keyword)[name_token >> sym("=") > value_or("expected argument value expression")[expression]] |
                            expression;
const auto class_arguments_def = class_argument >> *(comma >> class_argument) >> -comma;

const auto slice_tail = keep(":") >> (expression | missing) >> -(keep(":") >> (expression | missing));
const auto slice = make(make_slice)[(star_named >> -slice_tail) | (missing >> slice_tail)];
const auto slices_def = make(make_index)[slice >> *(comma >> slice) >> last_comma];

BOOST_SPIRIT_DEFINE(atom, arguments, slices, operation, bit_operation, star_named, comprehension_clause)

}  // namespace

BOOST_SPIRIT_DEFINE(expression, named_expression, star_expressions, targets, target, parameters, yield_expression, subject, patterns,
                    class_arguments)
BOOST_SPIRIT_INSTANTIATE(decltype(expression), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(named_expression), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(star_expressions), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(targets), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(target), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(parameters), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(yield_expression), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(subject), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(patterns), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(class_arguments), Iterator, Context)

void parse_field(Builder& b) {
  Iterator first = b.begin();
  const Iterator last = b.end();
  const auto context = x3::make_context<BuilderTag>(b);
  try {
    (star_expressions > end_of_text).parse(first, last, context, x3::unused, x3::unused);
  } catch (const x3::expectation_failure<Iterator>&) {
    Iterator begin = b.begin();
    if (match_word("lambda", begin, b.end()))
      fail_at(b.source(), b.span(b.begin(), b.end()), "f-string: lambda expressions are not allowed without parentheses");
    fail_syntax(b);
  }
}

}  // namespace gasell::syntax
