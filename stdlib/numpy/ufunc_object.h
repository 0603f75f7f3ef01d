// np.add and its like as values: callable, with the methods reduce, accumulate, outer, at and reduceat (stdlib/numpy/ufunc/).
#pragma once

#include "runtime/session/objects.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {

const Type& ufunc_type();
/// Of the table in ufunc.cpp; `function` lives as long as the process.
Value make_ufunc(const NativeFunction& function);
/// The line of the table that a value stands for. Null: it is none of np's ufuncs (Numba's have the same methods).
const Ufunc* ufunc_of(const Value& v);

}  // namespace gasell::numpy
