#include "runtime/device/device.h"

#include "compiler/codegen/jit.h"
#include "lang/diagnostic.h"
#include "runtime/device/host_device.h"

namespace gasell {

void Device::share(int64_t, const std::function<void(int64_t, int64_t)>&, const std::function<bool()>&) {
  throw Error("SystemError", "this device does not run host functions", "", Blame::internal);
}

void Device::share_pieces(int64_t, const std::function<void(int64_t)>&) {
  throw Error("SystemError", "this device does not run host functions", "", Blame::internal);
}

std::unique_ptr<Device> make_host_device(int threads, int64_t memory, Jit& jit, const std::atomic<bool>& interrupt) {
  return make_host_device(threads, memory, [&jit](const ir::Kernel& kernel) { return jit.compile(kernel); }, interrupt);
}

}  // namespace gasell
