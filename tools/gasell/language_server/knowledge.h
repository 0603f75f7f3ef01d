// What is known of a text without running it: an interpreter that holds its library imports, functions and simple values.
#pragma once

#include <memory>
#include <string>

#include "lang/ast.h"
#include "runtime/session/interpreter.h"

namespace gasell::cli::lsp {

class Knowledge {
 public:
  explicit Knowledge(Engine& engine) : engine_(engine) {}

  /// With the names of the top level whose making has no effect: imports of library modules, functions without other decorators than the
  /// compiling ones, classes of these, and values of effect_free.h. Made anew when these statements change.
  Interpreter& of(const ast::Module& module);
  /// One that holds the library alone.
  Interpreter& library();

 private:
  Engine& engine_;
  std::unique_ptr<Interpreter> interpreter_, library_;
  std::string made_of_;
};

}  // namespace gasell::cli::lsp
