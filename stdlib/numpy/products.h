// Products of vectors, matrices and stacks of them, as sums of products over a broadcast last axis: they fuse with their operands.
#pragma once

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// a @ b: vectors, matrices, stacks of matrices whose leading axes broadcast. ValueError in NumPy's words.
NodeRef matmul(const Operand& a, const Operand& b);
/// The same of two arrays that no library multiplies well, computed at once by the library's own kernels for GPUs where these are in use:
/// stacks of many small matrices, integers, and others where cuBLAS is not found. Nothing of others.
std::optional<Value> gpu_product(Interpreter& in, const Value& a, const Value& b);
/// Whether GPUs are in use that multiply matrices of this type by the tiles of the library's texts alone.
bool multiplied_by_tiles(Interpreter& in, DType dtype);
/// np.dot: the last axis of a with the last but one (or only) of b; a plain product where one is 0-d.
NodeRef dot(const Operand& a, const Operand& b);

}  // namespace gasell::numpy
