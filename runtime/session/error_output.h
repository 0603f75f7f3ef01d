// Where sys.stderr, warnings and what is said of threads go.
#pragma once

#include <functional>
#include <string_view>

namespace gasell {

/// The session's own; empty: the process's standard error. It may be called from any thread that works for the session.
struct ErrorOutput {
  std::function<void(std::string_view)> write;
};

/// Writes to that of the session that this thread works for.
void write_error(std::string_view text);

}  // namespace gasell
