// The variables of a program: where they are bound and read.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "lang/ast.h"

namespace gasell::check {

struct Variable {
  enum class Kind { parameter, assigned, unpacked, imported, function, class_name, exception, captured };
  struct Use {
    Span span;
    bool binds;
  };
  std::string name;
  Kind kind = Kind::assigned;  // of its first binding
  std::vector<Use> uses;       // in the order of the walk
  int bindings = 0, reads = 0;
  const ast::FunctionDef* definition = nullptr;  // of the last def or class
  std::string module, member;                    // imported: "numpy.linalg" and "", or the module and the name taken from it
  bool is_submodule_import = false;              // import a.b binds a
};

struct VariableScope {
  enum class Kind { module, function, comprehension, class_body } kind;
  VariableScope* parent;
  const ast::FunctionScope* frame;  // null for the module
  Span span;                        // of the function's text
  std::map<std::string, Variable> variables = {};
  bool looks_up_by_text = false;  // calls locals(), vars(), eval() or exec()
};

/// A program's scopes; the first is the module's. The variables of the module are there for each name that no function has, too, bound or
/// not: built-in names are such that nothing binds.
struct Scopes {
  std::deque<VariableScope> all;
  bool takes_everything = false;  // exec() or globals(): names may be bound that nobody sees

  VariableScope& module() { return all.front(); }
};

Scopes scopes_of(ast::Module& module);

}  // namespace gasell::check
