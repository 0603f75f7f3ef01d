// Scripts: reading their text, running them, checking them.
#pragma once

#include <string>
#include <vector>

#include "lang/source.h"
#include "tools/gasell/options.h"

namespace gasell::cli {

/// The text that the options name (a file, -c, standard input). Throws Finish (code 2) when a file cannot be read.
SourceRef read_script(const Options& options);

/// A script's text. Throws Error: FileNotFoundError and its like.
SourceRef read_file(const std::string& name);

/// Returns the command's exit status.
int run_script(const Options& options);

/// The texts of `paths`: of a folder all `.gsl` files in it and in its folders, in order; "-" is standard input. Throws Finish (code 2)
/// when one cannot be read.
std::vector<SourceRef> read_scripts(const std::vector<std::string>& paths);

}  // namespace gasell::cli
