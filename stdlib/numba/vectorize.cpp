// vectorize and guvectorize.
#include "stdlib/numba/module.h"

namespace gasell::numba {

std::vector<NativeFunction> vectorize_functions() { return {}; }

}  // namespace gasell::numba
