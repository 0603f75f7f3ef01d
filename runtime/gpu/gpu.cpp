#include "runtime/gpu/gpu.h"

#include <algorithm>
#include <chrono>

#include "lang/diagnostic.h"

namespace gasell {
namespace {

constexpr int64_t kBounceBytes = 32 << 20;

}  // namespace

void Gpu::copy_from_peer(GpuAddress to, Gpu& peer, GpuAddress from, int64_t bytes, GpuStream stream, bool) {
  std::shared_ptr<void> bounce = peer.pinned(std::min(bytes, kBounceBytes));
  if (!bounce) bounce = std::make_shared<char[]>(static_cast<size_t>(std::min(bytes, kBounceBytes)));
  peer.wait(GpuStream::copy_out, GpuStream::compute);
  peer.wait(GpuStream::copy_out, GpuStream::copy_in);
  for (int64_t done = 0; done < bytes; done += kBounceBytes) {
    const int64_t part = std::min(bytes - done, kBounceBytes);
    peer.copy_out(bounce.get(), from + static_cast<GpuAddress>(done), part, GpuStream::copy_out);
    peer.synchronize(GpuStream::copy_out);
    copy_in(to + static_cast<GpuAddress>(done), bounce.get(), part, stream);
    synchronize(stream);  // the bounce buffer is used again
  }
}

namespace {

[[noreturn]] void runs_no_code(const GpuProperties& properties) {
  throw Error("NotImplementedError", "a kernel in CUDA C++ needs an NVIDIA GPU, and this is a " + properties.name,
              "--device gpu where there is one; cp.ElementwiseKernel, cp.ReductionKernel and @cuda.jit run anywhere", Blame::environment);
}

}  // namespace

LoadedModuleRef Gpu::load_module(const std::string&) { runs_no_code(properties()); }
LoadedKernelRef Gpu::module_kernel(const LoadedModuleRef&, const std::string&) { runs_no_code(properties()); }
std::optional<ModuleGlobal> Gpu::module_global(const LoadedModuleRef&, const std::string&) { runs_no_code(properties()); }
int Gpu::kernel_attribute(const LoadedKernel&, KernelAttribute) { runs_no_code(properties()); }
bool Gpu::set_kernel_attribute(const LoadedKernel&, KernelAttribute, int) { runs_no_code(properties()); }
void Gpu::launch_code(const LoadedKernel&, std::span<void* const>, const GridShape&) { runs_no_code(properties()); }
bool Gpu::multiply(const GpuProduct&) { return false; }
bool Gpu::transform(const GpuTransform&, const GpuWorkSpace&) { return false; }
bool Gpu::decompose(const GpuDecomposition&, const GpuWorkSpace&) { return false; }

int64_t Gpu::mark(GpuStream stream) {
  synchronize(stream);
  const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  const std::lock_guard lock(marks_mutex_);
  marks_.emplace(++next_mark_, now);
  return next_mark_;
}

double Gpu::time_of(int64_t mark) {
  const std::lock_guard lock(marks_mutex_);
  const double time = marks_.at(mark);
  marks_.erase(mark);
  return time;
}

}  // namespace gasell
