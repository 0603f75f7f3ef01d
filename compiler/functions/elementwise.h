// Functions of corresponding elements, by their operation of the loop IR.
#pragma once

#include "compiler/functions/lowering.h"

namespace gasell::functions {

/// How an elementwise function treats the dtypes of its operands.
enum class Rule : uint8_t {
  floating,  // integers become f64 (small ones f64 too, as Numba has it); floats and complex stay
  same,      // computed in the common dtype
  whole,     // math.floor: the result is i64
  logical,   // of truth values
  test,      // isnan: boolean of a number
};

struct Elementwise {
  ScalarOp op;
  Rule rule;
};

/// `e` of a call's operands; `arrays`: whether it takes arrays, and an array for its result as the last argument.
Value apply_elementwise(Lowering& lowering, const CallSite& site, const Elementwise& e, bool arrays);

}  // namespace gasell::functions
