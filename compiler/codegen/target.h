// What the emitter asks of a target; nothing else asks "is this a GPU?".
#pragma once

#include <cstdint>
#include <string>

namespace gasell {

struct Target {
  std::string triple, data_layout, cpu, features;
  /// Bits of vectors that LLVM should use where loops allow (prefer-vector-width), 0: its own choice.
  int vector_bits = 0;
  /// Elementary functions are emitted in place, and what cannot be is libclc's (device_library.h): kernels that are mapped to a grid.
  /// Others call functions that have vector twins, and the C library's.
  bool emits_math = false;
  /// Code may call Gasell's own functions (externals.h).
  bool calls_runtime = true;
  /// Kernels are mapped to a grid and run by its threads (nvptx64); elsewhere mapped kernels run as loops over them.
  bool grid = false;
  /// Of a grid: doubles are computed at half the rate of floats, not at a 32nd or less.
  bool quick_doubles = false;
  /// Of a grid: code is made with few of LLVM's passes, so that it is there soon.
  bool soon = false;
  /// Every load and store is checked against its array's memory; the first wrong one ends the process with a message. For debugging.
  bool check_bounds = false;
  /// Beside that, the threads of kernels mapped to a grid tell a RaceChecker (race_check.h) what they use.
  bool check_races = false;
};

/// This machine's CPU with all its features.
const Target& host_target();

}  // namespace gasell
