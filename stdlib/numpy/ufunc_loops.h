// Which dtypes the ufuncs take and give: one table of loops, and the choice of a loop for operands.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// Ufuncs that have the same loops, found in the same way.
enum class LoopClass : uint8_t {
  sum,          // numbers and bool to themselves
  subtraction,  // numbers; bool has words of its own
  extreme,      // numbers and bool
  division,     // inexact numbers; integers as float64
  quotient,     // real numbers
  power,        // numbers
  float_power,  // float64 and complex128
  negation,     // numbers, one; bool has words of its own
  number,       // numbers, one
  sign,         // numbers, one; not as the nearest that bool could be
  absolute,     // real numbers and bool to themselves, complex ones to real ones
  inexact,      // floats and complex numbers, one
  real,         // floats, one
  reals,        // floats, two
  rounding,     // real numbers and bool, one
  inspection,   // any to bool
  sign_bit,     // floats to bool
  comparison,   // any two to bool
  logic,        // any two, taken as bool
  negated,      // any, taken as bool
  bits,         // integers and bool, two
  inversion,    // integers and bool, one
  shift,        // integers, two
  divisor,      // integers, two; not as the nearest that bool could be
  count,        // integers to uint8
  scaling,      // a float and an int32 or int64 to the float
  splitting,    // a float to itself and an int32
  parts,        // a float to two
  remainders,   // real numbers, two to two
  count_
};

/// The dtypes that one computation of a ufunc takes and gives; what is beyond its operands says nothing.
struct Loop {
  std::array<DType, 2> in, out;
};

/// Dtypes, and Python's three kinds of numbers without one.
inline constexpr size_t kOperandKinds = kDTypeCount + 3;

class LoopTable {
 public:
  static const LoopTable& of(LoopClass loops);

  int inputs = 0, outputs = 0;
  /// In NumPy's order, without the loops of dtypes that Gasell has not, and each once.
  std::vector<Loop> loops;
  /// "dd->d"
  std::string signature(const Loop& loop) const;

  /// The loop for operands. Null: there is none.
  const Loop* find(std::span<const Operand> operands) const;
  /// The same where dtype= names what it gives: one that operands can be cast to safely or, without looking at them, the one of that dtype
  /// alone. Whether casting= allows it is asked by the call.
  const Loop* find(std::span<const Operand> operands, DType dtype) const;
  /// A reduction's, which takes what it gives first and elements second.
  const Loop* find_reduction(DType given, DType elements) const;

 private:
  explicit LoopTable(LoopClass loops);
  const Loop* search(std::span<const Operand> operands) const;
  const Loop* matching(std::span<const Operand> operands, std::optional<DType> dtype) const;
  const Loop* uniform(DType dtype) const;
  LoopClass class_;
  /// What search() found for two kinds of operands (0: nobody has asked), since operators in loops ask again and again.
  mutable std::array<std::atomic<uint8_t>, kOperandKinds * kOperandKinds> known_{};
};

/// The loop of a ufunc for operands, under dtype=. TypeError or UFuncTypeError in NumPy's words where it has none.
const Loop& resolve(std::string_view name, LoopClass loops, std::span<const Operand> operands, std::optional<DType> dtype = {});

/// The loop of ufunc.reduce(), .accumulate() and .reduceat() of elements of a dtype, under dtype= and out=. The first operand and the
/// result are of one dtype.
const Loop& resolve_reduction(std::string_view name, LoopClass loops, DType elements, std::optional<DType> dtype, std::optional<DType> out);

}  // namespace gasell::numpy
