// a.flags, a.base: whose memory an array is, and how it lies.
#pragma once

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// An object whose attributes and items say how the memory lies; `writeable` can be set.
Value array_flags(Interpreter& in, const Value& array);
/// The array whose memory this view shows; None for an array of its own.
Value array_base(Interpreter& in, const Value& array);
/// a.setflags(): None leaves a flag as it is. ValueError where a view of read-only memory shall be written.
void set_writable(const Value& array, bool writable);

}  // namespace gasell::numpy
