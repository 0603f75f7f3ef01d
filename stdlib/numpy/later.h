// Long vectors that are made when somebody reads them, since who reads a few of their elements may get these alone: np.sort(x)[:10].
#pragma once

#include <functional>

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// Whether what is made of `a` may wait: of a long vector, unless that hangs on another one that waits (no chain of them grows), or
/// operations are not to be fused.
bool may_wait(Interpreter& in, const Array& a);

/// A vector as long as `a`, of elements of type `dtype`. `make` gives all of it for the elements that `a` has now; `part` writes those from
/// `begin` to `end` to memory, which are a small share, or says that it cannot. After a few parts all are made.
Value made_later(Interpreter& in, const Array& a, DType dtype, std::function<Value(const Array& a)> make,
                 std::function<bool(const NodeRef& a, int64_t begin, int64_t end, void* to)> part);

}  // namespace gasell::numpy
