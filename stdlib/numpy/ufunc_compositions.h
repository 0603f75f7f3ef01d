// What ufuncs compute that no single ScalarOp says. Operands have the dtypes of a loop, results those it gives.
#pragma once

#include <span>

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// Fills in one result or two. `in` is the session of those that compute at once (gcd, lcm, frexp, ldexp); graphs need none.
using Composition = void (*)(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);

namespace compositions {
void positive(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void square(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void reciprocal(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void degrees(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void radians(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void heaviside(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void logaddexp(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void logaddexp2(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void spacing(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
/// The neighbour of x in float16 towards y, both held by float32.
NodeRef half_neighbour(const NodeRef& x, const NodeRef& y);
/// The distance of x to the next greater float16, both held by float32.
NodeRef half_spacing(const NodeRef& x);
void bitwise_count(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void modf(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void divmod(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
// In host_elements.cpp.
void gcd(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void lcm(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void frexp(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
void ldexp(Interpreter* in, std::span<const NodeRef> operands, std::span<NodeRef> results);
}  // namespace compositions

/// An operation on complex numbers that the scalar operation itself does not have. Null: it has it.
NodeRef complex_operation(ScalarOp op, std::span<const NodeRef> operands);

}  // namespace gasell::numpy
