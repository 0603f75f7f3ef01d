// Binding of call arguments to the signatures of built-in functions.
#pragma once

#include <string>
#include <vector>

#include "lang/parameter_rules.h"
#include "runtime/session/objects.h"

namespace gasell {

struct Session;

/// A NativeFunction's signature, parsed. A leading parameter named "self" is left out.
struct Signature {
  enum class Kind : uint8_t { positional_only, positional_or_keyword, var_positional, keyword_only, var_keyword };
  struct Parameter {
    std::string name;
    Kind kind;
    bool required;  // no default is written
    ParameterRule rule = ParameterRule::read;
  };
  std::vector<Parameter> parameters;
  std::vector<Value> defaults;  // of a function in C++, one a parameter; absent where none is written or it is no literal
  int positional = 0;           // parameters that take positional arguments; they come first
  int required_positional = 0;  // those of them without default
  int var_positional = -1, var_keyword = -1;
  bool takes_keywords = false;  // some parameter can be given by name
  bool names_self = false;
  bool ruled = false;  // some parameter has a rule that looks at what is given

  /// Whether so many positional arguments and defaults are all that the parameters want.
  bool fills_by_place(size_t given) const {
    return static_cast<size_t>(positional) == parameters.size() && given <= parameters.size() &&
           given >= static_cast<size_t>(required_positional);
  }
};

/// The parsed signature; parsed once for each function. Throws std::logic_error for a signature that is no Python.
const Signature& signature_of(const NativeFunction& function);

/// Fills in the counts and positions from the list of parameters.
void index_parameters(Signature& signature);

/// Binds arguments to the parameters of a function, one value a parameter; absent where none was given and none is required. Moves from
/// `positional`. TypeError in the words of Python functions; `name` is the function's.
void bind_arguments(Interpreter& in, const Signature& signature, const std::string& name, std::span<Value> positional,
                    std::span<const std::pair<std::string, Value>> keywords, std::span<Value> out);

/// Looks at what was given for parameters that the function does not read (lang/parameter_rules.h): NotImplementedError for what is
/// refused, ValueError for what is no axis. `given` and `defaults` have one value a parameter, absent where there is none; `module` is
/// whose function it is, or "".
void check_rules(Interpreter& in, const Signature& signature, std::string_view module, const std::string& name,
                 std::span<const Value> given, std::span<const Value> defaults);

/// Calls `function` with the arguments bound to its signature; `self`, when not null, goes first. TypeError with CPython's words.
Value call_native(Interpreter& in, const NativeFunction& function, const Value* self, Arguments arguments);
/// The same for positional arguments alone; moves from them.
Value call_native(Interpreter& in, const NativeFunction& function, const Value* self, std::span<Value> positional);

/// raise(exception, message) of a built-in function, where scripts catch it in their usual course, as of int("x"): for the function to give
/// back. The exception is on its way, as below, which costs far less than a throw.
Value fail(Interpreter& in, std::string_view exception, std::string message);
/// call_native() for who looks whether it is absent: then an exception is on its way as session.raised (evaluator.h).
Value attempt_native(Session& session, const NativeFunction& function, const Value* self, std::span<Value> positional);
/// The same of arguments that are bound: self, where it takes one, and a value a parameter.
Value attempt_bound(Session& session, const NativeFunction& function, std::span<Value> all);
/// The signature of a function for which so many positional arguments and its defaults are all that it takes; null: bind them.
inline const Signature* bound_by_place(const NativeFunction& function, bool has_self, size_t given) {
  const Signature& s = signature_of(function);
  return !s.ruled && (has_self || !s.names_self) && s.fills_by_place(given) ? &s : nullptr;
}

/// A method or static method of a type or its bases, or null.
const NativeFunction* find_method(const Type& type, std::string_view name);
const NativeFunction* find_static_method(const Type& type, std::string_view name);
const Type::Property* find_property(const Type& type, std::string_view name);

}  // namespace gasell
