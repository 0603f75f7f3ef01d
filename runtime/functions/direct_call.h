// Calls of compiled functions by programs around the language: arguments where the program has them, no values of the session.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/functions/call.h"

namespace gasell::functions {

/// An array of the caller's: the address of element (0, …, 0), extents, and strides in elements (null: C order).
struct View {
  void* data;
  const int64_t* shape;
  const int64_t* strides;
};

/// A function compiled for numbers and arrays whose result is a number, or None. Calls take no memory of the heap and may be made from any
/// number of threads at the same time.
class DirectCall {
 public:
  /// Whether calls of the function can be direct.
  static bool takes(const Compiled& compiled);
  /// `apart`, `overlapping`: the function where arrays that it writes lie apart from others, or not (null where that makes no difference).
  /// Both live as long as this.
  DirectCall(Engine& engine, const Specialisation& apart, const Specialisation* overlapping);

  /// One address an argument: of a number of the parameter's dtype, or of a View. The result is written to `result`, as a number of
  /// dtype `wanted`, where that is not null. It ends soon after `interrupt` is set. Throws SiteRaised, Interrupted; Error ValueError for a
  /// view that does not fit its parameter, and as Specialisation::run.
  void operator()(void* result, DType wanted, void* const* arguments, const std::atomic<bool>& interrupt) const;

 private:
  static constexpr size_t kMost = 96;  // arrays, and scalars
  bool overlaps(void* const* arguments) const;

  Engine& engine_;
  const Specialisation& apart_;
  const Specialisation* const overlapping_;
  struct Captured {
    Type type;
    Array array;
    Array::Memory memory;
  };
  std::vector<Captured> captured_;
};

}  // namespace gasell::functions
