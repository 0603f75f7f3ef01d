// Small pieces of program text that the printer and the dump share.
#pragma once

#include <string>
#include <string_view>

#include "lang/ast.h"

namespace gasell {

std::string_view text_of(ast::BinaryOp op);
std::string_view text_of(ast::UnaryOp op);  // "not" without its blank
std::string_view text_of(ast::CompareOp op);

/// A string literal in double quotes that decodes to `value`.
std::string quoted(std::string_view value);
/// The same text for use between the quotes of an f-string's literal part: braces doubled.
std::string f_string_text(std::string_view value);
/// A literal b"…" that decodes to these bytes.
std::string quoted_bytes(std::string_view value);
/// A literal that reads back as the same double: "1.0", "1e+300", "2.5j"; infinity as "1e999".
std::string float_text(const ast::FloatLiteral& literal);

}  // namespace gasell
