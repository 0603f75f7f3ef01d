// What the functions of the library take. Each declares its parameters as Python writes them, with kinds of values as annotations, in its
// row of a table (library_*.cpp: "a: values, axis: axis = None, *, ddof: real = 0") or in its text (prelude/*.gsl). Every call is held
// against them in one place, before the function sees it: whatever a script writes, a function gets as many arguments as it asks for, of
// kinds that it asks for.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "compiler/functions/lowering.h"

namespace gasell::functions {

/// The call as a function with these parameters may see it: arguments that it needs stand in their places, also those that were given by
/// keyword; what may be None and must not be is an error where it is; numbers are no arrays without axes. TypingError where arguments are
/// missing, too many or of other kinds. Keywords without a parameter stay, for call_library() to refuse.
CallSite checked(Lowering& lowering, const CallSite& site, const std::vector<ast::Parameter>& parameters);
/// The same, of parameters as a table has them.
CallSite checked(Lowering& lowering, const CallSite& site, std::string_view parameters);

/// A table of the library.
class LibraryTable {
 public:
  struct Row {
    std::string_view path;        // "numpy.var"
    std::string_view parameters;  // "a: values, axis: axis = None, *, ddof: real = 0"
    LibraryFunction function;
  };
  LibraryTable(std::initializer_list<Row> rows);

  /// The function, with its arguments checked; nullptr: there is none.
  LibraryFunction find(std::string_view path) const;

 private:
  std::unordered_map<std::string_view, Row> rows_;
};

}  // namespace gasell::functions
