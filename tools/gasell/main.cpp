// The command `gasell`.
#include <fmt/format.h>

#include "tools/gasell/doctor.h"
#include "tools/gasell/options.h"
#include "tools/gasell/repl.h"
#include "tools/gasell/script.h"

int main(int argc, char** argv) {
  using namespace gasell::cli;
  try {
    const Options options = parse_command_line(argc, argv);
    switch (options.action) {
      case Action::repl: return run_repl(options);
      case Action::check: return check_script(options);
      case Action::doctor: return run_doctor(options);
      case Action::run_file:
      case Action::run_text:
      case Action::run_stdin: return run_script(options);
    }
  } catch (const Finish& finish) {
    fmt::print(finish.code == 0 ? stdout : stderr, "{}", finish.text);
    return finish.code;
  } catch (const std::exception& e) {
    fmt::print(stderr, "gasell: {}\n", e.what());
    return 1;
  }
}
