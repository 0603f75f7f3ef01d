// Sorting for compiled functions, which call it by name (codegen/externals.h).
#include <new>

#include "compiler/codegen/externals.h"
#include "lang/diagnostic.h"
#include "runtime/functions/context.h"
#include "runtime/primitives/scratch.h"
#include "runtime/primitives/sort.h"
#include "stdlib/numba/module.h"

namespace gasell::numba {
namespace {

using functions::FunctionContext;

/// More elements are sorted on all cores, which interrupts are looked for at.
constexpr int64_t kLong = 1 << 20;

/// What `work` gives: 0, or 1 where it has no room. Compiled code knows no exceptions: it looks for an interrupt itself.
template <class Work>
int64_t guarded(const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (const Interrupted&) {
    return 0;
  } catch (const Error&) {
    return 1;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}

extern "C" {

/// Sorts `count` elements in NumPy's order.
int64_t gasell_sort(FunctionContext* context, int64_t dtype, void* elements, int64_t count) {
  const auto type = static_cast<DType>(dtype);
  return guarded([&] {
    if (count <= kLong) return sort_alone(type, elements, count);
    Engine& engine = context->engine();
    const Scratch<char> copy(engine, count * size_of(type));
    copy_elements<char>(engine, static_cast<const char*>(elements), copy.size(), copy.data());
    sort(engine, type, copy.data(), elements, count);
  });
}

/// The order that sorts `count` elements; equal ones stay as they stand.
int64_t gasell_argsort(FunctionContext* context, int64_t dtype, const void* elements, int64_t count, int64_t* order) {
  const auto type = static_cast<DType>(dtype);
  return guarded([&] {
    if (count <= kLong) return argsort_alone(type, elements, order, count);
    argsort(context->engine(), type, elements, order, count);
  });
}

}  // extern "C"

}  // namespace

void register_sorting() {
  register_external("gasell_sort", reinterpret_cast<void*>(&gasell_sort));
  register_external("gasell_argsort", reinterpret_cast<void*>(&gasell_argsort));
}

}  // namespace gasell::numba
