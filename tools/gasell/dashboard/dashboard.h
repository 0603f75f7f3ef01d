// A page that shows what runs: kernels, copies, operators of frames, memory and progress, live in a browser on this machine.
#pragma once

#include <memory>
#include <string>

#include "runtime/engine.h"

namespace gasell::cli {

/// A server on the loopback interface alone, in a thread of its own, from its making on. Its address has a random token, without which it
/// answers nothing.
class Dashboard {
 public:
  /// `port` 0: 8787, or any that is free. Throws Error: OSError where the port is in use.
  Dashboard(Engine& engine, int port);
  ~Dashboard();
  /// "http://127.0.0.1:8787/?token=…"
  const std::string& link() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The page as a file that needs no server: what ran, of a trace.
std::string page_of_trace(const Trace& trace);

}  // namespace gasell::cli
