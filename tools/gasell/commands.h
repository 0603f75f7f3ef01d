// The REPL's own commands: ?name, name?, %time, %timeit, %explain, %help.
#pragma once

#include <string>

#include "tools/gasell/host.h"

namespace gasell::cli {

bool is_command(const std::string& entry);
/// Runs one; `source_name` names the text in messages. Throws what the session throws, Error (SyntaxError) for an unknown command.
void run_command(Host& host, const std::string& entry, const std::string& source_name);

}  // namespace gasell::cli
