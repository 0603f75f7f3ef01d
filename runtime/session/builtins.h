// The names that every script sees without import: print, len, int, ValueError, …
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runtime/session/value.h"

namespace gasell {

/// Functions, types and exceptions by name; the last place where a name is looked up. Made on first use.
const std::map<std::string, Value, std::less<>>& builtins();

/// An iterator over get_item(0), get_item(1), … of a sequence of known length, read anew at each step (as CPython's list iterator does).
/// `type_name` is what type(it).__name__ says.
Value make_sequence_iterator(const Value& sequence, std::string_view type_name);

}  // namespace gasell
