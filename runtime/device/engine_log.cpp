#include "runtime/device/engine_log.h"

#include <fmt/format.h>

#include <cstdio>

#include "runtime/device/sandbox.h"

namespace gasell {

void log_warning(std::string_view text) {
  const EngineLog& log = state_of_session<EngineLog>();
  if (log.wants(EngineLog::kWarning))
    log.write(EngineLog::kWarning, text);
  else
    std::fputs(fmt::format("gasell: {}\n", text).c_str(), stderr);
}

}  // namespace gasell
