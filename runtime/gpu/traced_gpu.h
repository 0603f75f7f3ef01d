// A GPU whose kernels and copies are traced.
#pragma once

#include <memory>

#include "runtime/device/trace.h"
#include "runtime/gpu/gpu.h"

namespace gasell {

std::unique_ptr<Gpu> traced(std::unique_ptr<Gpu> gpu, std::shared_ptr<Trace> trace);

}  // namespace gasell
