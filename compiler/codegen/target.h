// What the emitter asks of a target; nothing else asks "is this a GPU?".
#pragma once

#include <string>

namespace gasell {

struct Target {
  std::string triple, data_layout, cpu, features;
  /// Bits of vectors that LLVM should use where loops allow (prefer-vector-width), 0: its own choice.
  int vector_bits = 0;
  /// log, exp, sin and the like exist as LLVM intrinsics that become calls of the C library (or its vector twin).
  bool math_intrinsics = true;
  /// Every load and store is checked against its array's memory; the first wrong one ends the process with a message. For debugging.
  bool check_bounds = false;
};

/// This machine's CPU with all its features.
const Target& host_target();

}  // namespace gasell
