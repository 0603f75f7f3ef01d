// What shells and `man` want to know of the command line, from the table of its options.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace gasell::cli {

/// The script that makes bash, zsh or fish complete the command's options and sub-commands. Throws Finish (code 2) for another shell.
std::string shell_completions(const CLI::App& app, const std::string& shell);
/// The manual page, for `man -l -`.
std::string manual_page(const CLI::App& app, std::string_view footer);

}  // namespace gasell::cli
