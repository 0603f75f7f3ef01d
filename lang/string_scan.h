// Where a string literal ends.
#pragma once

#include "lang/source.h"

namespace gasell {

/// A string literal as it stands in the source; its text is not decoded yet.
struct StringToken {
  uint32_t begin, end;            // the whole literal with prefix and quotes
  uint32_t body_begin, body_end;  // between the quotes
  bool raw = false, bytes = false, formatted = false, triple = false;
};

/// Bytes of a string's prefix at `offset` when a string literal begins there (0 for a bare quote), -1 when none does.
int string_prefix_length(std::string_view text, uint32_t offset);

/// Scans the literal at `offset`, which string_prefix_length accepted. `end` bounds the text to look at. Fields of f-strings may hold
/// strings of any kind (PEP 701), so this recurses, at most kMaxStringDepth deep. Throws a SyntaxError, or UnfinishedText when the source
/// ends inside a triple-quoted string.
StringToken scan_string(const SourceRef& source, uint32_t offset, uint32_t end, int depth = 0);
inline constexpr int kMaxStringDepth = 100;

/// The parts of a replacement field `{expression=!r:spec}` whose '{' stands at `begin`.
struct FieldToken {
  Span expression;          // up to '=', '!', ':' or '}'
  bool debug = false;       // {x=}
  uint32_t debug_end = 0;   // after '=' and its blanks
  uint32_t conversion = 0;  // offset of the name after '!', or 0
  uint32_t conversion_end = 0;
  Span spec;  // empty where there is no ':'
  bool has_spec = false;
  uint32_t end;  // after '}'
};
FieldToken scan_field(const SourceRef& source, uint32_t begin, uint32_t end, const StringToken& literal, int depth);

}  // namespace gasell
