#include "tools/gasell/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "lang/parser.h"
#include "lang/render.h"
#include "tools/array_values.h"
#include "tools/gasell/describe.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

constexpr const char* kHelp = R"(?name, name?    what a name is: its type, signature and description
%time CODE      run it once and say how long it took, compiling included
%timeit CODE    run it until the time is sure
%explain EXPR   the kernels that EXPR would become, and why
_               the last result
Ctrl-C          stop the computation, or give up the entry
Ctrl-D, exit    leave
)";

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

struct Command {
  std::string name, text;  // "%time", "x + 1"
};
Command split(const std::string& entry) {
  const std::string text = trimmed(entry);
  const size_t end = text.find_first_of(" \t\n");
  return {text.substr(0, end), end == std::string::npos ? "" : trimmed(text.substr(end))};
}

/// Evaluates `module` and everything lazy in its value.
Value evaluate_fully(Host& host, const ast::ModuleRef& module) {
  Value value = host.interpreter.evaluate(module);
  force(host.interpreter, value);
  return value;
}

void time_once(Host& host, const ast::ModuleRef& module) {
  const auto start = Clock::now();
  const Value value = evaluate_fully(host, module);
  const double seconds = seconds_since(start);
  if (!value.is_none()) {
    write_stdout(repr(host.interpreter, value) + "\n");
    host.interpreter.set_global("_", value);
  }
  write_stdout(fmt::format("wall time {}\n", human_seconds(seconds)));
}

/// Seven runs of as many rounds as make a run last a fifth of a second; the first evaluation (which compiles) does not count.
void time_many(Host& host, const ast::ModuleRef& module) {
  constexpr int kRuns = 7;
  constexpr double kRunSeconds = 0.2;
  evaluate_fully(host, module);
  int64_t rounds = 1;
  double seconds = 0;
  const auto run = [&] {
    const auto start = Clock::now();
    for (int64_t i = 0; i < rounds; ++i) {
      evaluate_fully(host, module);
      if (host.engine.interrupted()) throw Interrupted();
    }
    return seconds_since(start);
  };
  while ((seconds = run()) < kRunSeconds && rounds < 100'000'000)
    rounds = std::max(rounds * 2, static_cast<int64_t>(static_cast<double>(rounds) * kRunSeconds / std::max(seconds, 1e-7)));
  std::vector<double> per_round;
  for (int i = 0; i < kRuns; ++i) per_round.push_back(run() / static_cast<double>(rounds));
  double mean = 0, variance = 0;
  for (double t : per_round) mean += t / kRuns;
  for (double t : per_round) variance += (t - mean) * (t - mean) / kRuns;
  write_stdout(fmt::format("{} ± {} per round (mean ± standard deviation of {} runs of {} rounds, best {})\n", human_seconds(mean),
                           human_seconds(std::sqrt(variance)), kRuns, rounds,
                           human_seconds(*std::min_element(per_round.begin(), per_round.end()))));
}

void explain(Host& host, const ast::ModuleRef& module) {
  const Value value = host.interpreter.evaluate(module);
  const std::optional<Array> array = array_of(value);
  if (!array)
    throw Error("TypeError", fmt::format("%explain wants an array expression, and this is a value of type '{}'", type_of(value).name));
  write_stdout(explain_plan(host.engine.explain({array->node()})));
}

}  // namespace

bool is_command(const std::string& entry) {
  const std::string text = trimmed(entry);
  return text.starts_with('%') || text.starts_with('?') ||
         (text.ends_with('?') && text.find('\n') == std::string::npos && text.find('#') == std::string::npos);
}

void run_command(Host& host, const std::string& entry, const std::string& source_name) {
  const std::string text = trimmed(entry);
  const auto parse = [&](const std::string& code) { return parse_module(std::make_shared<Source>(source_name, code)); };
  if (text.starts_with('?') || text.ends_with('?')) {
    const std::string name = trimmed(
        text.starts_with('?') ? text.substr(text.find_first_not_of('?') == std::string::npos ? text.size() : text.find_first_not_of('?'))
                              : text.substr(0, text.find_last_not_of('?') + 1));
    if (name.empty()) return write_stdout(kHelp);
    return write_stdout(describe(host.interpreter, host.interpreter.evaluate(parse(name))));
  }
  const Command command = split(entry);
  if (command.name == "%help") return write_stdout(kHelp);
  const bool known = command.name == "%time" || command.name == "%timeit" || command.name == "%explain";
  if (!known) {
    const std::string nearest = did_you_mean(command.name, {"%time", "%timeit", "%explain", "%help"});
    throw Error("SyntaxError", fmt::format("unknown command '{}'", command.name),
                nearest.empty() ? "%help lists the commands" : fmt::format("did you mean '{}'?", nearest));
  }
  if (command.text.empty())
    throw Error("SyntaxError", fmt::format("{} wants something to run", command.name),
                fmt::format("for example: {} x.sum()", command.name));
  const ast::ModuleRef module = parse(command.text);
  if (command.name == "%time") return time_once(host, module);
  if (command.name == "%timeit") return time_many(host, module);
  explain(host, module);
}

}  // namespace gasell::cli
