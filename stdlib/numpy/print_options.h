// np.set_printoptions.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/array/array.h"
#include "runtime/session/interpreter.h"

namespace gasell::numpy {

struct PrintOptions {
  int64_t precision = 8;
  int64_t threshold = 1000;
  int64_t edgeitems = 3;
  int64_t linewidth = 75;
  bool suppress = false;
};
PrintOptions& print_options();

/// Brackets and lines around the elements of an array, as NumPy lays them out. `texts(shown)` gives the texts of those that are shown, all
/// of one width; `prefix` stands before the array in its line, and so many letters behind it.
std::string laid_out(Interpreter& in, const Array& array, const Value& texts, const std::string& prefix, const std::string& separator,
                     size_t suffix_width);
/// The columns of the terminal on which a session shows values; 0: it shows them on none. Arrays and frames are laid out for it unless
/// their options say otherwise.
int64_t terminal_columns();
void set_terminal_columns(int64_t columns);

}  // namespace gasell::numpy
