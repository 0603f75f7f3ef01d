// The kernels of cuda_check, as PTX for any GPU since sm_75 and, to try the program itself over the fake driver, as host code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/codegen/gpu.h"
#include "compiler/ir/ir.h"

namespace gasell::check {

inline constexpr int64_t kUnit = 4096;  // elements a unit

/// r[i] = a[i] + b[i]; arrays a, b, r of f64, scalar n.
ir::Kernel add_kernel();
/// r[i] = fma(a[i], s, b[i]); the same, and scalar s (f64).
ir::Kernel fma_kernel();
/// Each unit takes a millisecond, and then adds one to the element of its own in r (i64).
ir::Kernel spin_kernel();
/// Writes where no memory is.
ir::Kernel fault_kernel();

std::optional<GpuCode> kernel_ptx(const ir::Kernel& kernel, int capability);

/// Where the driver is the fake one: gives it the kernels. Whether it is.
bool define_on_fake_driver(const char* library);

}  // namespace gasell::check
