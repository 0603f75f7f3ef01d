// What a session's engine says of itself, to the program.
#include <fmt/format.h>

#include "runtime/device/engine_log.h"
#include "tools/libgasell/handles.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

std::string line_of(const KernelReport& kernel) {
  std::string line = fmt::format("{}: {:.0f} elements in {:.3g} ms", kernel.name, kernel.elements, kernel.seconds * 1e3);
  if (kernel.compile_seconds > 0) line += fmt::format(", compiled in {:.3g} ms", kernel.compile_seconds * 1e3);
  return line;
}

}  // namespace

gasell_status gasell_session_set_log(gasell_session* session, int level, gasell_log log, void* context, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session, "gasell_session_set_log wants a session");
    require(level >= 0, "a level is 10 (debug), 20 (info), 30 (warning), or above");
    auto& own = session->sandbox->state<EngineLog>();
    if (!log) {
      own = {};
      session->engine.observe_plans({});
      return;
    }
    own = {[log, context](int of, std::string_view text) { log(context, of, text.data(), text.size()); }, level};
    if (!own.wants(EngineLog::kDebug)) return session->engine.observe_plans({});
    session->engine.observe_plans([&own](Engine::PlanStage stage, const auto&, const std::vector<KernelReport>& kernels) {
      if (stage != Engine::PlanStage::ran) return;
      for (const KernelReport& kernel : kernels) own.write(EngineLog::kDebug, line_of(kernel));
    });
  });
}

namespace gasell::c_abi {

void log_end_of_call(gasell_session& session, const std::string& why) noexcept {
  try {
    if (const auto& log = session.sandbox->state<EngineLog>(); log.wants(EngineLog::kInfo))
      log.write(EngineLog::kInfo, "a call was ended: " + why);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the call's own error is told all the same
  }
}

}  // namespace gasell::c_abi
