// What the grammar's actions work on: a stack of parsed pieces, from which the productions build the tree.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lang/ast.h"
#include "lang/layout.h"

namespace gasell::syntax {

struct Missing {};  // an optional piece that is not there
struct Token {
  std::string text;
};  // a name, a keyword or an operator that the production must know
using Value = std::variant<Missing, Token, ast::ExprRef, ast::StmtRef, ast::Body, ast::Parameter, ast::Keyword, ast::ComprehensionClause,
                           ast::WithItem, ast::ExceptHandler, ast::ImportName>;
/// A piece and the text it covers: for an expression in parentheses, with them (its own span is without).
struct Item {
  Span span;
  Value value;
};
using Items = std::vector<Item>;

class Builder {
 public:
  explicit Builder(const LaidOut& text) : laid(text), furthest(text.text.data()) {}

  const LaidOut& laid;
  std::vector<Item> stack;
  const char* furthest;          // the last token any parser looked at: where a syntax error is
  int nesting = 0;               // of brackets and other recursion of the grammar, see nested[]
  int brackets = 0;              // open at `furthest`
  uint32_t header = 0;           // where the statement or clause began whose block comes next
  std::string_view block_owner;  // what it is called: "'if' statement"
  bool in_pattern = false;       // of a case

  const SourceRef& source() const { return laid.source; }
  const char* begin() const { return laid.text.data(); }
  const char* end() const { return laid.text.data() + laid.text.size(); }
  uint32_t offset(const char* at) const { return laid.offsets[static_cast<size_t>(at - begin())]; }
  /// The source of the tokens from `first` up to `last`, without the blanks and marks before `last`.
  Span span(const char* first, const char* last) const;
  /// The token at `at`; a mark or the end has the empty span before it.
  Span token_span(const char* at) const;
  void reach(const char* at) {
    if (at > furthest) furthest = at;
  }

  void push(Span span, Value value) { stack.push_back({span, std::move(value)}); }
  /// Takes the items from `first` on off the stack.
  Items take(size_t first);
  /// One level deeper; throws when that is deeper than kMaxNesting.
  void enter(const char* at);
};

/// Replaces the items from `first` on by what a production makes of them.
using Reduction = void (*)(Builder&, size_t first, Span span);

inline ast::ExprRef make_expr(Span span, ast::Node node) { return std::make_shared<ast::Expr>(span, std::move(node)); }
inline ast::ExprRef& expr_of(Item& item) { return std::get<ast::ExprRef>(item.value); }
inline bool is_expr(const Item& item) { return std::holds_alternative<ast::ExprRef>(item.value); }
inline bool is_token(const Item& item) { return std::holds_alternative<Token>(item.value); }
inline bool is_token(const Item& item, std::string_view text) { return is_token(item) && std::get<Token>(item.value).text == text; }
inline bool in_parentheses(const Item& item) { return is_expr(item) && std::get<ast::ExprRef>(item.value)->span != item.span; }

/// Bytes of the operator or delimiter at `first`: the longest, as Python's tokenizer takes it. 0 where there is none.
size_t operator_length(const char* first, const char* last);

/// Python's name for a kind of expression, as its messages use it ("function call", "literal" …).
std::string kind_name(const ast::Expr& expr);

enum class TargetUse { assign, for_loop, with_item, del, aug_assign, ann_assign, comprehension };
/// Throws a SyntaxError unless values can be assigned to `expr` (or it be deleted).
void check_target(const Builder& b, const ast::Expr& expr, TargetUse use);

}  // namespace gasell::syntax
