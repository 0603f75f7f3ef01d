// The literal in a .npy header: the subset of Python's that numpy.lib.format writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gasell {

/// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } and what may stand in it.
struct PythonLiteral {
  struct Tuple {
    std::vector<PythonLiteral> items;
  };
  struct List {
    std::vector<PythonLiteral> items;
  };
  struct Dict {
    std::vector<std::pair<PythonLiteral, PythonLiteral>> items;
  };
  struct BigInt {
    std::string digits;
  };  // does not fit int64_t
  struct None {};
  std::variant<None, bool, int64_t, BigInt, std::string, Tuple, List, Dict> value;
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

/// Nothing when the text is not one such literal, or nests deeper than 32. Integers may carry Python 2's suffix L.
std::optional<PythonLiteral> parse_python_literal(std::string_view text);

}  // namespace gasell
