// Sorting for compiled functions, which call it by name (codegen/externals.h).
#include <algorithm>
#include <numeric>

#include "compiler/codegen/externals.h"
#include "stdlib/numba/module.h"
#include "stdlib/numpy/host.h"

namespace gasell::numba {
namespace {

extern "C" {

/// Sorts `count` elements in NumPy's order.
void gasell_sort(int64_t dtype, void* elements, int64_t count) {
  numpy::with_type(static_cast<DType>(dtype), [&]<class T>(std::type_identity<T>) {
    T* const first = static_cast<T*>(elements);
    std::sort(first, first + count, numpy::ordered_before<T>);
  });
}

/// The order that sorts `count` elements; equal ones stay as they stand.
void gasell_argsort(int64_t dtype, const void* elements, int64_t count, int64_t* order) {
  numpy::with_type(static_cast<DType>(dtype), [&]<class T>(std::type_identity<T>) {
    const T* const values = static_cast<const T*>(elements);
    std::iota(order, order + count, int64_t{0});
    std::stable_sort(order, order + count, [values](int64_t a, int64_t b) { return numpy::ordered_before(values[a], values[b]); });
  });
}

}  // extern "C"

}  // namespace

void register_sorting() {
  register_external("gasell_sort", reinterpret_cast<void*>(&gasell_sort));
  register_external("gasell_argsort", reinterpret_cast<void*>(&gasell_argsort));
}

}  // namespace gasell::numba
