#include "tools/gasell/doctor.h"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compiler/codegen/jit.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "runtime/gpu/cuda/cublas.h"
#include "runtime/gpu/cuda/cufft.h"
#include "runtime/gpu/cuda/cusolver.h"
#include "runtime/gpu/cuda/describe.h"
#include "runtime/io/arrow/plugin.h"
#include "runtime/io/hdf5/plugin.h"
#include "runtime/io/remote/http.h"
#include "runtime/linalg/openblas.h"
#include "runtime/pictures/plugin.h"
#include "runtime/transforms/routines.h"
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

/// What is said about the GPUs: a heading and its text a line.
std::vector<std::pair<std::string, std::string>> describe_gpus() {
  const cuda::LoadedDriver& loaded = cuda::process_driver();
  const cuda::DriverStatus& status = loaded.status;
  if (!status.ready()) return {{"GPU driver", fmt::format("{}: {}; all work runs on the host's cores", status.problem, status.remedy)}};
  const std::string release = cuda::driver_release();
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("GPU driver", fmt::format("CUDA {}{} ({})", cuda::version_text(status.version),
                                               release.empty() ? "" : ", release " + release, status.library));
  const std::vector<cuda::GpuDescription> gpus = cuda::describe_gpus(loaded);
  for (const cuda::GpuDescription& gpu : gpus) {
    const GpuProperties& properties = gpu.properties;
    const std::string heading = fmt::format("gpu:{}", properties.ordinal);
    if (!gpu.problem.empty()) {
      lines.emplace_back(heading, gpu.problem);
      continue;
    }
    std::string text =
        fmt::format("{}, sm_{}, {} multiprocessors, {} of {} free", properties.name, properties.capability, properties.multiprocessors,
                    human_bytes(static_cast<double>(gpu.free_memory)), human_bytes(static_cast<double>(properties.memory)));
    if (properties.bandwidth > 0) text += fmt::format(", {:.2f} TB/s", properties.bandwidth / 1e12);
    std::string links;
    for (const cuda::PeerLink& link : gpu.links)
      links += fmt::format("{}gpu:{} {}", links.empty() ? "" : ", ", link.ordinal,
                           link.atomics ? "by NVLink"
                           : link.reach ? "by PCIe"
                                        : "through the host");
    if (!links.empty()) text += "; reaches " + links;
    lines.emplace_back(heading, text);
  }
  const auto library = [&](const char* what, GpuLibrary which, const cuda::LibraryKind& kind, const cuda::LibraryStatus& found,
                           const char* instead) {
    if (!found.ready()) {
      lines.emplace_back(what, fmt::format("{}: {}{}{}", instead, found.problem, found.remedy.empty() ? "" : "; ", found.remedy));
      return;
    }
    for (const cuda::GpuDescription& gpu : gpus)
      if (const int status = gpu.library_status[static_cast<size_t>(which)]) {
        lines.emplace_back(what, fmt::format("{}: {} ({}) does not start on gpu:{}: its status is {}", instead, kind.name, found.library,
                                             gpu.properties.ordinal, status));
        return;
      }
    lines.emplace_back(what, fmt::format("{} ({})", kind.name, found.library));
  };
  constexpr const char* kOwn = "kernels of Gasell's own";
  library("GPU products", GpuLibrary::products, cuda::kCublas, cuda::process_cublas(), kOwn);
  library("GPU transforms", GpuLibrary::transforms, cuda::kCufft, cuda::process_cufft(), kOwn);
  library("GPU matrices", GpuLibrary::decompositions, cuda::kCusolver, cuda::process_cusolver(), "decompositions are the host's");
  return lines;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_devices(Engine& engine) {
  const std::string model = proc_entry("/proc/cpuinfo", "model name");
  std::vector<std::pair<std::string, std::string>> lines{
      {"processor", fmt::format("{} ({}), {} cores, {} used", model.empty() ? "unknown" : model, engine.jit().describe().cpu,
                                std::thread::hardware_concurrency(), engine.device().properties().threads)}};
  for (auto& line : describe_gpus()) lines.push_back(std::move(line));
  return lines;
}

int run_doctor(const Options& options) {
  return guarded(options, [&] {
    Engine engine(options.engine);
    const Jit::Description jit = engine.jit().describe();
    const DeviceProperties& device = engine.device().properties();
    std::string out;
    const auto line = [&](const char* what, const std::string& text) { out += fmt::format("{:<15}{}\n", what, text); };
    const auto devices = describe_devices(engine);
    line("Gasell", kVersion);
    line(devices[0].first.c_str(), devices[0].second);
    line("memory", fmt::format("{} of {} free; arrays may take {}", human_bytes(proc_bytes("MemAvailable")),
                               human_bytes(proc_bytes("MemTotal")), human_bytes(static_cast<double>(device.memory))));
    line("compiler", fmt::format("LLVM {} for {}", jit.llvm_version, jit.triple));
    const linalg::OpenBlas* library = linalg::OpenBlas::find();
    line("linear algebra", library ? library->description() : "none: libopenblas64.so.0 is missing; @ works in loops, np.linalg does not");
    line("transforms", transforms::description().empty() ? "none: built without ducc, which scripts/setup.sh fetches; np.fft does not work"
                                                         : transforms::description());
    line("Parquet files", arrow::describe_plugin());
    line("HDF5 files", hdf5::describe_plugin());
    line("pictures", pictures::describe_plugin());
    line("web addresses", remote::describe_web());
    for (size_t k = 1; k < devices.size(); ++k) line(devices[k].first.c_str(), devices[k].second);
    line("kernel cache", options.engine.cache ? fmt::format("{}: {} kernels, {}", jit.cache_directory, jit.cache_entries,
                                                            human_bytes(static_cast<double>(jit.cache_bytes)))
                                              : "off (GASELL_CACHE=0 or --no-cache)");
    write_stdout(out);
  });
}

}  // namespace gasell::cli
