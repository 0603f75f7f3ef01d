// The host device over any source of compiled kernels; device.h's make_host_device gives it the Jit.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "compiler/codegen/jit.h"
#include "runtime/device/device.h"

namespace gasell {

using KernelCompiler = std::function<HostKernel(const ir::Kernel& kernel)>;
std::unique_ptr<Device> make_host_device(int threads, int64_t memory, KernelCompiler compile, const std::atomic<bool>& interrupt);

}  // namespace gasell
