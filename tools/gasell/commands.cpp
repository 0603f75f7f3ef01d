#include "tools/gasell/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/parser.h"
#include "lang/render.h"
#include "tools/array_values.h"
#include "tools/gasell/describe.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/script.h"
#include "tools/gasell/terminal.h"
#include "tools/gasell/timing.h"
#include "tools/gasell/variables.h"

namespace gasell::cli {

namespace {

constexpr const char* kHelp = R"(?name, name?    what a name is: its type, signature and description
%time CODE      run it once and say how long it took, compiling included
%timeit CODE    run it until the time is sure (-n LOOPS, -r RUNS)
%explain EXPR   the kernels that EXPR would become, and why
%who, %whos     the variables; with types, shapes and sizes
%run FILE       run a script here: its names stay
_               the last result
Tab             complete a name, an attribute, a file in quotes
Ctrl-C          stop the computation, or give up the entry
Ctrl-D, exit    leave
)";

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

void explain(Host& host, const ast::ModuleRef& module) {
  const Value value = host.interpreter.evaluate(module);
  const std::optional<Array> array = array_of(value);
  if (!array)
    throw Error("TypeError", fmt::format("%explain wants an array expression, and this is a value of type '{}'", type_of(value).name));
  write_stdout(explain_plan(host.engine.explain({array->node()})));
}

/// Runs a file in the session; its names stay. Messages name the file.
void run_file(Host& host, std::string name) {
  if (name.size() > 1 && (name.front() == '\'' || name.front() == '"') && name.back() == name.front())
    name = name.substr(1, name.size() - 2);
  host.interpreter.run(parse_module(read_file(name)));
}

constexpr std::array<std::string_view, 7> kCommands = {"%time", "%timeit", "%explain", "%who", "%whos", "%run", "%help"};

[[noreturn]] void refuse(const std::string& name) {
  if (name.starts_with("%%")) {
    throw Error("SyntaxError", fmt::format("'{}' is not a command: there are no cells", name), "write one % and what to run behind it");
  }
  const std::string nearest = did_you_mean(name, {kCommands.begin(), kCommands.end()});
  throw Error("SyntaxError", fmt::format("unknown command '{}'", name),
              nearest.empty() ? "%help lists the commands" : fmt::format("did you mean '{}'?", nearest));
}

}  // namespace

std::vector<std::string> command_names() { return {kCommands.begin(), kCommands.end()}; }

bool is_command(const std::string& entry) {
  const std::string text = trimmed(entry);
  return text.starts_with('%') || text.starts_with('?') || text.starts_with('!') ||
         (text.ends_with('?') && text.find('\n') == std::string::npos && text.find('#') == std::string::npos &&
          completeness(text.substr(0, text.find_last_not_of('?') + 1) + "\n") == Completeness::complete);
}

void run_command(Host& host, const std::string& entry, const std::string& source_name) {
  const std::string text = trimmed(entry);
  const auto parse = [&](const std::string& code) { return parse_module(std::make_shared<Source>(source_name, code)); };
  if (text.starts_with('!'))
    throw Error("SyntaxError", "'!' runs no program here: Gasell starts no other programs", "use a second terminal");
  if (text.starts_with('?') || text.ends_with('?')) {
    const size_t begin = text.find_first_not_of('?');
    const std::string name = begin == std::string::npos ? "" : trimmed(text.substr(begin, text.find_last_not_of('?') + 1 - begin));
    if (name.empty()) return write_stdout(kHelp);
    return write_stdout(describe(host.interpreter, host.interpreter.evaluate(parse(name))));
  }
  Command command = split(entry);
  if (std::find(kCommands.begin(), kCommands.end(), command.name) == kCommands.end()) refuse(command.name);
  if (command.name == "%help") return write_stdout(kHelp);
  if (command.name == "%who") return write_stdout(who(host.interpreter));
  if (command.name == "%whos") return write_stdout(whos(host.interpreter));
  if (command.text.empty()) {
    const bool runs = command.name == "%run";
    throw Error("SyntaxError", fmt::format("{} wants {}", command.name, runs ? "a file" : "something to run"),
                fmt::format("for example: {} {}", command.name, runs ? "script.gsl" : "x.sum()"));
  }
  if (command.name == "%run") return run_file(host, command.text);
  if (command.name == "%time") return time_once(host, parse(command.text));
  if (command.name == "%explain") return explain(host, parse(command.text));
  const TimeitOptions options = take_timeit_options(command.text);
  time_many(host, parse(command.text), options);
}

}  // namespace gasell::cli
