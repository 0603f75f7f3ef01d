// np.add and its like as values: callable, with the methods reduce, accumulate, outer, at and reduceat (stdlib/numpy/ufunc/).
#pragma once

#include "runtime/session/objects.h"

namespace gasell::numpy {

const Type& ufunc_type();
/// Of the table in ufunc.cpp; `function` lives as long as the process.
Value make_ufunc(const NativeFunction& function);
/// Of a function of the library with so many operands.
Value make_library_ufunc(std::string name, Value function, int inputs, int outputs, Value identity);

}  // namespace gasell::numpy
