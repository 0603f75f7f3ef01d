// Ctrl-C while the library runs.
#pragma once

#include <gasell/gasell.h>

#include <csignal>

namespace gasell::python {

/// While it lives, SIGINT in the main thread ends what the session runs, and then goes to Python as always: its KeyboardInterrupt is raised
/// when the call has returned. In other threads, and where SIGINT has no handler, it does nothing.
class InterruptScope {
 public:
  explicit InterruptScope(gasell_session* session);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  bool installed_ = false;
  struct sigaction before_{};
  gasell_session* outer_ = nullptr;
  void (*outer_handler_)(int) = nullptr;
};

}  // namespace gasell::python
