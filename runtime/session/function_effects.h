// What a function's text does beside giving a value, as far as the text tells: whether a call may run on another interpreter, which has
// copies of all that the function sees.
#pragma once

#include <string>
#include <vector>

namespace gasell {

namespace ast {
struct FunctionDef;
struct Lambda;
}  // namespace ast

/// The text is looked at once, with all functions and classes inside it. What a method of an object, or a function that is called, does is
/// told by their names where those are Python's or NumPy's (append, shuffle, out=), and by their own effects where scripts define them.
struct FunctionEffects {
  /// Names that are looked for outside of all functions, each once.
  std::vector<std::string> globals = {};
  /// Globals of which methods are used that change their object, if they are no modules: `np.sort` changes none.
  std::vector<std::string> changed_globals = {};
  /// Binds a global or a variable of a function around it, or changes an object that one of them is.
  bool changes_outside = false;
  /// May change an object that it was given, or one that lies in another.
  bool changes_given = false;
  /// May wait: it sleeps, or asks for the results of tasks.
  bool waits = false;
};

FunctionEffects effects_of(const ast::FunctionDef& definition);
FunctionEffects effects_of(const ast::Lambda& lambda);

}  // namespace gasell
