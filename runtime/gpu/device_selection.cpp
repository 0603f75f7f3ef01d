#include "runtime/gpu/device_selection.h"

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "runtime/gpu/gpu_device.h"

namespace gasell {
namespace {

using Kind = DeviceChoice::Kind;

Error not_there(std::string message, std::string hint = {}) {
  return Error("RuntimeError", std::move(message), std::move(hint), Blame::environment);
}

/// "GPU 1 is", "GPUs 0 and 2 are".
std::string gpus_are(const GpuDevice& gpus) {
  std::string text;
  for (int g = 0; g < gpus.count(); ++g)
    text += fmt::format("{}{}", g == 0 ? "" : g + 1 == gpus.count() ? " and " : ", ", gpus.gpu(g).ordinal);
  return gpus.count() == 1 ? "GPU " + text + " is" : "GPUs " + text + " are";
}

int place_of(int ordinal, const GpuDevice& gpus) {
  for (int g = 0; g < gpus.count(); ++g) {
    if (gpus.gpu(g).ordinal != ordinal) continue;
    if (!gpus.alive(g))
      throw not_there(fmt::format("GPU {} ({}) was lost", ordinal, gpus.gpu(g).name), "what is left: --device says which");
    return g;
  }
  throw not_there(fmt::format("there is no GPU {} in this session: {} there", ordinal, gpus_are(gpus)),
                  "--device chooses them at the start");
}

}  // namespace

DeviceSelection selection_of(const DeviceChoice& choice) {
  switch (choice.kind) {
    case Kind::automatic: return {};
    case Kind::host: return {DeviceSelection::Kind::host, {}};
    case Kind::gpu:
    case Kind::simulated: break;
  }
  return {DeviceSelection::Kind::gpus, {}};
}

DeviceSelection select_devices(const std::string& text, const DeviceChoice& wanted, const DeviceChoice& own, const GpuDevice* gpus) {
  if (wanted.kind == Kind::automatic) return selection_of(own);
  if (wanted.kind == Kind::host) return {DeviceSelection::Kind::host, {}};
  if (own.kind == Kind::host)
    throw not_there(fmt::format("device '{}' is not there: the session computes on the host's cores", text),
                    "it was started with --device cpu, or GASELL_DEVICE=cpu");
  if (wanted.kind == Kind::simulated && own.kind != Kind::simulated)
    throw not_there(fmt::format("device '{}' is not there: the session has no simulated GPUs", text), "start it with --device " + text);
  if (!gpus) {
    require_gpus(wanted);
    throw not_there(fmt::format("device '{}' cannot be used", text), "gasell doctor says why");
  }
  if (!gpus->any_alive()) throw not_there("all GPUs were lost");
  if (wanted.kind == Kind::simulated && wanted.ordinals.size() > static_cast<size_t>(gpus->count()))
    throw not_there(fmt::format("device '{}' is not there: the session simulates {}", text,
                                gpus->count() == 1 ? "one GPU" : fmt::format("{} GPUs", gpus->count())),
                    "start it with --device " + text);
  DeviceSelection selection{DeviceSelection::Kind::gpus, {}};
  for (const int ordinal : wanted.ordinals) selection.gpus.push_back(place_of(ordinal, *gpus));
  return selection;
}

}  // namespace gasell
