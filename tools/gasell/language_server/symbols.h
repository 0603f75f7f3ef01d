// Where the names of a text are bound and where they are used.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lang/ast.h"

namespace gasell::cli::lsp {

struct Occurrence {
  enum class Kind { function, class_, variable, parameter, import } kind = Kind::variable;
  Span span;  // the name alone
  std::string name;
  const void* scope = nullptr;  // of the function that the name belongs to; null: the module
  bool binds = false;
  bool of_class = false;  // an attribute of a class, which is also reached by objects
  std::string module;     // of an import: where the name comes from, "mod" or "mod.name"
};

/// A function or class with what it is made of.
struct Definition {
  std::string name;
  bool is_class = false;
  bool is_method = false;
  Span span, name_span;
  std::vector<Definition> inside;
};

struct Symbols {
  std::vector<Occurrence> occurrences;  // in the text's order
  std::vector<Definition> definitions;
  std::set<std::string> keywords;     // that calls give arguments by
  std::vector<Occurrence> variables;  // of the top level, where they are first bound

  /// The occurrence that holds this byte or ends there; null where there is none.
  const Occurrence* at(size_t offset) const;
  /// All of the same name.
  std::vector<const Occurrence*> same(const Occurrence& one) const;
  /// Where it is bound first; null for what the text does not bind.
  const Occurrence* binding(const Occurrence& one) const;
};

Symbols symbols_of(ast::Module& module);

}  // namespace gasell::cli::lsp
