// The grammar's entries, without the grammar.
#pragma once

#include "lang/builder.h"

namespace gasell::syntax {

/// Parses the whole text: leaves its statements on the stack. Throws Error.
void parse_statements(Builder& b);
/// Parses the text of an f-string's field: leaves one expression. Throws Error.
void parse_field(Builder& b);

}  // namespace gasell::syntax
