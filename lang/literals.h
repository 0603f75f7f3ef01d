// The values of number and string literals.
#pragma once

#include <functional>
#include <string_view>

#include "lang/ast.h"
#include "lang/string_scan.h"

namespace gasell {

/// Bytes of the number literal at `offset`, 0 when none begins there. Throws SyntaxError for a malformed one, as Python's tokenizer.
uint32_t scan_number(const SourceRef& source, uint32_t offset);

/// The value of a number literal that scan_number found; 2**63, which only a minus can save, comes out as IntLiteral{INT64_MIN}.
/// Throws a limitation (OverflowError) for an integer that needs more than 64 bits.
ast::Node number_value(const SourceRef& source, Span span);

/// Throws that limitation.
[[noreturn]] void refuse_too_large(const SourceRef& source, Span span);

/// Parses the expression of an f-string's field.
using FieldParser = std::function<ast::ExprRef(Span)>;

/// Adjacent string literals as one StringLiteral or FString.
ast::Node string_value(const SourceRef& source, const std::vector<StringToken>& tokens, const FieldParser& parse_field);

}  // namespace gasell
