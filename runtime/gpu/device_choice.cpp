#include "runtime/gpu/device_choice.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <future>
#include <optional>
#include <set>

#include "compiler/codegen/gpu.h"
#include "compiler/codegen/jit.h"
#include "compiler/codegen/kernel_cache.h"
#include "lang/diagnostic.h"
#include "runtime/device/parse_bytes.h"
#include "runtime/gpu/cuda/cuda_gpu.h"
#include "runtime/gpu/ptx_files.h"
#include "runtime/gpu/simulated_gpu.h"

namespace gasell {
namespace {

constexpr int kMostSimulated = 64;
constexpr int64_t kCacheBytes = 256 << 20;

int number_in(std::string_view digits, const Error& otherwise) {
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0) throw otherwise;
  return number;
}

std::vector<std::unique_ptr<Gpu>> simulated_gpus(const std::vector<int>& ordinals, const GpuCacheOptions& cache) {
  const SimulationOptions options = SimulationOptions::from_environment();
  const auto jit = std::make_shared<Jit>(JitOptions{.disk_cache = cache.disk_cache,
                                                    .cache_directory = cache.directory,
                                                    .check_bounds = true,
                                                    .check_races = options.check_races,
                                                    .check_thread_races = options.check_races});
  // The kernel as a GPU runs it, mapped to a grid; or nothing.
  const KernelCompiler compile = with_ptx_files([jit](const ir::Kernel& kernel) {
    if (kernel.simt) return jit->compile(kernel);
    const std::optional<ir::Kernel> mapped = map_for_gpu(kernel);
    return mapped ? jit->compile(*mapped) : HostKernel{};
  });
  std::vector<std::unique_ptr<Gpu>> gpus;
  for (const int ordinal : ordinals) gpus.push_back(make_simulated_gpu(ordinal, compile, options));
  return gpus;
}

/// What GASELL_GPU_MEMORY says; 0: all.
int64_t memory_limit() {
  const char* text = std::getenv("GASELL_GPU_MEMORY");
  if (!text || !*text) return 0;
  try {
    return parse_bytes(text);
  } catch (const Error& e) {
    throw Error("ValueError", "GASELL_GPU_MEMORY: " + e.diagnostic().message, e.diagnostic().hint);
  }
}

std::vector<std::unique_ptr<Gpu>> cuda_gpus(const DeviceChoice& choice, const GpuCacheOptions& cache) {
  const bool wanted = choice.kind == DeviceChoice::Kind::gpu;
  const int found = cuda_gpu_count();
  if (found == 0 && !wanted) return {};
  require_gpus(choice);
  std::vector<int> ordinals = choice.ordinals;
  for (int k = 0; ordinals.size() < static_cast<size_t>(found) && choice.ordinals.empty(); ++k) ordinals.push_back(k);
  CudaOptions options;
  options.memory = memory_limit();
  options.cache = std::make_shared<KernelCache>(cache.disk_cache, cache.directory, kCacheBytes);
  // Starting on one takes a while; on all at once no longer.
  std::vector<std::future<std::unique_ptr<Gpu>>> starting;
  for (const int ordinal : ordinals)
    starting.push_back(std::async(std::launch::async, [ordinal, options] { return make_cuda_gpu(ordinal, options); }));
  std::vector<std::unique_ptr<Gpu>> gpus;
  std::exception_ptr failure;
  for (auto& each : starting) {
    try {
      gpus.push_back(each.get());
    } catch (const Error&) {
      failure = std::current_exception();  // without a choice, those serve that can be had
    }
  }
  if (failure && wanted) std::rethrow_exception(failure);
  return gpus;
}

}  // namespace

DeviceChoice parse_device(const std::string& text) {
  const Error unknown("ValueError", fmt::format("unknown device '{}'", text),
                      "devices are auto, cpu, gpu, gpu:0,2 (the GPUs with these numbers) and sim:4 (four simulated GPUs)");
  DeviceChoice choice;
  if (text.empty() || text == "auto") return choice;
  if (text == "cpu") {
    choice.kind = DeviceChoice::Kind::host;
  } else if (text == "gpu") {
    choice.kind = DeviceChoice::Kind::gpu;
  } else if (text.starts_with("gpu:")) {
    choice.kind = DeviceChoice::Kind::gpu;
    std::string_view rest = std::string_view(text).substr(4);
    std::set<int> seen;
    for (bool more = true; more;) {
      const size_t comma = rest.find(',');
      choice.ordinals.push_back(number_in(rest.substr(0, comma), unknown));
      if (!seen.insert(choice.ordinals.back()).second)
        throw Error("ValueError", fmt::format("device '{}' names GPU {} twice", text, choice.ordinals.back()));
      more = comma != std::string_view::npos;
      if (more) rest.remove_prefix(comma + 1);
    }
  } else if (text == "sim" || text.starts_with("sim:")) {
    choice.kind = DeviceChoice::Kind::simulated;
    const int count = text == "sim" ? 1 : number_in(std::string_view(text).substr(4), unknown);
    if (count < 1 || count > kMostSimulated)
      throw Error("ValueError", fmt::format("device '{}': 1 to {} GPUs can be simulated", text, kMostSimulated));
    for (int k = 0; k < count; ++k) choice.ordinals.push_back(k);
  } else {
    throw unknown;
  }
  return choice;
}

void require_gpus(const DeviceChoice& choice) {
  const int found = cuda_gpu_count();
  if (found == 0) {
    const cuda::DriverStatus& status = cuda::process_driver().status;
    throw Error(
        "RuntimeError", fmt::format("there is no GPU to compute on: {}", status.problem.empty() ? "the driver shows none" : status.problem),
        fmt::format("{}--device auto takes the host's cores where there is no GPU", status.remedy.empty() ? "" : status.remedy + "; "),
        Blame::environment);
  }
  for (const int ordinal : choice.ordinals)
    if (ordinal >= found)
      throw Error("RuntimeError",
                  fmt::format("there is no GPU {}: {}", ordinal,
                              found == 1 ? "the only one is GPU 0" : fmt::format("there are GPUs 0 to {}", found - 1)),
                  "gasell doctor lists them", Blame::environment);
}

std::vector<std::unique_ptr<Gpu>> make_gpus(const DeviceChoice& choice, const GpuCacheOptions& cache) {
  switch (choice.kind) {
    case DeviceChoice::Kind::host: return {};
    case DeviceChoice::Kind::simulated: return simulated_gpus(choice.ordinals, cache);
    case DeviceChoice::Kind::automatic:
    case DeviceChoice::Kind::gpu: return cuda_gpus(choice, cache);
  }
  return {};
}

}  // namespace gasell
