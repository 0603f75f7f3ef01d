#include "tools/gasell/command_completion.h"

#include <optional>

#include <algorithm>

#include "tools/gasell/commands.h"
#include "tools/gasell/settings.h"

namespace gasell::cli {

namespace {

using editor::Completion;

/// Of a line that is a command: its name, a file, or what it runs.
std::optional<Completion> complete_command(Interpreter& interpreter, std::string_view text, size_t cursor) {
  const std::string_view before = text.substr(0, cursor);
  if (before.find('\n') != std::string_view::npos || (!before.starts_with('%') && !before.starts_with('!'))) return std::nullopt;
  const size_t blank = before.find(' ');
  if (blank == std::string_view::npos && before.starts_with('%')) {
    std::vector<std::string> commands = command_names();
    for (std::string& command : commands) command += ' ';
    return Completion{0, starting_with(std::move(commands), before)};
  }
  const std::string_view command = before.substr(0, blank);
  const size_t word = before.find_last_of(" '\"") + 1;
  if (before.starts_with('!') || takes_file(command)) return complete_file(before.substr(word), word);
  if (const size_t equals = before.find('='); command == "%config" && equals != before.npos) {
    const size_t begin = std::min(before.find_first_not_of(' ', blank), equals);
    const std::string_view name = before.substr(begin, before.find_last_not_of(" =", equals) + 1 - begin);
    return Completion{std::max(word, equals + 1), starting_with(setting_values(name), before.substr(std::max(word, equals + 1)))};
  }
  if (const std::vector<std::string> words = command_words(command); !words.empty())
    return Completion{word, starting_with(words, before.substr(word))};
  Completion found = complete(interpreter, text.substr(blank + 1), cursor - blank - 1);
  found.begin += blank + 1;
  return found;
}

}  // namespace

Completion complete_entry(Interpreter& interpreter, std::string_view text, size_t cursor) {
  try {
    if (std::optional<Completion> found = complete_command(interpreter, text, cursor)) return *found;
  } catch (const std::exception&) {
    return {cursor, {}};
  }
  return complete(interpreter, text, cursor);
}

std::string entry_candidate_detail(Interpreter& interpreter, std::string_view text, size_t begin, const std::string& candidate) {
  if (candidate.starts_with('%')) return command_help(candidate.substr(0, candidate.find(' ')));
  return candidate_detail(interpreter, text, begin, candidate);
}

}  // namespace gasell::cli
