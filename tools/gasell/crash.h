// What is said when Gasell itself crashes: a net below every check, never an answer.
#pragma once

namespace gasell {
class Interpreter;
}

namespace gasell::cli {

/// While it lives, a signal of a crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) flushes the standard output, says on standard error which
/// line of the script ran and which version this is, and ends the process with status 134. Not in builds with sanitizers, which say more.
/// One at a time.
class CrashHandler {
 public:
  explicit CrashHandler(const Interpreter& interpreter);
  ~CrashHandler();
  CrashHandler(const CrashHandler&) = delete;
  CrashHandler& operator=(const CrashHandler&) = delete;
};

}  // namespace gasell::cli
