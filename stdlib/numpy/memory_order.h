// Memory orders of new arrays: NumPy's order= and what results of elementwise functions take over from their operands.
#pragma once

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

using AxisOrder = Array::AxisOrder;

/// The order of the result of an elementwise function of these values (arrays and others), broadcast to a shape of `rank` axes, as NumPy's
/// iterator finds it: along the axes of the operands' memory, where they agree. Empty: C order, as of most.
AxisOrder kept_order(std::span<const Value> operands, int rank);
/// Of one array: order='K'.
AxisOrder kept_order(const Array& a);

/// Fortran order. Empty for arrays of one axis, which have one order alone.
AxisOrder reversed_axes(int rank);
/// Whether an operand lets order='A' be Fortran's: numbers, and arrays that lie in it.
bool lies_in_fortran_order(const Value& v);

/// The letter of an argument order=, upper case; `otherwise` for None. ValueError for others, TypeError for no text.
char order_letter(Interpreter& in, const Value& order, char otherwise);
/// An argument order=: 'C', 'F', and beside an array 'A' (Fortran order where that is the array's) and 'K' (the array's); None stands for
/// `otherwise`. Empty: C order. ValueError for others.
AxisOrder to_axis_order(Interpreter& in, const Value& order, int rank, const Array* like = nullptr, char otherwise = 'C');

/// A new array with this value and memory in this order.
Array ordered(NodeRef node, AxisOrder order);
/// The same as a value; 0-d results are NumPy scalars.
Value wrap_ordered(NodeRef node, AxisOrder order);
/// The result of an elementwise function of these values.
Value wrap_kept(NodeRef node, std::span<const Value> operands);

/// Whether elements lie behind each other in C order, and in Fortran's.
bool is_contiguous(const Array& a, bool fortran);

}  // namespace gasell::numpy
