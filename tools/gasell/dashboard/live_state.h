// What the page is told, as JSON.
#pragma once

#include <string>

#include "runtime/engine.h"

namespace gasell::cli {

/// An object: "time", "progress" (0 to 1, or null), "memory" (one a device:
/// "device", "used", "peak", "limit", bytes), "totals" ([device, track, name, count, seconds, bytes]), "events" ([device, track, name,
/// begin, end, bytes], seconds of the same clock as "time"; those from number `next` on, which is moved on), "bandwidths".
std::string live_state(Engine& engine, int64_t& next);

}  // namespace gasell::cli
