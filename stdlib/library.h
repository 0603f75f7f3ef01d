// The part of the library that is written in Gasell: texts embedded into the binary, run when a name of theirs is asked for the first time.
// A further function is a `def` in a file stdlib/MODULE/*.gsl, nothing else.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"

namespace gasell {

struct LibraryFile {
  std::string_view module;  // "numpy.linalg"
  std::string_view path;    // below stdlib/
  std::string_view names;   // public ones, each between blanks
  std::string_view text;
};
std::span<const LibraryFile> library_files();

/// For PeerNames: the names that Python, NumPy 2 and pandas 2 have, a line a module or type ("numpy.linalg: cholesky cond …"), and those
/// that they had once.
std::string_view public_names();
std::string_view former_names();

/// The texts of stdlib/examples: what tools/gasell/examples.h reads.
std::span<const std::string_view> example_texts();

/// The member of a module that a library text defines, or nothing. Runs that text where this has not happened in the session.
std::optional<Value> library_member(Interpreter& in, std::string_view module, std::string_view name);
/// Their names, without running anything.
std::vector<std::string> library_names(std::string_view module);
/// A function with its first argument: a method of an object.
Value library_bound(Value function, Value self);

// ---- objects whose methods are functions of a library module that take the object first ----
/// `own` where there is one, else the library's function bound to `self`, or nothing.
std::optional<Value> library_method(Interpreter& in, Object& self, std::string_view module, std::string_view name,
                                    std::optional<Value> own);
std::vector<std::string> with_library_names(std::vector<std::string> names, std::string_view module);

/// A module with members made in C++ and those of library texts.
class LibraryModule : public Module {
 public:
  /// `methods`: the library's functions take the module itself as their first argument (np.random's: a generator).
  explicit LibraryModule(std::string name, bool methods = false) : Module(std::move(name)), methods_(methods) {}
  /// `base`: a module that has what this one does not say anew (dask.array: numpy).
  LibraryModule(std::string name, Value base) : Module(std::move(name)), base_(std::move(base)) {}
  std::optional<Value> get_attribute(Interpreter& in, std::string_view attribute) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;
  std::vector<std::string> peer_owners() override;

 private:
  bool methods_ = false;
  Value base_;
};

}  // namespace gasell
