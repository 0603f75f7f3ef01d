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

/// Says why GPUs that an automatic choice did not find or could not start are not there: as --device would.
[[noreturn]] void tell_why_not(const DeviceChoice& wanted, const std::string& text) {
  make_gpus(wanted, {.disk_cache = false});
  throw not_there(fmt::format("device '{}' could not be used when the session needed it first", text), "start it with --device " + text);
}

int place_of(int ordinal, const GpuDevice& gpus, const DeviceChoice& own) {
  for (int g = 0; g < gpus.count(); ++g) {
    if (gpus.gpu(g).ordinal != ordinal) continue;
    if (!gpus.alive(g))
      throw not_there(fmt::format("GPU {} ({}) was lost", ordinal, gpus.gpu(g).name), "what is left: --device says which");
    return g;
  }
  if (own.kind == Kind::automatic) tell_why_not({Kind::gpu, {ordinal}}, fmt::format("gpu:{}", ordinal));
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
  if (own.kind != Kind::simulated) require_gpus(wanted);
  if (!gpus) tell_why_not(wanted, text);
  if (!gpus->any_alive()) throw not_there("all GPUs were lost");
  if (wanted.kind == Kind::simulated && wanted.ordinals.size() > static_cast<size_t>(gpus->count()))
    throw not_there(fmt::format("device '{}' is not there: the session simulates {}", text,
                                gpus->count() == 1 ? "one GPU" : fmt::format("{} GPUs", gpus->count())),
                    "start it with --device " + text);
  DeviceSelection selection{DeviceSelection::Kind::gpus, {}};
  for (const int ordinal : wanted.ordinals) selection.gpus.push_back(place_of(ordinal, *gpus, own));
  return selection;
}

}  // namespace gasell
