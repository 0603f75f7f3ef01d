// What ?name and name?? show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/session/interpreter.h"

namespace gasell::cli {

/// Type, signature, description, and the value where it is short. Forces nothing.
std::string describe(Interpreter& interpreter, const Value& value);

/// What is known of a name.
struct Documentation {
  std::string name;         // as it was asked for
  std::string kind;         // "function", "class", "module", "property", or the type of the value
  std::string signature;    // "roll(a, shift, axis=None)"; empty where nothing can be called
  std::string description;  // the docstring
  std::string_view example;
  std::vector<std::string> members;  // public names of a module and of a class
};
/// Of what an expression stands for: a name with attributes, mostly. Throws what the expression throws.
Documentation documentation_of(Interpreter& interpreter, const std::string& expression);
/// The same as text: what `describe` says, then the example.
std::string describe_expression(Interpreter& interpreter, const std::string& expression);

/// The text of a function, with where it is written; the description of what has none.
std::string source_of(Interpreter& interpreter, const Value& value);

}  // namespace gasell::cli
