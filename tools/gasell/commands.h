// The REPL's own commands: ?name, name?, %time, %timeit, %explain, %who, %whos, %run, %help.
#pragma once

#include <string>
#include <vector>

#include "tools/gasell/host.h"

namespace gasell::cli {

/// "%time", "%timeit", …
std::vector<std::string> command_names();
/// An entry that is for run_command, even if only to be refused by name (!ls).
bool is_command(const std::string& entry);
/// Runs one; `source_name` names the text in messages. Throws what the session throws, Error (SyntaxError) for an unknown command.
void run_command(Host& host, const std::string& entry, const std::string& source_name);

}  // namespace gasell::cli
