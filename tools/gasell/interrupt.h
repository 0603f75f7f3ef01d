// Ctrl-C: stops the running computation, never the process while a session can go on.
#pragma once

namespace gasell {
class Engine;
}

namespace gasell::cli {

/// While it lives, SIGINT interrupts `engine`. In a script a second SIGINT before the first was served ends the process; in the REPL it
/// does not. Also ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a file at its limit are error codes of the write. One at a time.
class InterruptHandler {
 public:
  InterruptHandler(Engine& engine, bool interactive);
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

  /// Was there a SIGINT since the last call?
  static bool take() noexcept;
  /// Readable from a SIGINT until take(), for who waits for input: the signal may reach any thread. -1 where there is none.
  static int wakeup_descriptor() noexcept;
};

}  // namespace gasell::cli
