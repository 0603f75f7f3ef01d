// The loop IR as text, both ways: parse(print(k)) is k. The grammar is in docs/loop_ir.md.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/ir.h"

namespace gasell::ir {

std::string print(const Kernel& kernel);
std::string print(const ExprRef& expr);
/// A statement without what stands in its blocks: "for i in 0 .. n simd".
std::string print_head(const Stmt& s);
/// Throws Error with line and column of the IR text.
Kernel parse(std::string_view text);

/// Throws Error (blame internal) naming the rule of docs/loop_ir.md that is broken and where.
void verify(const Kernel& kernel);

}  // namespace gasell::ir
