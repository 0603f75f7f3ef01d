// What a library's function says of a parameter that it does not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/ast.h"

namespace gasell {

/// The library takes the parameters that NumPy's and pandas' functions have. One that a function does not read has an annotation, in a
/// library text (`limit_area: Refused = None`) or in the signature of a function in C++:
enum class ParameterRule : uint8_t {
  read,     // no annotation: the function reads it
  refused,  // Refused: nothing but its default is taken. NotImplementedError "… is not in Gasell"
  unused,   // Unused: says how the peer computes (copy=, engine=, cache=), not what; any value is taken
  sort,  // Sort: the kind= of a sort. All of ours are stable; "quicksort", "mergesort", "heapsort", "stable" and None are taken. ValueError
  rows,  // Rows: the axis of what has rows alone; 0, "index" and "rows" are taken. ValueError for others, as pandas'
};
/// The rule of that name, or nothing.
std::optional<ParameterRule> parameter_rule(std::string_view annotation);
/// A parameter's rule; `read` where its annotation is none of these.
ParameterRule rule_of(const ast::Parameter& parameter);

struct UnreadParameter {
  Span span;
  std::string message;
};
/// Parameters that functions of a library text never read although no rule says so, and those with a rule that are read. Left out: the
/// object of a method, and names that open with an underscore, which a protocol asks for.
std::vector<UnreadParameter> unread_parameters(ast::Module& module);

}  // namespace gasell
