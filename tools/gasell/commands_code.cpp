// Commands that run code or look at what ran: %time, %timeit, %prun, %debug, %explain.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/array_values.h"
#include "tools/gasell/command_table.h"
#include "tools/gasell/debug.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/programs.h"
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

/// "-s total -l 20 CODE": what to sort by, and how many rows.
struct ProfileOptions {
  std::string sort = "own";
  size_t rows = 30;
};
ProfileOptions take_profile_options(std::string& text) {
  ProfileOptions options;
  while (text.starts_with("-s ") || text.starts_with("-l ")) {
    const char option = text[1];
    const size_t begin = std::min(text.find_first_not_of(' ', 2), text.size());
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    text.erase(0, std::min(text.find_first_not_of(' ', end), text.size()));
    if (option == 's') {
      if (word != "own" && word != "total" && word != "calls")
        throw Error("SyntaxError", fmt::format("%prun -s takes own, total or calls, not '{}'", word));
      options.sort = word;
    } else if (const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), options.rows);
               error != std::errc{} || rest != word.data() + word.size()) {
      throw Error("SyntaxError", "%prun -l wants a number of rows", "for example: %prun -l 10 f(x)");
    }
  }
  return options;
}

std::optional<Value> profile(const CommandCall& call) {
  std::string code = call.text;
  const ProfileOptions options = take_profile_options(code);
  if (code.empty()) fail_without_text(call, "something to run", "f(x)");
  const ast::ModuleRef module = call.parsed(code);
  Interpreter& interpreter = call.session.host.interpreter;
  Value value;
  double seconds = 0;
  const CallProfile calls = interpreter.profile([&] {
    seconds = seconds_of([&] {
      value = interpreter.evaluate(module);
      force(interpreter, value);
    });
  });
  std::vector<CallProfile::Row> rows = calls.rows();
  if (options.sort == "total") std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
  if (options.sort == "calls") std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.calls > b.calls; });
  int64_t count = 0;
  double own = 0;
  for (const CallProfile::Row& row : rows) count += row.calls, own += row.own;
  std::string out = fmt::format("{} calls of functions in {}; {} outside of them\n", count, human_seconds(seconds),
                                human_seconds(std::max(seconds - own, 0.0)));
  if (!rows.empty()) out += fmt::format("{:>10}  {:>10}  {:>10}  {:>10}  function\n", "calls", "own", "a call", "total");
  for (const CallProfile::Row& row : rows) {
    if (&row - rows.data() >= static_cast<std::ptrdiff_t>(options.rows)) break;
    out += fmt::format("{:>10}  {:>10}  {:>10}  {:>10}  {} ({}:{})\n", row.calls, human_seconds(row.own),
                       human_seconds(row.own / static_cast<double>(row.calls)), human_seconds(row.total), row.name, row.source->name(),
                       row.line);
  }
  page(out, call.session.settings.pager);
  return value.is_none() ? std::nullopt : std::optional(value);
}

std::optional<Value> debug(const CommandCall& call) {
  look_at_exception(call.session);
  return std::nullopt;
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
      {"%prun", "[-s own|total|calls] [-l N] CODE", "run it and say which functions took how long", Takes::code, profile},
      {"%debug", "", "look at the variables where the last exception came from", Takes::nothing, debug},
      {"%explain", "EXPR", "the kernels that it would become, and why; nothing runs", Takes::code, explain},
  };
  return kCommands;
}

}  // namespace gasell::cli
