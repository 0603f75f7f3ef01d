// What a syntax error is called: CPython's words, from where the grammar stopped.
#pragma once

#include "lang/builder.h"

namespace gasell::syntax {

/// Throws the SyntaxError (or IndentationError) for the text at `b.furthest`, which no rule could take.
[[noreturn]] void fail_syntax(const Builder& b);
/// The same where a ':' had to come.
[[noreturn]] void fail_expected_colon(const Builder& b, const char* at);

}  // namespace gasell::syntax
