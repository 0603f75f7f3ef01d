#include "runtime/device/device.h"

#include "compiler/codegen/jit.h"
#include "runtime/device/host_device.h"

namespace gasell {

std::unique_ptr<Device> make_host_device(int threads, int64_t memory, Jit& jit, const std::atomic<bool>& interrupt) {
  return make_host_device(threads, memory, [&jit](const ir::Kernel& kernel) { return jit.compile(kernel); }, interrupt);
}

}  // namespace gasell
