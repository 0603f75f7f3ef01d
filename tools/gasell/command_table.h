// The session's commands as rows of tables, by topic.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/ast.h"
#include "tools/gasell/session.h"

namespace gasell::cli {

/// A command as it was entered: "%timeit -n 3 x.sum()".
struct CommandCall {
  Session& session;
  std::string name;  // "%timeit"
  std::string text;  // "-n 3 x.sum()", without blanks around

  /// The text as code; messages name the entry.
  ast::ModuleRef parsed(const std::string& code) const;
};

struct Command {
  enum class Takes { nothing, code, file, text };
  std::string_view name, arguments, help;
  Takes takes;
  /// What it gives to `name = %command …`, if anything.
  std::optional<Value> (*run)(const CommandCall& call);
  std::vector<std::string> (*words)() = nullptr;  // that its text can begin with, for completion
};

const std::vector<Command>& code_commands();     // %time %timeit %prun %debug %explain
const std::vector<Command>& machine_commands();  // %emit %profile %trace %devices %memory
const std::vector<Command>& file_commands();     // %run %load %save %edit %paste %cd %pwd
const std::vector<Command>& session_commands();  // %history %who %whos %reset %config %help

/// SyntaxError: "%run wants a file".
[[noreturn]] void fail_without_text(const CommandCall& call, std::string_view wanted, std::string_view example);

/// Entries by "3", "2-5", "4-" (numbers of this session); SyntaxError for other words, ValueError for numbers that are not there.
std::vector<std::string> entries_in(const Session& session, const std::string& range);

}  // namespace gasell::cli
