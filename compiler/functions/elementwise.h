// Functions of corresponding elements, by their operation of the loop IR.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "compiler/functions/lowering.h"

namespace gasell::functions {

/// How an elementwise function treats the dtypes of its operands.
enum class Rule : uint8_t {
  floating,  // integers become floats; floats and complex stay
  same,      // computed in the common dtype
  whole,     // math.floor: the result is i64
  logical,   // of truth values
  test,      // isnan: boolean of a number
};

struct Elementwise {
  ScalarOp op;
  Rule rule;
};

/// The dtype that NumPy's functions compute in, as Numba chooses it: the first of `loops` (in NumPy's order: bool, i8, u8, … f32, f64, c64,
/// c128) to which every operand casts without loss; integers beside floats cast to floats of any width. nullopt: there is none.
std::optional<DType> first_loop(std::span<const DType> operands, const std::function<bool(DType)>& is_loop);
/// Loops of all numbers, and of floats and complex numbers alone.
inline bool is_number_loop(DType d) { return d != DType::boolean; }
inline bool is_float_loop(DType d) { return is_float(d) || is_complex(d); }

/// `e` of a call's operands; `arrays`: whether it takes arrays, and an array for its result as the last argument.
Value apply_elementwise(Lowering& lowering, const CallSite& site, const Elementwise& e, bool arrays);

/// TypingError where results of a dtype are not written into arrays of another: only those of a kind that holds theirs.
void need_same_kind(Lowering& lowering, DType result, DType out, Span at);

/// How many digits behind the point (i64) numbers are rounded to: 10 ** digits may be too large where what comes out is not, so it is two
/// factors.
struct Decimals {
  ExprRef behind_point, first, second;
};
Decimals decimals_of(Lowering& lowering, const ExprRef& digits);
/// A number rounded to them, half to even, as an f64.
ExprRef round_to(Lowering& lowering, const ExprRef& number, const Decimals& decimals);

}  // namespace gasell::functions
