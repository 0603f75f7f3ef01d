#include "tools/gasell/check_command.h"

#include "lang/parser.h"
#include "tools/gasell/script.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

int run_check(const Options& options) {
  int status = 0;
  for (const SourceRef& source : read_scripts(options.paths)) {
    const int result = guarded(options, [&] { parse_module(source); });
    if (result != 0) status = result;
  }
  return status;
}

}  // namespace gasell::cli
