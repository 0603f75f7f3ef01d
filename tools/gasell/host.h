// An engine and a session as the command uses them.
#pragma once

#include "runtime/engine.h"
#include "runtime/session/interpreter.h"
#include "tools/gasell/crash.h"
#include "tools/gasell/interrupt.h"
#include "tools/gasell/options.h"

namespace gasell::cli {

struct Host {
  Host(const Options& options, bool interactive);

  Engine engine;
  InterruptHandler interrupts;
  Interpreter interpreter;
  CrashHandler crashes;
};

}  // namespace gasell::cli
