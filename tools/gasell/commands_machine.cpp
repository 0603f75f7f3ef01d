// Commands that look at the machine at work: %emit, %profile, %trace, %devices, %memory.
#include <fmt/format.h>

#include "runtime/device/trace.h"
#include "runtime/functions/call.h"
#include "runtime/io/atomic_file.h"
#include "tools/array_values.h"
#include "tools/gasell/command_table.h"
#include "tools/gasell/dashboard/dashboard.h"
#include "tools/gasell/doctor.h"
#include "tools/gasell/emit.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/programs.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

/// Runs a text, and computes what it gives.
std::optional<Value> run_whole(const CommandCall& call, const std::string& code) {
  Interpreter& interpreter = call.session.host.interpreter;
  const Value value = interpreter.evaluate(call.parsed(code));
  force(interpreter, value);
  return value.is_none() ? std::nullopt : std::optional(value);
}

/// The first word of a text, and what stands behind it.
std::pair<std::string, std::string> first_word(const std::string& text) {
  const size_t end = std::min(text.find(' '), text.size());
  return {text.substr(0, end), text.substr(std::min(text.find_first_not_of(' ', end), text.size()))};
}

std::optional<Value> emit(const CommandCall& call) {
  const auto [what, code] = first_word(call.text);
  const std::optional<Emit> stage = emit_named(what);
  if (!stage || *stage == Emit::ast || code.empty())
    fail_without_text(call, "graph, loops, llvm, asm, grid or ptx, and something to run", "loops (x + 1).sum()");
  Options options = call.session.options;
  options.emit = *stage;
  Engine& engine = call.session.host.engine;
  // The observers look at `options`, and end with it.
  struct Watch {
    Engine& engine;
    ~Watch() {
      engine.observe_plans({});
      functions::observe_function_kernels({});
    }
  } watch{engine};
  emit_plans(engine, options);
  run_whole(call, code);
  return std::nullopt;
}

/// Runs the text with every kernel and copy noted.
std::optional<Value> run_traced(const CommandCall& call, const std::string& code) {
  Trace& trace = call.session.host.engine.trace();
  struct Watch {
    Trace& trace;
    const bool was_on;
    ~Watch() {
      if (!was_on) trace.stop();
    }
  } watch{trace, trace.is_on()};
  trace.restart();
  return run_whole(call, code);
}

std::optional<Value> profile_kernels(const CommandCall& call) {
  if (call.text.empty()) fail_without_text(call, "something to run", "(x + 1).sum()");
  std::optional<Value> value = run_traced(call, call.text);
  page(call.session.host.engine.trace().summary(), call.session.settings.pager);
  return value;
}

std::optional<Value> trace_to_file(const CommandCall& call) {
  const auto [file, code] = first_word(call.text);
  if (code.empty()) fail_without_text(call, "a file, and something to run", "run.html (x + 1).sum()");
  std::optional<Value> value = run_traced(call, code);
  const Trace& trace = call.session.host.engine.trace();
  if (file.ends_with(".html")) {
    AtomicFile page(file);
    page.write(page_of_trace(trace));
    page.commit();
  } else {
    trace.write(file);
  }
  write_stdout(fmt::format("{} is written\n", file));
  return value;
}

std::optional<Value> show_devices(const CommandCall& call) {
  std::string out;
  for (const auto& [heading, text] : describe_devices(call.session.host.engine)) out += fmt::format("{:<15}{}\n", heading, text);
  write_stdout(out);
  return std::nullopt;
}

std::optional<Value> show_memory(const CommandCall& call) {
  const MemoryBudget& budget = call.session.host.engine.device().budget();
  const auto bytes = [](int64_t count) { return human_bytes(static_cast<double>(count)); };
  std::string out =
      fmt::format("arrays take    {} of {}; at most {} so far\n", bytes(budget.used()), bytes(budget.limit()), bytes(budget.peak()));
  if (budget.pooled()) out += fmt::format("kept for reuse {}\n", bytes(budget.pooled()));
  if (budget.spilled()) out += fmt::format("on disk        {}\n", bytes(budget.spilled()));
  write_stdout(out);
  return std::nullopt;
}

}  // namespace

const std::vector<Command>& machine_commands() {
  using Takes = Command::Takes;
  static const std::vector<Command> kCommands = {
      {"%emit", "graph|loops|llvm|asm|grid|ptx CODE", "run it and show what its computations become", Takes::text, emit},
      {"%profile", "CODE", "run it and say which kernels and copies took how long, and at which rate", Takes::code, profile_kernels},
      {"%trace", "FILE CODE", "run it and write what ran when: for Perfetto, or as a page to FILE.html", Takes::file, trace_to_file},
      {"%devices", "", "the processor and the GPUs", Takes::nothing, show_devices},
      {"%memory", "", "what arrays take, may take and took", Takes::nothing, show_memory},
  };
  return kCommands;
}

}  // namespace gasell::cli
