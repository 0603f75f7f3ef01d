// np.set_printoptions.
#pragma once

#include <cstdint>

namespace gasell::numpy {

struct PrintOptions {
  int64_t precision = 8;
  int64_t threshold = 1000;
  int64_t edgeitems = 3;
  int64_t linewidth = 75;
  bool suppress = false;
};
PrintOptions& print_options();

/// The columns of the terminal on which a session shows values; 0: it shows them on none. Arrays and frames are laid out for it unless
/// their options say otherwise.
int64_t terminal_columns();
void set_terminal_columns(int64_t columns);

}  // namespace gasell::numpy
