// Element-wise functions: one table, one line a function.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stdlib/numpy/ufunc_compositions.h"
#include "stdlib/numpy/ufunc_loops.h"

namespace gasell::numpy {

struct Ufunc {
  const char* name;  // np.NAME
  LoopClass loops;
  ScalarOp op;  // count_: the composition says it
  Composition composition = nullptr;

  const LoopTable& table() const { return LoopTable::of(loops); }
};
const std::vector<Ufunc>& ufuncs();
const Ufunc* find_ufunc(std::string_view name);

/// Applies one of one result that computes nothing at once, with NumPy 2's promotion. TypeError where it is not defined for the operands.
NodeRef apply(const Ufunc& ufunc, std::span<const Operand> operands);
NodeRef apply(std::string_view name, std::span<const Operand> operands);

/// All results of one, of operands that a loop was found for.
void apply(Interpreter& in, const Ufunc& ufunc, const Loop& loop, std::span<const Operand> operands, std::span<NodeRef> results);

/// The same of the operands of an operator or a method, which are what a script has; what two results make is a tuple.
Value operate(Interpreter& in, const Ufunc& ufunc, std::span<const Value> given);

/// Whether an integer dtype, or bool, holds the value.
bool fits(int64_t value, DType dtype);

/// The dtype of several operands together (np.result_type).
DType common_type(std::span<const Operand> operands);

/// ValueError where integers would be raised to negative integers: looks at the exponents now, for the error belongs to this operation.
void check_integer_power(Interpreter& in, std::span<const Operand> operands);

/// casting=: what an implicit cast may lose.
enum class Casting : uint8_t { no, equiv, safe, same_kind, unsafe };
/// ValueError for what is no such name.
Casting casting_of(Interpreter& in, const Value& name);
bool can_cast(DType from, DType to, Casting casting);

/// UFuncTypeError where the rule does not let an output of one dtype be written to another.
void check_output_cast(std::string_view name, DType from, DType to, Casting casting);
/// `result` as the script sees it, or `out` with the result written into it: an array, or a tuple of one. TypeError where out is no array
/// or the casting rule forbids the cast (reductions: none is), ValueError where out is read-only or has another shape. `name` is a ufunc's.
Value give(Interpreter& in, std::string_view name, const NodeRef& result, const Value& out, Casting casting = Casting::same_kind);
/// The same of a reduction, whose out must have the shape of the result.
Value give_reduced(Interpreter& in, std::string_view name, const NodeRef& result, const Value& out, Casting casting = Casting::same_kind);

/// np's functions of that table, and the methods and operators that go to it.
std::vector<NativeFunction> ufunc_functions();

}  // namespace gasell::numpy
