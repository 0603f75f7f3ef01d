// The session's own commands: %time and the others of command_table.h, ?name and name??, !program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gasell::cli {

class Session;

/// "%time", "%timeit", …
std::vector<std::string> command_names();
/// How a command is called and what it does, one line; "" for an unknown one.
std::string command_help(std::string_view name);
/// Does the command take a file's name?
bool takes_file(std::string_view command);
/// Words that can stand behind a command: names of settings.
std::vector<std::string> command_words(std::string_view command);
/// The table of all, with the keys, for %help.
std::string help_text();

/// An entry that is for run_command, even if only to be refused by name.
bool is_command(const std::string& entry);
/// A command for several lines, %%time, goes on until an empty one.
bool wants_more_lines(const std::string& entry);
/// Runs one. Throws what the session throws, Error (SyntaxError) for an unknown command.
void run_command(Session& session, const std::string& entry);

}  // namespace gasell::cli
