// The command `gasell`.
#include <string>

#include "tools/gasell/check_command.h"
#include "tools/gasell/doctor.h"
#include "tools/gasell/format_command.h"
#include "tools/gasell/help_command.h"
#include "tools/gasell/language_server/server.h"
#include "tools/gasell/options.h"
#include "tools/gasell/repl.h"
#include "tools/gasell/script.h"
#include "tools/gasell/terminal.h"

int main(int argc, char** argv) {
  using namespace gasell::cli;
  open_standard_files();
  try {
    const Options options = parse_command_line(argc, argv);
    switch (options.action) {
      case Action::repl: return run_repl(options);
      case Action::check: return run_check(options);
      case Action::format: return run_format(options);
      case Action::help: return run_help(options);
      case Action::lsp: return run_language_server(options);
      case Action::doctor: return run_doctor(options);
      case Action::run_file:
      case Action::run_text:
      case Action::run_stdin: return run_script(options);
    }
  } catch (const Finish& finish) {
    if (finish.code == 0) return guarded({}, [&] { write_stdout(finish.text); });
    write_stderr(finish.text);
    return finish.code;
  } catch (const std::exception& e) {
    write_stderr(std::string("gasell: ") + e.what() + "\n");
    return 1;
  }
}
