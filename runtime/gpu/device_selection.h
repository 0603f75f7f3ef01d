// Which of an engine's devices compute what is forced: by default what the engine's options say, and within `with device(…):` what that
// says.
#pragma once

#include <string>
#include <vector>

#include "runtime/gpu/device_choice.h"

namespace gasell {

class GpuDevice;

struct DeviceSelection {
  enum class Kind : uint8_t {
    automatic,  // the host, or all GPUs where a plan is worth it
    host,
    gpus,
  } kind = Kind::automatic;
  std::vector<int> gpus;  // of Kind::gpus: their places in the engine's GpuDevice; empty: all
};

/// What an engine with these options computes on.
DeviceSelection selection_of(const DeviceChoice& choice);

/// What `with device(text):` selects in an engine with the options `own`, whose GPUs, when there are any, are `gpus`. "auto" is what the
/// options say. Throws Error: RuntimeError for what is not there, is lost, or is not among what the options name.
DeviceSelection select_devices(const std::string& text, const DeviceChoice& wanted, const DeviceChoice& own, const GpuDevice* gpus);

}  // namespace gasell
