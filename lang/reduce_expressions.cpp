#include <fmt/core.h>

#include <set>

#include "lang/marked_calls.h"
#include "lang/reductions.h"

namespace gasell::syntax {

using namespace ast;

namespace {

void push_expr(Builder& b, Span span, Node node) { b.push(span, make_expr(span, std::move(node))); }

[[noreturn]] void fail(const Builder& b, Span span, std::string message) { fail_at(b.source(), span, std::move(message)); }

bool is_starred(const Item& item) { return is_expr(item) && std::holds_alternative<Starred>(std::get<ExprRef>(item.value)->node); }
bool is_named(const Item& item) {
  return is_expr(item) && !in_parentheses(item) && std::holds_alternative<NamedExpr>(std::get<ExprRef>(item.value)->node);
}
bool is_clause(const Item& item) { return std::holds_alternative<ComprehensionClause>(item.value); }

std::vector<ExprRef> expressions(Items& items, size_t from = 0) {
  std::vector<ExprRef> list;
  list.reserve(items.size() - from);
  for (size_t i = from; i < items.size(); ++i)
    if (is_expr(items[i])) list.push_back(std::move(expr_of(items[i])));
  return list;
}

/// Items that are one expression, or a tuple because of a comma.
bool is_tuple(const Builder& b, size_t first) { return b.stack.size() > first + 1; }

/// `[x, y for …]`: a comprehension has one element.
void check_no_clause(const Builder& b, Items& items, bool hint) {
  for (size_t i = 1; i < items.size(); ++i) {
    if (!is_clause(items[i])) continue;
    if (!hint) fail(b, {items[i].span.begin, items[i].span.begin + 3}, "invalid syntax");
    fail(b, join(items[0].span, items[i - 1].span), "did you forget parentheses around the comprehension target?");
  }
}

/// A comprehension from its element (and, in a dict, value) and the clauses from `from` on.
Comprehension comprehension(ComprehensionKind kind, ExprRef element, ExprRef value, Items& items, size_t from) {
  Comprehension result{kind, std::move(element), std::move(value), {}, {}};
  for (size_t i = from; i < items.size(); ++i) result.clauses.push_back(std::move(std::get<ComprehensionClause>(items[i].value)));
  return result;
}

}  // namespace

void make_starred(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  push_expr(b, span, Starred{std::move(expr_of(items[0]))});
}

void make_bare_tuple(Builder& b, size_t first, Span span) {
  if (!is_tuple(b, first)) {
    const bool is_target = b.furthest < b.end() && *b.furthest == '=';  // `*a = b` has a message of its own
    if (is_starred(b.stack[first]) && !is_target) fail(b, b.stack[first].span, "can't use starred expression here");
    return;
  }
  make_target_list(b, first, span);
}

void make_target_list(Builder& b, size_t first, Span span) {
  if (!is_tuple(b, first)) return;
  Items items = b.take(first);
  push_expr(b, span, Tuple{expressions(items)});
}

void make_index(Builder& b, size_t first, Span span) {
  if (!is_tuple(b, first) && !is_starred(b.stack[first])) return;
  Items items = b.take(first);
  push_expr(b, span, Tuple{expressions(items)});
}

void make_named(Builder& b, size_t first, Span span) {
  if (!is_tuple(b, first)) return;
  Items items = b.take(first);
  if (!std::holds_alternative<Name>(expr_of(items[0])->node) || in_parentheses(items[0]))
    fail(b, items[0].span, fmt::format("cannot use assignment expressions with {}", kind_name(*expr_of(items[0]))));
  push_expr(b, span, NamedExpr{std::move(expr_of(items[0])), std::move(expr_of(items[1]))});
}

void make_conditional(Builder& b, size_t first, Span span) {
  if (!is_tuple(b, first)) return;
  Items items = b.take(first);
  push_expr(b, span, Conditional{std::move(expr_of(items[1])), std::move(expr_of(items[0])), std::move(expr_of(items[2]))});
}

void make_lambda(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  auto params = make_parameters(b, items.begin(), items.end() - 1);
  push_expr(b, span, Lambda{std::move(params), std::move(expr_of(items.back())), {}});
}

void make_parameter(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  const std::string& stars = std::get<Token>(items[0].value).text;
  Parameter p;
  p.name = std::get<Token>(items[1].value).text;
  p.span = span;
  if (is_expr(items[2])) p.annotation = std::move(expr_of(items[2]));
  if (is_expr(items[3])) p.default_value = std::move(expr_of(items[3]));
  p.kind = stars == "*"    ? Parameter::Kind::var_positional
           : stars == "**" ? Parameter::Kind::var_keyword
                           : Parameter::Kind::positional_or_keyword;
  b.push(span, std::move(p));
}

std::vector<Parameter> make_parameters(const Builder& b, Items::iterator begin, Items::iterator end) {
  std::vector<Parameter> params;
  bool defaults = false, slash = false, star = false, keyword_only_seen = true, var_keyword = false;
  Span bare_star;
  for (auto item = begin; item != end; ++item) {
    if (var_keyword) fail(b, item->span, "arguments cannot follow var-keyword argument");
    if (is_token(*item, "/")) {
      if (slash) fail(b, item->span, "/ may appear only once");
      if (star) fail(b, item->span, "/ must be ahead of *");
      if (params.empty()) fail(b, item->span, "at least one argument must precede /");
      for (Parameter& p : params) p.kind = Parameter::Kind::positional_only;
      slash = true;
      continue;
    }
    if (is_token(*item, "*")) {
      if (star) fail(b, item->span, "* argument may appear only once");
      star = true;
      keyword_only_seen = false;
      bare_star = item->span;
      continue;
    }
    auto& p = std::get<Parameter>(item->value);
    switch (p.kind) {
      case Parameter::Kind::var_positional:
        if (star) fail(b, item->span, "* argument may appear only once");
        if (p.default_value) fail(b, p.default_value->span, "var-positional argument cannot have default value");
        star = true;
        break;
      case Parameter::Kind::var_keyword:
        if (p.default_value) fail(b, p.default_value->span, "var-keyword argument cannot have default value");
        if (!keyword_only_seen) fail(b, bare_star, "named arguments must follow bare *");
        var_keyword = true;
        break;
      default:
        if (star) {
          p.kind = Parameter::Kind::keyword_only;
          keyword_only_seen = true;
        } else if (p.default_value) {
          defaults = true;
        } else if (defaults) {
          fail(b, p.span, "parameter without a default follows parameter with a default");
        }
    }
    params.push_back(std::move(p));
  }
  if (!keyword_only_seen) fail(b, bare_star, "named arguments must follow bare *");
  std::set<std::string_view> names;
  for (const Parameter& p : params)
    if (!names.insert(p.name).second) fail(b, p.span, fmt::format("duplicate argument '{}' in function definition", p.name));
  return params;
}

void make_comprehension_clause(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  ComprehensionClause clause{std::move(expr_of(items[0])), std::move(expr_of(items[1])), expressions(items, 2)};
  check_target(b, *clause.target, TargetUse::comprehension);
  b.push(span, std::move(clause));
}

void make_parenthesised(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  if (items.empty()) return push_expr(b, span, Tuple{});
  if (items.size() > 1 && is_clause(items[1])) {
    if (is_starred(items[0])) fail(b, items[0].span, "iterable unpacking cannot be used in comprehension");
    return push_expr(b, span, comprehension(ComprehensionKind::generator, std::move(expr_of(items[0])), {}, items, 1));
  }
  check_no_clause(b, items, false);
  if (items.size() > 1) return push_expr(b, span, Tuple{expressions(items)});
  if (is_starred(items[0])) fail(b, items[0].span, "cannot use starred expression here");
  items[0].span = span;
  b.stack.push_back(std::move(items[0]));
}

void make_list(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  if (items.size() > 1 && is_clause(items[1])) {
    if (is_starred(items[0])) fail(b, items[0].span, "iterable unpacking cannot be used in comprehension");
    return push_expr(b, span, comprehension(ComprehensionKind::list, std::move(expr_of(items[0])), {}, items, 1));
  }
  check_no_clause(b, items, true);
  push_expr(b, span, List{expressions(items)});
}

void make_braces(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  const bool is_dict = items.empty() || is_token(items[0], "**") || (items.size() > 1 && is_token(items[1], ":"));
  const size_t clauses = [&] {
    size_t i = 0;
    while (i < items.size() && !is_clause(items[i])) ++i;
    return i;
  }();
  if (!is_dict) {
    for (size_t i = 0; i < items.size(); ++i)
      if (is_token(items[i], ":") || is_token(items[i], "**")) fail(b, items[i].span, "invalid syntax");
    if (clauses == items.size()) return push_expr(b, span, Set{expressions(items)});
    if (is_starred(items[0])) fail(b, items[0].span, "iterable unpacking cannot be used in comprehension");
    if (clauses > 1) check_no_clause(b, items, true);
    return push_expr(b, span, comprehension(ComprehensionKind::set, std::move(expr_of(items[0])), {}, items, 1));
  }
  Dict dict;
  for (size_t i = 0; i < clauses;) {
    if (is_token(items[i], ",")) {
      ++i;
    } else if (is_token(items[i], "**")) {
      if (clauses < items.size()) fail(b, items[i].span, "dict unpacking cannot be used in dict comprehension");
      dict.items.emplace_back(nullptr, std::move(expr_of(items[i + 1])));
      i += 2;
    } else {
      if (i + 1 >= items.size() || !is_token(items[i + 1], ":")) fail(b, items[i].span, "':' expected after dictionary key");
      if (is_starred(items[i])) fail(b, items[i].span, "cannot use a starred expression in a dictionary key");
      if (is_named(items[i])) fail(b, items[i].span, "invalid syntax");
      dict.items.emplace_back(std::move(expr_of(items[i])), std::move(expr_of(items[i + 2])));
      i += 3;
    }
  }
  if (clauses == items.size()) return push_expr(b, span, std::move(dict));
  if (dict.items.size() != 1) fail(b, items[clauses].span, "invalid syntax");
  push_expr(b, span,
            comprehension(ComprehensionKind::dict, std::move(dict.items[0].first), std::move(dict.items[0].second), items, clauses));
}

void make_attribute(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  push_expr(b, span, Attribute{std::move(expr_of(items[0])), std::get<Token>(items[1].value).text, items[1].span});
}

void make_keyword(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  const std::string& name = std::get<Token>(items[0].value).text;
  b.push(span, Keyword{name == "**" ? std::string() : name, std::move(expr_of(items[1])), span});
}

void make_call(Builder& b, size_t first, Span span) {
  Items items = b.take(first);  // callee, "(", arguments, perhaps a last ","
  Call call{std::move(expr_of(items[0])), {}, {}};
  const uint32_t open = items[1].span.begin;
  std::set<std::string> names;
  bool unpacked = false;
  for (size_t i = 2; i < items.size();) {
    Item& item = items[i];
    if (is_token(item, ",")) break;
    if (auto* keyword = std::get_if<Keyword>(&item.value)) {
      unpacked |= keyword->name.empty();
      if (!keyword->name.empty() && !names.insert(keyword->name).second)
        fail(b, item.span,
             fmt::format("{}: {}", b.in_pattern ? "attribute name repeated in class pattern" : "keyword argument repeated", keyword->name));
      call.keywords.push_back(std::move(*keyword));
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < items.size() && is_clause(items[end])) ++end;
    if (is_starred(item) && unpacked) fail(b, item.span, "iterable argument unpacking follows keyword argument unpacking");
    if (!is_starred(item) && !call.keywords.empty())
      fail(b, item.span,
           b.in_pattern ? "positional patterns follow keyword patterns"
           : unpacked   ? "positional argument follows keyword argument unpacking"
                        : "positional argument follows keyword argument");
    if (end == i + 1) {
      call.args.push_back(std::move(expr_of(item)));
    } else {
      if (i != 2 || end != items.size()) fail(b, join(item.span, items[end - 1].span), "Generator expression must be parenthesized");
      Items clauses(std::make_move_iterator(items.begin() + static_cast<ptrdiff_t>(i + 1)),
                    std::make_move_iterator(items.begin() + static_cast<ptrdiff_t>(end)));
      call.args.push_back(
          make_expr({open, span.end}, comprehension(ComprehensionKind::generator, std::move(expr_of(item)), {}, clauses, 0)));
    }
    i = end;
  }
  push_expr(b, span, std::move(call));
}

void make_subscript(Builder& b, size_t first, Span span) {
  Items items = b.take(first);
  push_expr(b, span, Subscript{std::move(expr_of(items[0])), std::move(expr_of(items[1]))});
}

void make_yield(Builder& b, size_t first, Span span) {
  Items items = b.take(first);  // "yield", perhaps "from", a value or Missing
  std::vector<ExprRef> value;
  if (is_expr(items.back())) value.push_back(std::move(expr_of(items.back())));
  b.push(span, make_marked_call(items.size() > 2 ? kYieldFrom : kYield, span, std::move(value)));
}

void make_slice(Builder& b, size_t first, Span span) {
  if (!is_tuple(b, first)) return;
  Items items = b.take(first);
  if (is_starred(items[0]) || is_named(items[0])) fail(b, items[1].span, "invalid syntax");
  Slice slice;
  ExprRef* const places[] = {&slice.lower, &slice.upper, &slice.step};
  for (size_t i = 0; i < items.size(); i += 2)
    if (is_expr(items[i])) *places[i / 2] = std::move(expr_of(items[i]));
  push_expr(b, span, std::move(slice));
}

}  // namespace gasell::syntax
