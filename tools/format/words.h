// The words of a program as the formatter sees them: statements of words with their comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/tokens.h"

namespace gasell::format {

struct Word {
  TokenKind kind;
  std::string text;                // as it is written out: quotes and numbers normalised
  Span span;                       // in the source; empty for a comma or parenthesis that the formatter adds
  bool space = false;              // a blank stands before it where the line goes on (spacing.h)
  bool joined = false;             // a backslash stood before it
  std::vector<std::string> above;  // comments on lines of their own before it, inside brackets
  std::string beside;              // the comment behind it on its line

  bool is(std::string_view other) const { return text == other && kind != TokenKind::string; }
  bool opens() const { return kind == TokenKind::open; }
  bool closes() const { return kind == TokenKind::close; }
};
using Words = std::vector<Word>;

/// A statement that stands in one logical line, the header of a compound one, or a comment on a line of its own (`words` is empty, then).
struct Statement {
  Words words;
  std::string comment;        // a comment line
  int level = 0;              // of indentation
  int column = 0;             // where it began
  int blanks = 0;             // empty lines before it
  Span span;                  // of its words and the comment behind
  bool as_it_stands = false;  // between `# fmt: off` and `# fmt: on`, or with `# fmt: skip`
};

/// The statements of a text that parses. Several in a line (`a; b`, `if x: y`) are told apart.
std::vector<Statement> read_statements(std::string_view text);

/// Does a word stand where an operand ends, so that what follows is an operator, a call or an index?
bool ends_operand(const Word& word);

}  // namespace gasell::format
