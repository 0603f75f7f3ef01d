// Text to tree.
#pragma once

#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace gasell {

/// Brackets, indentation and operators may nest this deep; more is a located SyntaxError.
inline constexpr int kMaxNesting = 1000;
/// No tree is deeper: a sum of 10,000 terms or a chain of 10,000 calls, which do not nest in the text, passes; more is a located
/// limitation.
inline constexpr int kMaxTreeDepth = 12'000;

/// Parses a whole file. Throws Error (SyntaxError, IndentationError, or a `limitation` naming a construct the language lacks).
ast::ModuleRef parse_module(const SourceRef& source);

/// The REPL's question: is this text a complete entry, does it want more lines, or is it wrong already? As Python's codeop: open
/// brackets and triple quotes, a backslash at the end, a header without its block want more; so does a text that ends with a compound
/// statement, until it ends with an empty line.
enum class Completeness { complete, incomplete, invalid };
Completeness completeness(std::string_view text);

/// Source text that parses back to the same tree (spans aside).
std::string print(const ast::Module& module);
std::string print(const ast::Expr& expr);
/// The tree itself, indented, for --emit=ast: each node with its place (line:column-line:column) unless `spans` is false, names with
/// where they live.
std::string dump(const ast::Module& module, bool spans = true);

}  // namespace gasell
