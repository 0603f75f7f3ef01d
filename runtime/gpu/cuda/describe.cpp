#include "runtime/gpu/cuda/describe.h"

#include <fmt/format.h>

#include <cctype>
#include <fstream>

#include "lang/diagnostic.h"
#include "runtime/gpu/cuda/context.h"
#include "runtime/gpu/cuda/cublas.h"
#include "runtime/gpu/cuda/cufft.h"
#include "runtime/gpu/cuda/cusolver.h"

namespace gasell::cuda {

GpuProperties properties_of(const Driver& driver, int ordinal) {
  GpuProperties properties;
  properties.ordinal = ordinal;
  DeviceOrdinal device = 0;
  if (driver.device_get(&device, ordinal) != Result::success) return properties;
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    return driver.device_get_attribute(&value, which, device) == Result::success ? value : 0;
  };
  char name[256] = "";
  if (driver.device_get_name(name, sizeof name, device) == Result::success) properties.name = name;
  properties.capability = attribute(DeviceAttribute::capability_major) * 10 + attribute(DeviceAttribute::capability_minor);
  properties.multiprocessors = attribute(DeviceAttribute::multiprocessors);
  properties.most_shared = attribute(DeviceAttribute::max_shared_per_block_opt_in);
  size_t bytes = 0;
  if (driver.device_total_mem(&bytes, device) == Result::success) properties.memory = static_cast<int64_t>(bytes);
  // Two transfers a clock, over so many wires.
  properties.bandwidth = 2.0 * 1000 * attribute(DeviceAttribute::memory_clock_khz) * attribute(DeviceAttribute::memory_bus_bits) / 8;
  return properties;
}

namespace {

/// Makes a handle (a plan of cuFFT) in the current context and drops it again.
template <class Handle, class Entries>
int status_of_start(const LoadedLibrary<Entries>& library) {
  if (!library.ready()) return 0;
  Handle handle{};
  const auto status = library.entries.create(&handle);
  if (status == Entries::Status::success) library.entries.destroy(handle);
  return static_cast<int>(status);
}

}  // namespace

std::vector<GpuDescription> describe_gpus(const LoadedDriver& loaded) {
  const Driver& driver = loaded.entries;
  std::vector<GpuDescription> all;
  for (int ordinal = 0; ordinal < loaded.status.devices; ++ordinal) {
    GpuDescription gpu;
    gpu.properties = properties_of(driver, ordinal);
    try {
      GpuContext context(driver, ordinal);
      const Current current(context);
      size_t free = 0, total = 0;
      context.check(driver.mem_get_info(&free, &total), "asking for its free memory");
      gpu.free_memory = static_cast<int64_t>(free);
      gpu.library_status = {status_of_start<Cublas::Handle>(process_cublas()), status_of_start<Cufft::Plan>(process_cufft()),
                            status_of_start<Cusolver::Handle>(process_cusolver())};
    } catch (const Error& error) {
      const Diagnostic& said = error.diagnostic();
      gpu.problem = said.hint.empty() ? said.message : fmt::format("{}: {}", said.message, said.hint);
    } catch (const GpuLost& lost) {
      gpu.problem = lost.what();
    }
    DeviceOrdinal device = 0;
    driver.device_get(&device, ordinal);
    for (int other = 0; other < loaded.status.devices; ++other) {
      DeviceOrdinal peer = 0;
      if (other == ordinal || driver.device_get(&peer, other) != Result::success) continue;
      PeerLink link{other};
      int value = 0;
      link.reach = driver.device_can_access_peer(&value, device, peer) == Result::success && value;
      link.atomics = driver.device_get_p2p_attribute(&value, PeerAttribute::native_atomics, device, peer) == Result::success && value;
      gpu.links.push_back(link);
    }
    all.push_back(std::move(gpu));
  }
  return all;
}

std::string driver_release() {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …": the first word that begins with a digit and has a point.
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;)
    if (std::isdigit(static_cast<unsigned char>(word[0])) && word.find('.') != std::string::npos) return word;
  return {};
}

}  // namespace gasell::cuda
