// Scripts: reading their text, running them, checking them.
#pragma once

#include <string>

#include "lang/source.h"
#include "tools/gasell/options.h"

namespace gasell::cli {

/// The text that the options name (a file, -c, standard input). Throws Finish (code 2) when a file cannot be read.
SourceRef read_script(const Options& options);

/// A script's text. Throws Error: FileNotFoundError and its like.
SourceRef read_file(const std::string& name);

/// Each returns the command's exit status.
int run_script(const Options& options);
int check_script(const Options& options);

}  // namespace gasell::cli
