// The command line of `gasell`, as data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/engine.h"

namespace gasell::cli {

enum class Action { repl, run_file, run_text, run_stdin, check, format, help, lsp, doctor };
enum class Emit { nothing, ast, graph, loops, llvm, assembly, grid, ptx };

struct Options {
  Action action = Action::repl;
  std::string script;                  // run_file: the path; run_text: the text; repl: a script that runs first, or ""
  std::vector<std::string> paths;      // check, format: files and folders; "-": standard input; help: names
  std::vector<std::string> arguments;  // what sys.argv holds after the script's name
  bool sandbox = false;                // scripts reach only what `allow` says
  std::vector<std::string> allow;      // runtime/device/sandbox.h, grant()
  EngineOptions engine;                // the environment's values, overridden by the command line's
  Emit emit = Emit::nothing;
  std::string after_pass;  // with emit=loops: the state after this pass
  bool explain = false;
  std::string trace;     // the file for --trace; empty: none
  bool profile = false;  // print what took how long
  int dashboard = -1;    // the port for --dashboard; 0: one that is free; -1: no dashboard
  bool json_errors = false;
  bool only_checks = false, shows_diff = false;  // format: write nothing; print what would change
  int line_length = 120;                         // format
  bool internal = false;                         // errors show what LLVM and C++ said
};

/// The command line is wrong, or asked for help or the version: print `text` (to stdout when code is 0) and exit with `code`.
struct Finish {
  int code;
  std::string text;
};

/// "loops", "ptx", …; nullopt for another word.
std::optional<Emit> emit_named(const std::string& name);

/// Throws Finish.
Options parse_command_line(int argc, char** argv);

}  // namespace gasell::cli
