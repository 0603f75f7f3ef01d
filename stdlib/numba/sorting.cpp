// Sorting for compiled functions, which call it by name (codegen/externals.h).
#include "compiler/codegen/externals.h"
#include "runtime/primitives/sort.h"
#include "stdlib/numba/module.h"

namespace gasell::numba {
namespace {

extern "C" {

/// Sorts `count` elements in NumPy's order.
void gasell_sort(int64_t dtype, void* elements, int64_t count) { sort_alone(static_cast<DType>(dtype), elements, count); }

/// The order that sorts `count` elements; equal ones stay as they stand.
void gasell_argsort(int64_t dtype, const void* elements, int64_t count, int64_t* order) {
  argsort_alone(static_cast<DType>(dtype), elements, order, count);
}

}  // extern "C"

}  // namespace

void register_sorting() {
  register_external("gasell_sort", reinterpret_cast<void*>(&gasell_sort));
  register_external("gasell_argsort", reinterpret_cast<void*>(&gasell_argsort));
}

}  // namespace gasell::numba
