#include "tools/gasell/host.h"

#include "runtime/session/objects.h"
#include "stdlib/modules.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

std::string script_name(const Options& options) {
  switch (options.action) {
    case Action::run_file: return options.script;
    case Action::run_text: return "-c";
    case Action::run_stdin: return "-";
    default: return "";
  }
}

/// The known modules, with sys.argv as this command line gave it.
ModuleTable modules_with_arguments(const Options& options) {
  ModuleTable table = known_modules();
  for (ModuleDefinition& definition : table.modules) {
    if (definition.name != "sys") continue;
    definition.make = [make = definition.make, name = script_name(options), arguments = options.arguments](Interpreter& in) {
      Value module = make(in);
      std::vector<Value> items{make_str(name)};
      for (const std::string& argument : arguments) items.push_back(make_str(argument));
      module.object()->set_attribute(in, "argv", make_list(std::move(items)));
      return module;
    };
  }
  return table;
}

}  // namespace

Host::Host(const Options& options, bool interactive)
    : engine(options.engine), interrupts(engine, interactive), interpreter(engine, modules_with_arguments(options)), crashes(interpreter) {
  interpreter.write_out = write_stdout;
  interpreter.own_process();
}

}  // namespace gasell::cli
