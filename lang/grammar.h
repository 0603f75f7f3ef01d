// What the grammar's two files share: token parsers and directives over the laid-out text, and the rules each offers the other.
// Rules carry no attributes: tokens and productions put their results on the Builder's stack (builder.h).
// `a >> b` may fail and leave the text to another alternative; `a > b` commits: what follows must match, or it is a syntax error.
#pragma once

#include <boost/spirit/home/x3.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "lang/builder.h"
#include "lang/characters.h"
#include "lang/grammar_entry.h"
#include "lang/reductions.h"
#include "lang/syntax_errors.h"

namespace gasell::syntax {

namespace x3 = boost::spirit::x3;

using Iterator = const char*;
struct BuilderTag;
using Context = x3::context<BuilderTag, Builder>;

inline void skip_blank(Iterator& first, Iterator last) {
  if (first != last && *first == ' ') ++first;
}

/// A token parser from a function `bool (Builder&, Iterator& first, Iterator last)` that moves `first` behind the token when it matches.
template <class Match>
struct TokenParser : x3::parser<TokenParser<Match>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;

  constexpr explicit TokenParser(Match match) : match(match) {}

  template <class C, class R, class A>
  bool parse(Iterator& first, Iterator const& last, C const& context, R&, A&) const {
    Builder& b = x3::get<BuilderTag>(context);
    b.reach(first);
    Iterator at = first;
    if (!match(b, at, last)) return false;
    skip_blank(at, last);
    first = at;
    return true;
  }

  Match match;
};

inline bool match_symbol(std::string_view text, Iterator& at, Iterator last) {
  if (operator_length(at, last) != text.size() || std::string_view(at, text.size()) != text) return false;
  at += text.size();
  return true;
}

inline bool match_word(std::string_view word, Iterator& at, Iterator last) {
  const std::string_view rest(at, static_cast<size_t>(last - at));
  if (rest.substr(0, word.size()) != word || name_length(rest, 0) != word.size()) return false;
  at += word.size();
  return true;
}

/// An operator or delimiter; the longest that stands there must be this one.
inline auto sym(std::string_view text) {
  return TokenParser([text](Builder&, Iterator& at, Iterator last) { return match_symbol(text, at, last); });
}
/// A keyword.
inline auto kw(std::string_view word) {
  return TokenParser([word](Builder&, Iterator& at, Iterator last) { return match_word(word, at, last); });
}
/// The same, kept on the stack.
inline auto keep(std::string_view text) {
  return TokenParser([text](Builder& b, Iterator& at, Iterator last) {
    const Iterator start = at;
    if (begins_name(static_cast<unsigned char>(text[0])) ? !match_word(text, at, last) : !match_symbol(text, at, last)) return false;
    b.push(b.span(start, at), Token{std::string(text)});
    return true;
  });
}
/// The keyword that begins a compound statement or one of its clauses, which errors of its block name; kept on the stack when asked.
inline auto head(std::string_view word, std::string_view owner, bool kept = false) {
  return TokenParser([=](Builder& b, Iterator& at, Iterator last) {
    const Iterator start = at;
    if (!match_word(word, at, last)) return false;
    b.header = b.offset(start);
    b.block_owner = owner;
    if (kept) b.push(b.span(start, at), Token{std::string(word)});
    return true;
  });
}
inline auto mark(char mark) {
  return TokenParser([mark](Builder&, Iterator& at, Iterator last) {
    if (at == last || *at != mark) return false;
    ++at;
    return true;
  });
}

/// Bytes of the name at `at` that is no keyword, else 0.
inline size_t plain_name_length(Iterator at, Iterator last) {
  const std::string_view rest(at, static_cast<size_t>(last - at));
  const size_t length = name_length(rest, 0);
  return length && !is_keyword(rest.substr(0, length)) ? length : 0;
}
/// A name, kept as a token.
inline const auto name_token = TokenParser([](Builder& b, Iterator& at, Iterator last) {
  const size_t length = plain_name_length(at, last);
  if (!length) return false;
  b.push(b.span(at, at + length), Token{normalised_name({at, length})});
  at += length;
  return true;
});
/// Nothing, kept as Missing: holds the place of an optional piece.
inline const auto missing = TokenParser([](Builder& b, Iterator& at, Iterator) {
  b.push(b.span(at, at), Missing{});
  return true;
});

/// Throws where this keyword stands: its construct is Python's, not ours.
inline auto refused(std::string_view word, std::string_view construct, std::string_view hint = {}) {
  return TokenParser([=](Builder& b, Iterator& at, Iterator last) -> bool {
    const Iterator start = at;
    if (!match_word(word, at, last)) return false;
    refuse_at(b.source(), b.token_span(start), std::string(construct) + " not part of Gasell", std::string(hint));
  });
}

/// Hands the items that `subject` leaves on the stack, and its span, to a production.
template <class Subject>
struct Production : x3::unary_parser<Subject, Production<Subject>> {
  using base = x3::unary_parser<Subject, Production<Subject>>;
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;

  constexpr Production(Subject const& subject, Reduction reduce, bool extends) : base(subject), reduce(reduce), extends(extends) {}

  template <class C, class R, class A>
  bool parse(Iterator& first, Iterator const& last, C const& context, R& rcontext, A&) const {
    Builder& b = x3::get<BuilderTag>(context);
    const size_t height = b.stack.size();
    const Iterator start = first;
    if (!this->subject.parse(first, last, context, rcontext, x3::unused)) {
      b.stack.resize(height);
      first = start;
      return false;
    }
    if (!reduce) return true;
    Span span = b.span(start, first);
    if (extends) span.begin = b.stack[height - 1].span.begin;
    reduce(b, extends ? height - 1 : height, span);
    return true;
  }

  Reduction reduce;
  bool extends;
};
struct ProductionGen {
  Reduction reduce;
  bool extends;
  template <class Subject>
  constexpr auto operator[](Subject const& subject) const {
    using Parser = typename x3::extension::as_parser<Subject>::value_type;
    return Production<Parser>(x3::as_parser(subject), reduce, extends);
  }
};
constexpr ProductionGen make(Reduction reduce) { return {reduce, false}; }
/// A production that takes the item before it too, and begins where that begins: `callee(…)`.
constexpr ProductionGen extend(Reduction reduce) { return {reduce, true}; }
/// Only takes the items of a failed attempt off the stack again.
inline constexpr ProductionGen attempt{nullptr, false};

/// Counts the depth of recursion; brackets besides, for the messages.
template <class Subject>
struct Nested : x3::unary_parser<Subject, Nested<Subject>> {
  using base = x3::unary_parser<Subject, Nested<Subject>>;
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;

  constexpr Nested(Subject const& subject, int brackets) : base(subject), brackets(brackets) {}

  template <class C, class R, class A>
  bool parse(Iterator& first, Iterator const& last, C const& context, R& rcontext, A&) const {
    Builder& b = x3::get<BuilderTag>(context);
    b.enter(first);
    b.brackets += brackets;
    const bool matched = this->subject.parse(first, last, context, rcontext, x3::unused);
    b.brackets -= brackets;
    --b.nesting;
    return matched;
  }

  int brackets;
};
struct NestedGen {
  int brackets;
  template <class Subject>
  constexpr auto operator[](Subject const& subject) const {
    using Parser = typename x3::extension::as_parser<Subject>::value_type;
    return Nested<Parser>(x3::as_parser(subject), brackets);
  }
};
inline constexpr NestedGen nested{0};
inline constexpr NestedGen bracketed{1};

// The rules that one file defines and the other uses.
using Rule = x3::unused_type;
inline const x3::rule<class ExpressionRule, Rule> expression = "expression";
inline const x3::rule<class NamedExpressionRule, Rule> named_expression = "named expression";
inline const x3::rule<class StarExpressionsRule, Rule> star_expressions = "expressions";
inline const x3::rule<class TargetsRule, Rule> targets = "targets";
inline const x3::rule<class TargetRule, Rule> target = "target";
inline const x3::rule<class ParametersRule, Rule> parameters = "parameters";
inline const x3::rule<class YieldRule, Rule> yield_expression = "yield";
inline const x3::rule<class SubjectRule, Rule> subject = "subject";    // of match
inline const x3::rule<class PatternsRule, Rule> patterns = "pattern";  // of case
inline const x3::rule<class ClassArgumentsRule, Rule> class_arguments = "bases";
BOOST_SPIRIT_DECLARE(decltype(expression), decltype(named_expression), decltype(star_expressions), decltype(targets), decltype(target),
                     decltype(parameters), decltype(yield_expression), decltype(subject), decltype(patterns), decltype(class_arguments))

}  // namespace gasell::syntax
