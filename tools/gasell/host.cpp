#include "tools/gasell/host.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "lang/diagnostic.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/objects.h"
#include "runtime/session/script_path.h"
#include "stdlib/modules.h"
#include "tools/gasell/interrupt.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

std::string script_name(const Options& options) {
  switch (options.action) {
    case Action::run_file:
    case Action::repl: return options.script;
    case Action::run_text: return "-c";
    case Action::run_stdin: return "-";
    default: return "";
  }
}

/// sys.path: the folder of the script, or that of the session, and what GASELL_PATH holds.
Value search_path(const Options& options) {
  std::string folder;
  if (options.action == Action::run_file) {
    folder = std::filesystem::path(options.script).parent_path().string();
    if (!options.sandbox) folder = std::filesystem::absolute(options.script).parent_path().lexically_normal().string();
  }
  std::vector<Value> folders{make_str(folder)};
  for (const std::string& further : script_folders()) folders.push_back(make_str(further));
  return make_list(std::move(folders));
}

/// The known modules, with sys.argv and sys.path as this command line gave them.
ModuleTable modules_with_arguments(const Options& options) {
  ModuleTable table = known_modules();
  for (ModuleDefinition& definition : table.modules) {
    if (definition.name != "sys") continue;
    definition.make = [make = definition.make, name = script_name(options), options](Interpreter& in) {
      Value module = make(in);
      std::vector<Value> items{make_str(name)};
      for (const std::string& argument : options.arguments) items.push_back(make_str(argument));
      module.object()->set_attribute(in, "argv", make_list(std::move(items)));
      module.object()->set_attribute(in, "path", search_path(options));
      return module;
    };
  }
  return table;
}

/// What input() of a script reads: a line of the standard input, until Ctrl-C.
class InputLines {
 public:
  std::optional<std::string> next(const std::string& prompt) {
    write_stdout(prompt);
    flush_stdout();
    while (true) {
      if (const size_t end = read_.find('\n'); end != std::string::npos) return take(end, end + 1);
      if (InterruptHandler::take()) throw Interrupted();
      pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {InterruptHandler::wakeup_descriptor(), POLLIN, 0}};
      if (::poll(sources, 2, -1) < 0 || sources[1].revents) continue;
      char part[4096];
      const ssize_t n = ::read(STDIN_FILENO, part, sizeof part);
      if (n > 0)
        read_.append(part, static_cast<size_t>(n));
      else if (n == 0 || errno != EINTR)
        return read_.empty() ? std::nullopt : std::optional(take(read_.size(), read_.size()));
    }
  }

 private:
  std::string take(size_t end, size_t next) {
    std::string line = read_.substr(0, end);
    read_.erase(0, next);
    return line;
  }
  std::string read_;
};

}  // namespace

Host::Host(const Options& options, bool interactive)
    : engine(options.engine),
      interrupts(engine, interactive),
      interpreter(engine, modules_with_arguments(options)),
      crashes(interpreter),
      port_(std::max(options.dashboard, 0)) {
  interpreter.write_out = write_stdout;
  interpreter.read_line = [lines = std::make_shared<InputLines>()](const std::string& prompt) { return lines->next(prompt); };
  interpreter.dashboard_link = [this] { return dashboard().link(); };
  interpreter.own_process();
  if (options.sandbox) {
    Sandbox::Rules rules{.confined = true};
    for (const std::string& what : options.allow)
      if (!grant(rules, what))
        throw Finish{2, "gasell: --allow takes read:FOLDER, write:FOLDER, env, clock, network, plugins, unchecked or raw-code, not '" +
                            what + "'\n"};
    interpreter.confine(std::make_shared<Sandbox>(std::move(rules)));
    interpreter.dashboard_link = nullptr;  // a server that the script would start
  }
  if (options.engine.trace) operators_.emplace(operators_to(engine.trace()));
  if (options.dashboard >= 0) write_stderr("dashboard: " + dashboard().link() + "\n");
}

Dashboard& Host::dashboard() {
  if (!dashboard_) dashboard_ = std::make_unique<Dashboard>(engine, port_);
  return *dashboard_;
}

}  // namespace gasell::cli
