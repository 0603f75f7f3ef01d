#include "tools/gasell/check_command.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "lang/render.h"
#include "tools/check/check.h"
#include "tools/gasell/host.h"
#include "tools/gasell/script.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

std::string as_json(const check::Finding& finding) {
  nlohmann::ordered_json object{{"severity", finding.is_error ? "error" : "warning"}, {"code", finding.code}};
  object.update(nlohmann::ordered_json::parse(render_json(finding.diagnostic)));
  return object.dump();
}

}  // namespace

int run_check(const Options& options) {
  int status = 0;
  const std::vector<SourceRef> sources = read_scripts(options.paths);
  const int result = guarded(options, [&] {
    Host host(options, false);
    host.interpreter.write_out = [](std::string_view) {};
    const bool colour = wants_colour(STDERR_FILENO);
    for (const SourceRef& source : sources)
      for (const check::Finding& finding : check::check_source(host.interpreter, source)) {
        if (finding.is_error) status = 1;
        if (options.json_errors) {
          write_stdout(as_json(finding) + "\n");
        } else {
          write_stderr(render(finding.diagnostic, {.colour = colour}) + "\n");
        }
      }
  });
  return result != 0 ? result : status;
}

}  // namespace gasell::cli
