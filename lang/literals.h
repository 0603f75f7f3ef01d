// The values of number and string literals.
#pragma once

#include <functional>
#include <string_view>

#include "lang/ast.h"
#include "lang/string_scan.h"

namespace gasell {

/// Bytes of the number literal at `offset`, 0 when none begins there. Throws SyntaxError for a malformed one, as Python's tokenizer.
uint32_t scan_number(const SourceRef& source, uint32_t offset);

/// The value of a number literal that scan_number found: an IntLiteral, a BigIntLiteral beyond 64 bits, or a FloatLiteral.
/// Throws SyntaxError for more decimal digits than Python reads.
ast::Node number_value(const SourceRef& source, Span span);

/// The digits of 2**63: the BigIntLiteral that a minus makes an IntLiteral.
inline constexpr std::string_view kTwoTo63 = "9223372036854775808";

/// Parses the expression of an f-string's field.
using FieldParser = std::function<ast::ExprRef(Span)>;

/// Adjacent string literals as one StringLiteral, BytesLiteral or FString.
ast::Node string_value(const SourceRef& source, const std::vector<StringToken>& tokens, const FieldParser& parse_field);

}  // namespace gasell
