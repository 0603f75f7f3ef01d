// The names that every script sees without import: print, len, int, ValueError, …
//
// What an object class gives beside its slots: abs(x) calls a method __abs__(), round(x, n) __round__(ndigits), divmod(a, b) __divmod__(b)
// where the type has one. callable(x) is true for functions, types and for what has an attribute __call__.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/session/value.h"

namespace gasell {

/// Functions, types and exceptions by name; the last place where a name is looked up. Made on first use, shared by all sessions.
const std::map<std::string, Value, std::less<>>& builtins();

/// An iterator over get_item(0), get_item(1), … of a sequence of known length, read anew at each step (as CPython's list iterator does).
/// `type_name` is what type(it).__name__ says; it has to outlive the process (a literal).
Value make_sequence_iterator(const Value& sequence, std::string_view type_name);

// Functions that modules share with the table.
Value absolute(Interpreter& in, const Value& v);                            // abs(v)
Value add_all(Interpreter& in, const Value& iterable, const Value& start);  // sum(iterable, start)
/// pow(a, b) or pow(a, b, m); m missing() when not given.
Value power(Interpreter& in, const Value& a, const Value& b, const Value& m);
bool is_callable(Interpreter& in, const Value& v);

/// Parts of the table, by topic.
std::vector<NativeFunction> number_functions();    // abs round pow divmod sum min max bin …
std::vector<NativeFunction> sequence_functions();  // len sorted any all iter next …
std::vector<NativeFunction> object_functions();    // isinstance getattr repr dir …
std::vector<NativeFunction> io_functions();        // print input open exit …

}  // namespace gasell
