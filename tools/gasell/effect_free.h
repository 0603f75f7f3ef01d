// Values of expressions that are looked up while one types: what has an effect is not run.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lang/tokens.h"
#include "runtime/session/interpreter.h"
#include "tools/gasell/signatures.h"

namespace gasell::cli {

/// The expression that ends before token `count`, which a '.', '(' or '[' follows: a name, a literal or brackets, with attributes, items
/// and calls behind. Empty where none ends there.
std::string_view primary_before(std::string_view text, const std::vector<Token>& tokens, size_t count);

/// The value of an expression of names, literals, attributes, items, operators, and calls of functions of the library that only make a
/// value (np.ones, str.upper, df.groupby). nullopt where it has none, holds something else, or fails.
std::optional<Value> effect_free_value(Interpreter& interpreter, std::string_view expression);

/// The signature of what an expression stands for: properties are not read.
std::optional<CallSignature> signature_of_expression(Interpreter& interpreter, std::string_view expression);

}  // namespace gasell::cli
