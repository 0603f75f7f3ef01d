#include "tools/gasell/doctor.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "compiler/codegen/jit.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/terminal.h"
#include "tools/version.h"

namespace gasell::cli {

namespace {

/// The value of the first line "key : value" of a file of /proc, or "".
std::string proc_entry(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!std::string_view(line).starts_with(key)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

double proc_bytes(const char* key) {
  const std::string text = proc_entry("/proc/meminfo", key);  // "24609348 kB"
  return text.empty() ? 0 : std::stod(text) * 1024;
}

/// The GPU driver, as far as it can be seen without using it. CUDA's ABI: cuInit(0), cuDriverGetVersion(&v), cuDeviceGetCount(&n) return 0
/// on success.
std::string describe_driver() {
  const std::unique_ptr<void, int (*)(void*)> library(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL),
                                                      [](void* p) { return p ? dlclose(p) : 0; });
  if (!library) return "not found (libcuda.so.1); all work runs on the host's cores";
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(library.get(), "cuInit"));
  const auto driver_version = reinterpret_cast<int (*)(int*)>(dlsym(library.get(), "cuDriverGetVersion"));
  const auto device_count = reinterpret_cast<int (*)(int*)>(dlsym(library.get(), "cuDeviceGetCount"));
  int version = 0, count = 0;
  if (!initialise || !driver_version || !device_count || initialise(0) != 0 || driver_version(&version) != 0 || device_count(&count) != 0)
    return "libcuda.so.1 is there but does not start; all work runs on the host's cores";
  return fmt::format("CUDA {}.{}, {} device{}; this version of Gasell uses the host's cores only", version / 1000, version % 1000 / 10,
                     count, count == 1 ? "" : "s");
}

}  // namespace

int run_doctor(const Options& options) {
  return guarded(options, [&] {
    Engine engine(options.engine);
    const Jit::Description jit = engine.jit().describe();
    const DeviceProperties& device = engine.device().properties();
    std::string out;
    const auto line = [&](const char* what, const std::string& text) { out += fmt::format("{:<14}{}\n", what, text); };
    const std::string model = proc_entry("/proc/cpuinfo", "model name");
    line("Gasell", kVersion);
    line("processor", fmt::format("{} ({}), {} cores, {} used", model.empty() ? "unknown" : model, jit.cpu,
                                  std::thread::hardware_concurrency(), device.threads));
    line("memory", fmt::format("{} of {} free; arrays may take {}", human_bytes(proc_bytes("MemAvailable")),
                               human_bytes(proc_bytes("MemTotal")), human_bytes(static_cast<double>(device.memory))));
    line("compiler", fmt::format("LLVM {} for {}", jit.llvm_version, jit.triple));
    line("vector math", jit.vector_math);
    line("GPU driver", describe_driver());
    line("kernel cache", options.engine.cache ? fmt::format("{}: {} kernels, {}", jit.cache_directory, jit.cache_entries,
                                                            human_bytes(static_cast<double>(jit.cache_bytes)))
                                              : "off (GASELL_CACHE=0 or --no-cache)");
    write_stdout(out);
  });
}

}  // namespace gasell::cli
