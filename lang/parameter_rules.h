// What a library's function says of a parameter that it does not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/ast.h"

namespace gasell {

/// The library takes the parameters that NumPy's and pandas' functions have. One that a function of a library text does not read has an
/// annotation (`limit_area: Refused = None`), in a native function's signature too:
enum class ParameterRule : uint8_t {
  read,     // no annotation: the function reads it
  refused,  // Refused: nothing but its default is taken. NotImplementedError "… is not in Gasell"
  unused,   // Unused: says how the peer computes (copy=, engine=, cache=), not what; any value is taken
  sort,     // Sort: the kind= of a sort. All of ours are stable; NumPy's names and None are taken. ValueError for others
  order,    // Order: the order of memory. Arrays are in C order; NumPy's names and None are taken. ValueError for others
  device,   // Device: "cpu" and None are taken, as NumPy does. ValueError for others
  rows,     // Rows: the axis of rows; 0, "index", "rows" and None are taken. NotImplementedError for columns, ValueError for others, as
            // pandas' (and for the columns of a Series)
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
/// object of a method, names that open with an underscore, which a protocol asks for, and those of an __init__ without a body, which the
/// object keeps.
std::vector<UnreadParameter> unread_parameters(ast::Module& module);

}  // namespace gasell
