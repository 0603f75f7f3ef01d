// Names that the peers (CPython's library, NumPy, pandas, Numba, …) have, whether Gasell has them or not: what is missing is told from what
// is misspelt.
#pragma once

#include <string>
#include <string_view>

namespace gasell {

/// Tables as texts, by owner: a module ("numpy.linalg") or a type ("numpy.ndarray", "str").
struct PeerNames {
  std::string_view names;   // lines "owner: name name …"; the owner "import" has the modules, "builtins" what needs no import
  std::string_view former;  // lines "owner.name what took its place"

  bool has(std::string_view owner, std::string_view name) const;
  /// Whether a module has modules in it.
  bool has_parts(std::string_view module) const;
  /// What took the place of a name that the owner had once; empty for others.
  std::string_view successor(std::string_view owner, std::string_view name) const;
};

/// Raises NotImplementedError for a name that a peer has. The exception is also a `missing`, Python's error where the name is not there
/// (AttributeError, ModuleNotFoundError, NameError): scripts that ask whether something is there get their answer.
[[noreturn]] void refuse_name(std::string_view missing, std::string message, std::string hint = {});

}  // namespace gasell
