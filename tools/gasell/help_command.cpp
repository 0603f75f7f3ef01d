#include "tools/gasell/help_command.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lang/parser.h"
#include "tools/gasell/describe.h"
#include "tools/gasell/host.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

/// Binds what the name begins with where a script would have to import it: of "scipy.linalg.svd" the longest part that is a module.
void import_for(Interpreter& interpreter, const std::string& name) {
  const std::string path = name.substr(0, name.find_first_of("(['\" "));
  for (size_t end = path.size(); end != std::string::npos; end = end == 0 ? std::string::npos : path.rfind('.', end - 1)) {
    try {
      interpreter.evaluate(parse_module(std::make_shared<Source>("<documentation>", "import " + path.substr(0, end))));
      return;
    } catch (const Error&) {
      // No module: what stands before its last dot may be one.
    }
  }
}

std::string as_json(const Documentation& found) {
  return nlohmann::ordered_json{{"name", found.name},           {"kind", found.kind},
                                {"signature", found.signature}, {"description", found.description},
                                {"example", found.example},     {"members", found.members}}
      .dump();
}

}  // namespace

int run_help(const Options& options) {
  int status = 0;
  const int result = guarded(options, [&] {
    Host host(options, false);
    host.interpreter.write_out = [](std::string_view) {};
    for (const std::string& name : options.paths) {
      const int one = guarded(options, [&] {
        import_for(host.interpreter, name);
        if (options.json_errors) return write_stdout(as_json(documentation_of(host.interpreter, name)) + "\n");
        if (options.paths.size() > 1) write_stdout(name + "\n");
        write_stdout(describe_expression(host.interpreter, name) + (options.paths.size() > 1 ? "\n" : ""));
      });
      status = std::max(status, one);
    }
  });
  return result != 0 ? result : status;
}

}  // namespace gasell::cli
