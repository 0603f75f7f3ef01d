// The examples of public names (stdlib/examples/*.txt): statements behind `>>> `, and what each shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/session/interpreter.h"

namespace gasell::cli {

struct Example {
  std::string_view description;  // of names that have no docstring; else empty
  std::string_view text;         // empty: there is none
};

/// The example listed under the first of some names ("numpy.roll", "pandas.DataFrame.groupby", "len") that has one.
Example example_listed(const std::vector<std::string>& names);

/// Under which names the example of an attribute may be listed; `owners` are those of what has it (Object::peer_owners).
std::vector<std::string> listed_names(const std::vector<std::string>& owners, const std::string& attribute);

/// The example of what an expression stands for: of an attribute by what it is an attribute of and by the bases of that, of a name by the
/// module or the type that it was taken from. `value` is the expression's.
Example example_of(Interpreter& interpreter, const std::string& expression, const Value& value);

}  // namespace gasell::cli
