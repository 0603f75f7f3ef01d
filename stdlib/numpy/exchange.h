// What other libraries read of an array's memory: __array_interface__, __cuda_array_interface__, and DLPack's capsules.
#pragma once

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// The array protocol, version 3, of an array or a scalar of NumPy. From then on the array stays in its memory.
Value array_interface(Interpreter& in, const Value& self);
/// Its counterpart for GPUs, of the GPU that kernels of threads go to: the elements are brought there. AttributeError where the host
/// computes.
Value cuda_array_interface(Interpreter& in, const Value& self);
/// x.tobytes(order): the elements' memory as bytes, of an array or a scalar of NumPy.
Value to_bytes(Interpreter& in, std::span<Value> args);
std::vector<NativeFunction> exchange_methods();
/// np.from_dlpack and np.frombuffer.
std::vector<NativeFunction> exchange_functions();
/// cupy.fromDlpack(capsule): the array that made the capsule. ValueError for one that was taken before.
Value from_capsule(Interpreter& in, std::span<Value> args);

}  // namespace gasell::numpy
