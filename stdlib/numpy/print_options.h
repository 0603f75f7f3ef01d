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

}  // namespace gasell::numpy
