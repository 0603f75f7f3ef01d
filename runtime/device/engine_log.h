// What the engine says of itself: GPUs that were lost, kernels that ran. A host program may listen, a session at a time.
#pragma once

#include <functional>
#include <string_view>

namespace gasell {

/// Of a session (state_of_session): who listens, and from which level on. Levels are numbered as those of Python's logging.
struct EngineLog {
  static constexpr int kDebug = 10, kInfo = 20, kWarning = 30;
  /// It may be called from any thread that works for the session. Empty: nobody listens.
  std::function<void(int level, std::string_view text)> write;
  int from = kWarning;

  bool wants(int level) const { return write && level >= from; }
};

/// Tells whoever listens to the session that this thread works for; where nobody does, a line on the process's standard error.
void log_warning(std::string_view text);

}  // namespace gasell
