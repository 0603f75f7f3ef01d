// Which local names of a function are read later: what joins of its ways must keep.
#pragma once

#include <map>
#include <set>
#include <string>

#include "lang/ast.h"

namespace gasell::functions {

using Names = std::set<std::string>;

struct Liveness {
  struct Of {
    Names after;  // read after the statement unless bound anew
    Names head;   // a loop's: read in an iteration, or after the loop, before it is bound there
  };
  std::map<const ast::Stmt*, Of> statements;  // if, for, while, with, try
};

/// By the classic backward flow equations over the statement tree.
Liveness find_liveness(const ast::Body& body);
/// The local names that statements may read before they bind them.
Names exposed_names(const ast::Body& body);
/// The local names that statements bind, those of nested functions not among them.
Names assigned_names(const ast::Body& body);
/// Whether a way through the statements leaves a local name as it was.
bool may_stay_unbound(const ast::Body& body, const std::string& name);
/// Whether statements bind a name by `name op= …` at most, which leaves an array the same array.
bool only_augmented(const ast::Body& body, const std::string& name);
/// The local names that an expression or a function inside the function reads.
Names read_names(const ast::ExprRef& e);

}  // namespace gasell::functions
