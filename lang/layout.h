// The layout pass: indentation, line ends, comments and blanks become marks, so that the grammar sees one line of text.
#pragma once

#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/source.h"

namespace gasell {

inline constexpr char kIndentMark = '\x01';
inline constexpr char kDedentMark = '\x02';
inline constexpr char kNewlineMark = '\x03';

/// A source made ready for the grammar. Outside string literals, which are copied as they stand:
///   - every run of blanks, comments, joined lines (in brackets or by a backslash) is one space, or nothing beside a mark;
///   - a logical line ends with kNewlineMark; blocks begin with kIndentMark and end with kDedentMark; empty lines leave nothing.
/// Brackets are balanced, strings are terminated, every character is one the language knows.
struct LaidOut {
  SourceRef source;
  std::string text;
  std::vector<uint32_t> offsets;  // of each byte of `text` in the source, and of its end
};

/// The text ends inside a bracket, a triple-quoted string or after a backslash: more lines could make it right.
class UnfinishedText : public Error {
 public:
  using Error::Error;
};

/// Python's indentation limit.
inline constexpr int kMaxIndents = 100;

/// Throws SyntaxError, IndentationError or TabError, each with its place.
LaidOut lay_out(const SourceRef& source);
/// The expression of an f-string's field: one line, as if in brackets.
LaidOut lay_out_field(const SourceRef& source, Span span);

/// Throws a SyntaxError (or another kind) at `span`.
[[noreturn]] void fail_at(const SourceRef& source, Span span, std::string message, std::string hint = {}, std::string kind = "SyntaxError");
/// Refuses what Python has and Gasell has not.
[[noreturn]] void refuse_at(const SourceRef& source, Span span, std::string message, std::string hint = {},
                            std::string kind = "SyntaxError");

}  // namespace gasell
