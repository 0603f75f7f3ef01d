// Commands that run code: %time, %timeit, %explain.
#include <optional>

#include "tools/array_values.h"
#include "tools/gasell/command_table.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/terminal.h"
#include "tools/gasell/timing.h"

namespace gasell::cli {

namespace {

std::optional<Value> time_it_once(const CommandCall& call) {
  if (call.text.empty()) fail_without_text(call, "something to run", "x.sum()");
  return time_once(call.session.host, call.parsed(call.text));
}

std::optional<Value> time_it(const CommandCall& call) {
  std::string code = call.text;
  const TimeitOptions options = take_timeit_options(code);
  if (code.empty()) fail_without_text(call, "something to run", "x.sum()");
  return time_many(call.session.host, call.parsed(code), options);
}

std::optional<Value> explain(const CommandCall& call) {
  if (call.text.empty()) fail_without_text(call, "an expression", "(x + 1).sum()");
  const Value value = call.session.host.interpreter.evaluate(call.parsed(call.text));
  const std::optional<Array> array = array_of(value);
  if (!array) throw Error("TypeError", "%explain wants an array expression, and this is a value of type '" + type_of(value).name + "'");
  write_stdout(explain_plan(call.session.host.engine.explain({array->node()})));
  return std::nullopt;
}

}  // namespace

const std::vector<Command>& code_commands() {
  using Takes = Command::Takes;
  static const std::vector<Command> kCommands = {
      {"%time", "CODE", "run it once and say how long it took, compiling included", Takes::code, time_it_once},
      {"%timeit", "[-n N] [-r N] [-q] [-o] CODE", "run it until the time is sure; -o gives the times, -q says nothing", Takes::code,
       time_it},
      {"%explain", "EXPR", "the kernels that it would become, and why; nothing runs", Takes::code, explain},
  };
  return kCommands;
}

}  // namespace gasell::cli
