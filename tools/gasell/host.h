// An engine and a session as the command uses them.
#pragma once

#include <memory>
#include <optional>

#include "runtime/engine.h"
#include "runtime/primitives/operator_report.h"
#include "runtime/session/interpreter.h"
#include "tools/gasell/crash.h"
#include "tools/gasell/dashboard/dashboard.h"
#include "tools/gasell/interrupt.h"
#include "tools/gasell/options.h"

namespace gasell::cli {

struct Host {
  Host(const Options& options, bool interactive);

  Engine engine;
  InterruptHandler interrupts;
  Interpreter interpreter;
  CrashHandler crashes;

  /// Started with --dashboard, or when a script asks for its address.
  Dashboard& dashboard();

 private:
  int port_;
  std::unique_ptr<Dashboard> dashboard_;
  std::optional<OperatorObserver> operators_;  // for --trace and --profile
};

}  // namespace gasell::cli
