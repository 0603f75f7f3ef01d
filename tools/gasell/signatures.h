// How functions are called: built-in ones, those of the library's texts and the user's own, compiled or not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/session/interpreter.h"
#include "tools/editor/services.h"

namespace gasell::cli {

struct CallSignature {
  std::string name;
  std::vector<std::string> parameters;  // as one writes them in a `def`: "a", "axis=None", "*", "**kwargs"; without the object of a method
  std::string description;              // the docstring, or ""

  /// "name(a, axis=None)".
  std::string text() const;
  /// Names that can be given as `name=`.
  std::vector<std::string> keywords() const;
};

/// nullopt for what is no function and no type with a constructor. Runs nothing of the script.
std::optional<CallSignature> call_signature(Interpreter& interpreter, const Value& value);
/// Of an attribute, without reading it: a property of a frame may compute.
std::optional<CallSignature> member_signature(Interpreter& interpreter, const Value& owner, std::string_view name);

/// Of a `def` in the tree.
CallSignature signature_of_definition(const ast::FunctionDef& definition);

/// Where the text of a function is written, with its decorators; nullopt for those in C++.
struct FunctionText {
  SourceRef source;
  Span span;
};
std::optional<FunctionText> function_text(Interpreter& interpreter, const Value& value);

/// The signature of the call that is being written where the cursor is, the parameter that comes told apart.
std::optional<editor::CallHint> call_hint(Interpreter& interpreter, std::string_view text, size_t cursor);

/// The first line of a description.
std::string first_line(std::string_view text);

}  // namespace gasell::cli
